"""Backfills: past occurrences of a job run again, at a rate, by the schedule that it had when it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from fencepost.domain.faults import Fault
from fencepost.domain.identity import digest
from fencepost.domain.instants import EPOCH, MINUTE, SECOND, to_wire
from fencepost.domain.model import Overlap
from fencepost.domain.schedule import Schedule, count_occurrences

MAX_INSTANTS = 100_000
MAX_RATE = 600
"""Runs a minute."""
DEFAULT_RATE = 60
_TICK = timedelta(milliseconds=1)


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
    count = count_occurrences(schedule, first, before - _TICK, MAX_INSTANTS + 1)
    if count > MAX_INSTANTS:
        rule = f"a backfill holds at most {MAX_INSTANTS:,} occurrences; divide the range"
        return (Fault(field="to", value=to_wire(before), rule=rule),)
    if not count:
        rule = "no occurrence of the job's schedule lies between from and to"
        return (Fault(field="from", value=to_wire(first), rule=rule),)
    return ()
