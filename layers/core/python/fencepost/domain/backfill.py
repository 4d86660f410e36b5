"""Backfills: past occurrences of a job run again, at a rate, by the schedule that it had when it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

from fencepost.domain.faults import Fault
from fencepost.domain.identity import digest
from fencepost.domain.instants import EPOCH, MINUTE, SECOND, to_wire
from fencepost.domain.model import Overlap
from fencepost.domain.schedule import (
    CronSchedule,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
    count_occurrences,
    next_occurrence,
)

MAX_INSTANTS = 100_000
MAX_COUNTED = 10_000
"""Where days alone do not tell that a range is short enough, it is counted, and so far only: counting takes time."""
MAX_RATE = 600
"""Runs a minute."""
DEFAULT_RATE = 60
_TICK = timedelta(milliseconds=1)
_DAY = timedelta(days=1)


class BackfillState(StrEnum):
    """EXPANDING: some of its instants are still to come. EXPANDED: every one is on its way or over."""

    EXPANDING = "EXPANDING"
    EXPANDED = "EXPANDED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """The occurrences of `schedule` in [first, before), `rate` a minute. `cursor`: nothing up to it is left to do.

    `generation`: the job's when this was asked for. `next_at`: no step before that. `released` counts executions made,
    `left_out` instants that needed none. `swept`: how far a cancel has come, as the place of an execution. `request`: digest of the key under which it was asked.
    """

    id: str
    uid: str
    team: str
    job: str
    first: datetime
    before: datetime
    rate: int
    overlap: Overlap
    force: bool
    schedule: Schedule
    generation: int
    cursor: datetime
    next_at: datetime
    asked_at: datetime
    asked_by: str
    request: str
    revision: int = 1
    state: BackfillState = BackfillState.EXPANDING
    note: str | None = None
    released: int = 0
    left_out: int = 0
    ended_at: datetime | None = None
    ended_by: str | None = None
    why: str | None = None
    swept: str | None = None

    @property
    def gap(self) -> timedelta:
        """From one release to the next."""
        return MINUTE / self.rate


def backfill_id(asked_at: datetime, request: str) -> str:
    """Twelve hexadecimal digits in the order of asking; the same request has the same, however often it comes."""
    return f"{(asked_at - EPOCH) // SECOND:08x}{digest(request)[:4]}"


def range_faults(schedule: Schedule, first: datetime, before: datetime, now: datetime) -> tuple[Fault, ...]:
    """What is wrong with a range: it lies in the past, is not empty, and is not boundless."""
    if before <= first:
        return (Fault(field="to", value=to_wire(before), rule="must be later than from"),)
    if before > now:
        rule = "must not be later than now: what is yet to come fires by itself"
        return (Fault(field="to", value=to_wire(before), rule=rule),)
    begins = next_occurrence(schedule, first - _TICK)
    if begins is None or begins >= before:
        rule = "no occurrence of the job's schedule lies between from and to"
        return (Fault(field="from", value=to_wire(first), rule=rule),)
    if _too_many(schedule, first, before - _TICK):
        most = MAX_COUNTED if isinstance(schedule, CronSchedule) else MAX_INSTANTS
        rule = f"more than {most:,} occurrences lie between from and to; divide the range"
        return (Fault(field="to", value=to_wire(before), rule=rule),)
    return ()


def _too_many(schedule: Schedule, first: datetime, last: datetime) -> bool:
    match schedule:
        case CronSchedule():
            days = (last - first) // _DAY + 1
            most = days * len(schedule.fields.minutes) * len(schedule.fields.hours)
            return most > MAX_INSTANTS and _counted(schedule, first, last, MAX_COUNTED) > MAX_COUNTED
        case IntervalSchedule():
            return _counted(schedule, first, last, MAX_INSTANTS) > MAX_INSTANTS
        case OneOffSchedule():
            return False
        case _:
            assert_never(schedule)


def _counted(schedule: Schedule, first: datetime, last: datetime, limit: int) -> int:
    return count_occurrences(schedule, first, last, limit + 1)
