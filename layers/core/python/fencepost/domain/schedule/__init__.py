"""Schedules: when a job fires. Pure values and functions; `now` is always an argument.

Only `search` knows croniter, only `zones` knows the time-zone database.
"""

from __future__ import annotations

from fencepost.domain.schedule.model import (
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
)
from fencepost.domain.schedule.occurrences import (
    count_occurrences,
    effective_instant,
    latest_occurrence,
    next_occurrence,
    occurrences,
)
from fencepost.domain.schedule.parsing import decode_schedule, parse_schedule, schedule_to_wire
from fencepost.domain.schedule.zones import tzdata_version, use_bundled_tzdata

__all__ = [
    "CronSchedule",
    "DstOverlap",
    "DstPolicy",
    "Gap",
    "IntervalSchedule",
    "OneOffSchedule",
    "Schedule",
    "count_occurrences",
    "decode_schedule",
    "effective_instant",
    "latest_occurrence",
    "next_occurrence",
    "occurrences",
    "parse_schedule",
    "schedule_to_wire",
    "tzdata_version",
    "use_bundled_tzdata",
]
