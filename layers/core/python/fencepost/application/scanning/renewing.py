"""A `fire` timer whose body nobody can understand, made anew from its key, where its generation has ended.

Its job then has other timers and does not fail; but what was due by the end of the old generation would be explained by
nobody (protocol B3). The key says which occurrence it is, the ended generation by which rules, and the record before it
how many firings there were.
"""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.codec import VERSION, UndecodableError, decode_execution, decode_timer
from fencepost.application.codec_job import decode_ended_generation, decode_job
from fencepost.application.store import Key, Query, Store, Table, items
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import EndedGeneration, Timer
from fencepost.domain.schedule import effective_instant
from fencepost.domain.states import ExecutionState


def renewed(store: Store, key: Key) -> Timer | None:
    """The timer that lay under `key`; None where its generation stands, or is not on record. Raises StoreError."""
    stamp, kind, uid, number = (*key.sk.split("#"), "", "", "")[:4]
    if kind != "F" or not stamp.isdigit() or not number.isdigit():
        return None
    item, ended = store.get(keys.job(uid)), store.get(keys.ended_generation(uid, int(number)))
    if item is None or ended is None:
        return None
    try:
        job, rules = decode_job(item), decode_ended_generation(ended)
        if job.generation <= rules.generation:
            return None
        body = {
            "v": VERSION,
            "due": to_ms(effective_instant(rules.schedule, uid, from_ms(int(stamp)))),
            "team": job.team,
            "tier": rules.tier.value,
            "ordinal": _ordinal(store, stamp, rules),
        }
        return decode_timer({"pk": key.pk, "sk": key.sk, **body})
    except UndecodableError:
        return None


def _ordinal(store: Store, stamp: str, rules: EndedGeneration) -> int:
    """One more than the record before it, if that counted; a schedule that was declared anew counts from 1."""
    prefix = f"{ExecutionKind.OCCURRENCE}#"
    last = f"{prefix}{stamp}"
    query = Query(table=Table.EXECUTIONS, pk=rules.uid, first=prefix, last=last, forward=False, limit=2)
    for item in items(store, query):
        if item["sk"] == last:
            continue
        before = decode_execution(item)
        if before.generation != rules.generation:
            old = store.get(keys.ended_generation(rules.uid, before.generation))
            if old is None or decode_ended_generation(old).schedule != rules.schedule:
                return 1
        return before.ordinal + (before.state not in {ExecutionState.SKIPPED, ExecutionState.CANCELLED})
    return 1
