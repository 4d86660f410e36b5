"""Which of a job's occurrences were missed, and which of them catch-up may still run. Cost is flat after any gap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.model import Misfire, Timer
from fencepost.domain.schedule import (
    IntervalSchedule,
    Schedule,
    count_occurrences,
    effective_instant,
    latest_occurrence,
    next_occurrence,
)

_TICK = timedelta(milliseconds=1)
CATCH_UP_CEILING = 1_000
"""The most runs that one catch-up may have, whatever the job asks for."""


def latest_missed(timer: Timer, schedule: Schedule, edge: datetime, until: datetime | None) -> datetime:
    """The latest occurrence from the timer's on whose effective instant is not after `edge`; at least the timer's."""
    end = edge if until is None else min(edge, until)
    latest = latest_occurrence(schedule, end, timer.instant)
    if latest is not None and effective_instant(schedule, timer.uid, latest) > edge:
        latest = latest_occurrence(schedule, latest - _TICK, timer.instant)
    return timer.instant if latest is None else max(latest, timer.instant)


@dataclass(frozen=True, slots=True)
class CatchUpPlan:
    """`begins`: the first occurrence that runs (None: none may); before it, all up to `skipped_until` are skipped."""

    begins: datetime | None
    skipped_until: datetime
    why: str


def plan_catch_up(
    first: datetime, last: datetime, schedule: Schedule, misfire: Misfire, now: datetime
) -> CatchUpPlan:
    """Window and cap of a catch-up of the occurrences first..last, decided once, by the chain's first link."""
    opens = now - misfire.window
    begins: datetime | None = first if first >= opens else next_occurrence(schedule, opens - _TICK)
    if begins is None or begins > last:
        return CatchUpPlan(None, last, "older than the misfire window")
    why = "older than the misfire window"
    most = min(misfire.max_runs, CATCH_UP_CEILING)
    if count_occurrences(schedule, begins, last, most + 1) > most:
        begins, why = _counted_back(schedule, begins, last, most), f"more than {most} missed runs"
    if begins == first:
        return CatchUpPlan(first, first, why)
    before = latest_occurrence(schedule, begins - _TICK, first)
    return CatchUpPlan(begins, first if before is None else before, why)


def _counted_back(schedule: Schedule, first: datetime, last: datetime, count: int) -> datetime:
    """The occurrence from which exactly `count` (<= CATCH_UP_CEILING) are left up to `last`."""
    if isinstance(schedule, IntervalSchedule):
        return last - (count - 1) * schedule.every
    found = last
    for _ in range(count - 1):
        earlier = latest_occurrence(schedule, found - _TICK, first)
        if earlier is None:
            break
        found = earlier
    return found
