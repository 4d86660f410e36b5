"""After an update of the time-zone database: which occurrence follows the last claimed one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from fencepost.domain.instants import aware
from fencepost.domain.schedule.calendars import home_zone
from fencepost.domain.schedule.model import Schedule
from fencepost.domain.schedule.occurrences import next_occurrence, occurrences

_MINUTE = timedelta(minutes=1)


def offset_at(schedule: Schedule, instant: datetime) -> timedelta:
    """The offset of the schedule's wall clock from UTC by the rules now loaded: to be kept with a claimed occurrence."""
    return instant.astimezone(ZoneInfo(home_zone(schedule))).utcoffset() or timedelta(0)


def next_after_refresh(schedule: Schedule, claimed: datetime, offset: timedelta) -> datetime | None:
    """The first occurrence by the new rules whose wall clock is later than that of `claimed` was by the old ones.

    `offset` is what `offset_at` said when it was planted. The result may lie before `claimed`, or before now: that
    is for the misfire policy. Where the new rules say the same about `claimed`, it is simply the next one.
    """
    claimed = aware(claimed)
    if offset_at(schedule, claimed) == offset:
        return next_occurrence(schedule, claimed)
    wall = claimed.replace(tzinfo=None) + offset
    zone = ZoneInfo(home_zone(schedule))
    # The earliest instant that could follow `wall`: before a gap that swallows it, in the first pass of an overlap.
    earliest = min(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    for found in occurrences(schedule, earliest - _MINUTE):
        if found.replace(tzinfo=None) + offset_at(schedule, found) > wall:
            return found
    return None
