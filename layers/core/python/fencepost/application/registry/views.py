"""A job as it is shown: what is computed at read time and stored nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fencepost.application.calendars import TeamCalendars
from fencepost.application.registry.agenda import just_before
from fencepost.application.registry.counting import next_ordinal
from fencepost.application.registry.sweep import RUNNABLE, newest
from fencepost.application.store import Store
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.model import Job
from fencepost.domain.schedule import Calendar
from fencepost.domain.schedule.preview import PreviewedOccurrence, preview
from fencepost.domain.states import FINAL, NOT_RUNNING, JobState

NEXT_SHOWN = 5
_LOOK = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The state as shown, and the next occurrences (none while the job does not fire)."""

    state: JobState
    next: tuple[PreviewedOccurrence, ...]


def outlook(store: Store, job: Job, now: datetime) -> Outlook:
    """What lies ahead of a job as of `now`."""
    state = shown_state(store, job)
    return Outlook(state=state, next=() if state is JobState.COMPLETED else coming(store, job, now))


def shown_state(store: Store, job: Job) -> JobState:
    """COMPLETED for an exhausted job whose last firing is over, as far as its newest records tell."""
    if job.state is not JobState.ACTIVE or not job.exhausted:
        return job.state
    open_ones = (
        record
        for kind in RUNNABLE
        for record in newest(store, job.uid, kind, _LOOK)
        if record.state not in FINAL
    )
    return JobState.ACTIVE if next(open_ones, None) is not None else JobState.COMPLETED


def coming(
    store: Store, job: Job, now: datetime, calendars: Mapping[str, Calendar] | None = None
) -> tuple[PreviewedOccurrence, ...]:
    """The next occurrences of a job that fires, in UTC and on its own wall clock; excluded ones are marked.

    What is claimed and not yet due lies ahead like all else, also where the schedule has nothing more to plant.
    `calendars`: the team's, where the caller has them already.
    """
    after = _fires_after(job, now)
    left = 0 if after is None else _left(store, job, after, now)
    if after is None or not left:
        return ()
    known = TeamCalendars(store, job.team) if calendars is None else calendars
    return preview(job.schedule, after, left, known)


def _fires_after(job: Job, now: datetime) -> datetime | None:
    """From when on the job fires as things stand; None for never."""
    if job.state is JobState.PAUSED and job.paused_until is not None:
        return max(now, just_before(job.paused_until))
    return now if job.state is JobState.ACTIVE else None


def _left(store: Store, job: Job, after: datetime, now: datetime) -> int:
    """How many occurrences there are to show after that: by the schedule's own count, or what waits at its end."""
    if job.exhausted:
        return min(NEXT_SHOWN, _claimed_ahead(store, job, now))
    most = job.schedule.max_firings
    if most is None:
        return NEXT_SHOWN
    return max(0, min(NEXT_SHOWN, most - next_ordinal(store, job, after) + 1))


def _claimed_ahead(store: Store, job: Job, now: datetime) -> int:
    """How many of the job's newest records wait for an instant that is still to come."""
    records = newest(store, job.uid, ExecutionKind.OCCURRENCE, _LOOK)
    ahead = (record.id.nominal for record in records if record.state in NOT_RUNNING)
    return sum(nominal is not None and nominal > now for nominal in ahead)
