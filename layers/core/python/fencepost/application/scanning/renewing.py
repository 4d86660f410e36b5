"""A timer whose body nobody can understand, made anew from its key, where its job need not fail for it.

It may be all that is left to wake a record (protocol A1): one that was put off, one whose lease is watched, or one that
was claimed and not handed over yet; the claim planted the next timer as well. Or its generation has ended: the job then
has other timers, but what was due by the end of the old one would be explained by nobody (B3). The key says which record
it is; that, or else the ended generation and the record before it, all the rest.
"""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.codec import VERSION, decode_execution, decode_timer
from fencepost.application.codec_job import decode_ended_generation, decode_job
from fencepost.application.planting import offset_seconds
from fencepost.application.store import Item, Key, Query, Store, Table, items
from fencepost.domain.identity import ExecutionId, ExecutionKind
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import EndedGeneration, Execution, Job, Timer, TimerKind
from fencepost.domain.schedule import effective_instant


def renewed(store: Store, key: Key) -> Timer | None:
    """The timer that lay under `key`; None where its generation stands and has no record of it, or nothing is known of
    it. Raises StoreError.
    """
    stamp, kind, whom, number = (*key.sk.split("#"), "", "", "")[:4]
    if not stamp.isdigit() or not number.isdigit():
        return None
    try:
        if kind == TimerKind.FIRE:
            body = _claimed(store, whom, stamp, int(number)) or _ended(store, whom, stamp, int(number))
        else:
            body = _waking(_record(store, ExecutionId.parse(whom)), int(stamp))
        return None if body is None else decode_timer({"pk": key.pk, "sk": key.sk, "v": VERSION, **body})
    except ValueError:  # undecodable, or no execution's id
        return None


def as_planted(store: Store, key: Key) -> Timer | None:
    """The `fire` timer that lay under `key` as its job's present generation planted it; None where that is not known.
    Raises StoreError.
    """
    stamp, kind, whom, number = (*key.sk.split("#"), "", "", "")[:4]
    if kind != TimerKind.FIRE or not stamp.isdigit() or not number.isdigit():
        return None
    item = store.get(keys.job(whom))
    try:
        job = None if item is None else decode_job(item)
        if job is None or job.generation != int(number):
            return None
        body = _planted(store, stamp, job, job)
        return decode_timer({"pk": key.pk, "sk": key.sk, "v": VERSION, **body})
    except ValueError:  # undecodable
        return None


def _record(store: Store, identity: ExecutionId) -> Execution | None:
    item = store.get(keys.execution(identity))
    return None if item is None else decode_execution(item)


def _waking(record: Execution | None, due: int) -> Item | None:
    if record is None:
        return None
    return {"due": due, "team": record.team, "tier": record.tier.value, "ordinal": record.ordinal}


def _claimed(store: Store, uid: str, stamp: str, generation: int) -> Item | None:
    record = _record(store, ExecutionId.occurrence(uid, from_ms(int(stamp))))
    if record is None or record.planted_generation < generation:
        return None
    return _waking(record, to_ms(record.due))


def _ended(store: Store, uid: str, stamp: str, generation: int) -> Item | None:
    item, ended = store.get(keys.job(uid)), store.get(keys.ended_generation(uid, generation))
    if item is None or ended is None:
        return None
    job, rules = decode_job(item), decode_ended_generation(ended)
    return None if job.generation <= rules.generation else _planted(store, stamp, job, rules)


def _planted(store: Store, stamp: str, job: Job, rules: Job | EndedGeneration) -> Item:
    instant = from_ms(int(stamp))
    return {
        "due": to_ms(effective_instant(rules.schedule, job.uid, instant)),
        "team": job.team,
        "tier": rules.tier.value,
        "ordinal": _ordinal(store, stamp, rules),
        "off": offset_seconds(rules.schedule, instant),
    }


def _ordinal(store: Store, stamp: str, rules: Job | EndedGeneration) -> int:
    """One more than the record before it, if that counted; a schedule that was declared anew counts from 1."""
    prefix = f"{ExecutionKind.OCCURRENCE}#"
    last = f"{prefix}{stamp}"
    query = Query(table=Table.EXECUTIONS, pk=rules.uid, first=prefix, last=last, forward=False, limit=2)
    for item in items(store, query):
        if item["sk"] == last:
            continue
        before = decode_execution(item)
        if before.planted_generation != rules.generation:
            old = store.get(keys.ended_generation(rules.uid, before.planted_generation))
            if old is None or decode_ended_generation(old).schedule != rules.schedule:
                return 1
        return before.next_ordinal
    return 1
