"""A team at a glance: what its next 24 hours hold, minute by minute, and which of its jobs need somebody.

A page counts a thousand jobs; pages add up, so that a caller with a hundred thousand sees the sum grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from fencepost.application.registry.aftermath import KEEPER
from fencepost.application.registry.listing import name_claims
from fencepost.application.registry.reading import named_jobs
from fencepost.application.registry.unreadable import Unreadable
from fencepost.application.store import Store
from fencepost.domain.instants import floor_minute
from fencepost.domain.model import Job
from fencepost.domain.schedule import Schedule
from fencepost.domain.schedule.load import load
from fencepost.domain.states import JobState

LOOK = 1_000
NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A page: firings by minute from `start` on, jobs by state, and up to 20 that wait for somebody; up to 20 besides
    that nobody can read. `after`: the last name that was counted, None at the end.
    """

    start: datetime
    minutes: tuple[int, ...]
    states: Mapping[JobState, int]
    troubled: tuple[Job, ...]
    unreadable: tuple[Unreadable, ...]
    after: str | None


def forecast(store: Store, team: str, now: datetime, after: str | None = None) -> Forecast:
    """The page that follows `after`."""
    start = floor_minute(now)
    claims = next(name_claims(store, team, LOOK, after=after), [])
    found = named_jobs(store, team, claims)
    jobs = list(found.readable.values())
    unread = (Unreadable(name, error.uid, error.why) for name, error in found.unreadable.items())
    return Forecast(
        start=start,
        minutes=load(filter(None, (_fires(job) for job in jobs)), start),
        states=Counter(map(_state, jobs)),
        troubled=tuple(sorted(filter(_troubled, jobs), key=lambda job: job.name)[:NAMED]),
        unreadable=tuple(islice(unread, NAMED)),
        after=str(claims[-1]["sk"]) if len(claims) == LOOK else None,
    )


def _fires(job: Job) -> Schedule | None:
    """The schedule by which the job fires; None for one that does not."""
    match job.state:
        case JobState.ACTIVE if not job.exhausted:
            return job.schedule
        case JobState.PAUSED if job.paused_until is not None:
            begin = max(job.paused_until, job.schedule.start_at or job.paused_until)
            return replace(job.schedule, start_at=begin)
        case _:
            return None


def _state(job: Job) -> JobState:
    """COMPLETED from the last claim on: whether that firing is over would take a look at its record."""
    return JobState.COMPLETED if job.state is JobState.ACTIVE and job.exhausted else job.state


def _troubled(job: Job) -> bool:
    """Stopped by the service, not by its owner."""
    by_keeper = job.state is JobState.PAUSED and job.paused_by == KEEPER.principal
    return job.state is JobState.ERROR or by_keeper
