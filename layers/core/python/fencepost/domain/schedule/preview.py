"""What a schedule will do, shown before it does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from zoneinfo import ZoneInfo

from fencepost.domain.faults import Fault, Faults
from fencepost.domain.schedule.calendars import Calendar, home_zone, is_excluded
from fencepost.domain.schedule.model import CronSchedule, Schedule
from fencepost.domain.schedule.occurrences import occurrences
from fencepost.domain.schedule.reading import EARLIEST, LATEST
from fencepost.domain.schedule.zoned import runs_after_gap
from fencepost.domain.schedule.zones import piece_at

MAX_PREVIEW = 1_000


class Moved(StrEnum):
    """How a change of the zone's offset touches an occurrence."""

    GAP = "gap"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedOccurrence:
    """One occurrence: the instant (UTC), the same on the schedule's wall clock, and what is special about it.

    `moved` is ``gap`` where it stands for a wall-clock time that was skipped, ``overlap`` where its wall-clock time
    comes twice. `excluded` is the calendar that keeps it from running.
    """

    at: datetime
    local: datetime
    moved: Moved | None
    excluded: str | None


def preview(
    schedule: Schedule, after: datetime, count: int, calendars: Mapping[str, Calendar]
) -> tuple[PreviewedOccurrence, ...]:
    """The next `count` occurrences (1..1,000), fewer if the schedule ends. Raises Faults."""
    faults = []
    if not 1 <= count <= MAX_PREVIEW:
        faults.append(Fault(field="count", value=count, rule=f"must lie in 1..{MAX_PREVIEW:,}"))
    if not EARLIEST <= after < LATEST:
        faults.append(Fault(field="after", value=str(after), rule="must lie between the years 2000 and 2200"))
    if faults:
        raise Faults(faults)
    most = count if schedule.max_firings is None else min(count, schedule.max_firings)
    zone = ZoneInfo(home_zone(schedule))
    return tuple(
        PreviewedOccurrence(
            at=at,
            local=at.astimezone(zone),
            moved=moved_by(schedule, at),
            excluded=is_excluded(schedule, at, calendars),
        )
        for at in islice(occurrences(schedule, after), most)
    )


def moved_by(schedule: Schedule, at: datetime) -> Moved | None:
    """How a change of offset touches the occurrence `at`; None for most."""
    if not isinstance(schedule, CronSchedule):
        return None
    piece = piece_at(schedule.timezone, at)
    if at == piece.start and runs_after_gap(schedule.fields, schedule.policy, piece):
        return Moved.GAP
    local = at.astimezone(ZoneInfo(schedule.timezone))
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return Moved.OVERLAP if twice else None
