"""A change of a job as one transaction: name, job, detail, audit entry, ended generation, range record, timer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import VERSION, encode_execution
from fencepost.application.codec_job import encode_detail, encode_ended_generation, encode_job
from fencepost.application.errands.forgetting import forget_put
from fencepost.application.errands.telling import notice_put
from fencepost.application.planting import plant
from fencepost.application.registry.agenda import agenda_entry
from fencepost.application.registry.calendars import naming
from fencepost.application.registry.documents import audited_job, audited_state
from fencepost.application.registry.job_changes import Change, Unread
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.store import Absent, Action, Delete, Put, Update, equals, every
from fencepost.domain.instants import to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Caller, Job
from fencepost.domain.states import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Who writes, when, and what they say about it."""

    caller: Caller
    now: datetime
    note: str | None = None


def actions(change: Change, stamp: Stamp, limits: Limits) -> tuple[Action, ...]:
    """All of the change or nothing of it; lost if the job is no longer what was read."""
    gone = () if change.instead is None else _of_job(change.instead, stamp, limits)
    return (*_name(change), *_of_job(change, stamp, limits), *gone)


def _of_job(change: Change, stamp: Stamp, limits: Limits) -> tuple[Action, ...]:
    """What is written of the job itself, whoever has its name."""
    return (
        _job(change),
        Put(
            key=keys.job_revision(change.job.uid, change.job.revision),
            item=encode_entry(_entry(change, stamp)),
        ),
        *_detail(change),
        *_history(change),
        *_forgetting(change),
        *(() if change.timer is None else plant(change.timer, stamp.now, limits).actions),
        *naming(change, stamp.now),
        *agenda_entry(None if change.before is None else change.before.job, change.job, stamp.now),
        *(notice_put(notice) for notice in change.told),
        *change.checks,
    )


def _name(change: Change) -> tuple[Action, ...]:
    key = keys.name_claim(change.job.team, change.job.name)
    if change.before is None:
        old = change.instead
        condition = Absent() if old is None else equals("uid", old.job.uid)
        return (Put(key=key, item={"v": VERSION, "uid": change.job.uid}, condition=condition),)
    if change.job.state is JobState.DELETED:
        return (Delete(key=key, condition=equals("uid", change.job.uid)),)
    return ()


def _job(change: Change) -> Action:
    key = keys.job(change.job.uid)
    if change.before is None:
        return Put(key=key, item=encode_job(change.job), condition=Absent())
    if change.unread is not None and change.unread.as_read is not None:
        dated = {} if change.expires_at is None else {"expires": to_ms(change.expires_at) // 1000}
        return Put(key=key, item=encode_job(change.job) | dated, condition=change.unread.as_read)
    update = job_update(change.before.job, change.job)
    if change.expires_at is None:
        return update
    return replace(update, set={**update.set, "expires": to_ms(change.expires_at) // 1000})


def _forgetting(change: Change) -> tuple[Action, ...]:
    """What a deleted job leaves behind goes when its tombstone does."""
    return () if change.expires_at is None else (forget_put(change.job, change.expires_at),)


def job_update(before: Job, after: Job) -> Update:
    """Writes what differs, if nobody else has written meanwhile.

    A claim may set `exhausted` without a new revision; a new generation therefore says it either way.
    """
    old, new = encode_job(before), encode_job(after)
    gone = {name for name in old if name not in new}
    if after.generation != before.generation and not after.exhausted:
        gone.add("exhausted")
    unchanged = every(
        equals("rev", before.revision), equals("gen", before.generation), equals("state", before.state.value)
    )
    return Update(
        key=keys.job(before.uid),
        set={name: value for name, value in new.items() if old.get(name) != value},
        remove=tuple(sorted(gone)),
        condition=unchanged,
    )


def _detail(change: Change) -> tuple[Action, ...]:
    """What the job sends, where this declares it. One that cannot be read is replaced by a declaration and by nothing
    else: whoever runs the stage may still mend it.
    """
    if change.job.state is JobState.DELETED:
        return ()
    before = change.before if change.unread is None or not _declares(change) else None
    if before is not None and before.detail.digest == change.detail.digest:
        return ()
    return (Put(key=keys.detail(change.job.uid, change.detail.digest), item=encode_detail(change.detail)),)


def _history(change: Change) -> tuple[Action, ...]:
    found: list[Action] = []
    more = () if change.unread is None else change.unread.ended
    for ended in (*(() if change.ended is None else (change.ended,)), *more):
        key = keys.ended_generation(ended.uid, ended.generation)
        found.append(Put(key=key, item=encode_ended_generation(ended)))
    if change.skipped is not None:
        found.append(Put(key=keys.execution(change.skipped.id), item=encode_execution(change.skipped)))
    if change.unread is not None:
        found += [Delete(key=use) for use in change.unread.uses]
    return tuple(found)


def _entry(change: Change, stamp: Stamp) -> Entry:
    before: Mapping[str, object] | None = None
    after: Mapping[str, object] = audited_job(change.job, change.detail)
    if change.before is not None and change.unread is None:
        before = audited_job(change.before.job, change.before.detail)
    elif change.before is not None and change.unread is not None:
        before = _audited_unread(change.before.job, change.unread)
        if change.job.state is JobState.DELETED:
            after = audited_state(change.job)
        elif not _declares(change):
            after = _audited_unread(change.job, change.unread)
    return Entry(
        revision=change.job.revision,
        what=change.what,
        actor=stamp.caller.principal,
        source=stamp.caller.source,
        at=stamp.now,
        note=stamp.note,
        before=before,
        after=after,
    )


def _declares(change: Change) -> bool:
    return change.what in {"create", "edit"}


def _audited_unread(job: Job, unread: Unread) -> Mapping[str, object]:
    """What could be read of a job, and that there was more."""
    known = {} if unread.as_read is not None else audited_state(job)
    return {**known, "unreadable": unread.why}
