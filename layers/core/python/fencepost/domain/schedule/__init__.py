"""Schedules: when a job fires. Pure values and functions; `now` is always an argument.

Only `search` knows croniter, only `zones` knows the time-zone database.
"""

from __future__ import annotations

from fencepost.domain.schedule.calendars import (
    Calendar,
    calendar_to_wire,
    ever_runs,
    is_excluded,
    parse_calendar,
)
from fencepost.domain.schedule.caution import warnings
from fencepost.domain.schedule.crontab import CrontabLine, parse_crontab
from fencepost.domain.schedule.describe import describe
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
from fencepost.domain.schedule.parsing import decode_schedule, parse_schedule
from fencepost.domain.schedule.preview import Moved, PreviewedOccurrence, preview
from fencepost.domain.schedule.refresh import next_after_refresh, offset_at
from fencepost.domain.schedule.wire import schedule_to_wire
from fencepost.domain.schedule.zones import TZDATA_RELEASED, tzdata_age, tzdata_version, use_bundled_tzdata

__all__ = [
    "TZDATA_RELEASED",
    "Calendar",
    "CronSchedule",
    "CrontabLine",
    "DstOverlap",
    "DstPolicy",
    "Gap",
    "IntervalSchedule",
    "Moved",
    "OneOffSchedule",
    "PreviewedOccurrence",
    "Schedule",
    "calendar_to_wire",
    "count_occurrences",
    "decode_schedule",
    "describe",
    "effective_instant",
    "ever_runs",
    "is_excluded",
    "latest_occurrence",
    "next_after_refresh",
    "next_occurrence",
    "occurrences",
    "offset_at",
    "parse_calendar",
    "parse_crontab",
    "parse_schedule",
    "preview",
    "schedule_to_wire",
    "tzdata_age",
    "tzdata_version",
    "use_bundled_tzdata",
    "warnings",
]
