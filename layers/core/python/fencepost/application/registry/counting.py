"""What a job's latest records say of its next firing: which one it is, and up to when everything is explained."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_timer
from fencepost.application.planting import fire_timer
from fencepost.application.registry.moment import Moment
from fencepost.application.registry.reading import newest_occurrences, schedule_of
from fencepost.application.store import Store
from fencepost.domain.model import Execution, Job
from fencepost.domain.schedule import next_occurrence
from fencepost.domain.states import JobState


def explained(store: Store, job: Job, at: Moment) -> Moment:
    """`at` for a change of `job`, with the instant up to which one in error has its records: what fell due since then has
    none yet. What is older than the team's retention had one, and has it no more.
    """
    at = at.of(job)
    if job.state is not JobState.ERROR:
        return at
    since = _explained_until(job, newest_occurrences(store, job.uid, at.ends))
    return replace(at, unexplained_since=max(since, at.ends - at.retention))


def counted(store: Store, job: Job, at: Moment) -> Moment:
    """The same, and the count of firings goes on where it stood."""
    at = at.of(job)
    if job.schedule.max_firings is not None:
        ordinal = next_ordinal(store, job, at.ends)
        at = replace(at, ordinal=ordinal if ordinal > 1 else _of_its_timer(store, job, at))
    return explained(store, job, at)


def next_ordinal(store: Store, job: Job, after: datetime) -> int:
    """Which firing of its schedule comes next after that instant; a schedule that was declared anew counts from 1."""
    other = 0
    for record in newest_occurrences(store, job.uid, after):
        if record.planted_generation <= other:
            continue
        if _declared_by(store, job, record.planted_generation):
            return record.next_ordinal
        other = (
            record.planted_generation
        )  # what it left behind may lie after all that this schedule has fired
    return 1


def _declared_by(store: Store, job: Job, generation: int) -> bool:
    """Whether the job's schedule was in force by that generation, and none has been declared since."""
    since = range(job.generation, generation - 1, -1)
    return all(schedule_of(store, job, each) == job.schedule for each in since)


def _of_its_timer(store: Store, job: Job, at: Moment) -> int:
    """The same where nothing is on record: as its last timer has it, which lies there still though a pause ended it."""
    instant = next_occurrence(job.schedule, at.ends)
    for generation in (job.generation, job.generation - 1):
        if instant is None or schedule_of(store, job, generation) != job.schedule:
            break
        earlier = replace(job, generation=generation)
        timer = fire_timer(earlier, instant, ordinal=1, now=min(at.now, instant), limits=at.limits)
        item = store.get(keys.timer(timer))
        with suppress(UndecodableError):
            if item is not None:
                return decode_timer(item).ordinal
    return 1


def _explained_until(job: Job, newest: Sequence[Execution]) -> datetime:
    for record in newest:
        if record.planted_generation == job.generation:
            return max(_begun(job), record.until or record.id.nominal or _begun(job))
        if not _left_behind(job, record):
            break
    return _begun(job)


def _left_behind(job: Job, record: Execution) -> bool:
    """It is of a time in which the job fires by its present generation: what an ended one still had in hand."""
    return record.id.nominal is not None and record.id.nominal > _begun(job)


def _begun(job: Job) -> datetime:
    return job.ended_until or job.created_at
