"""Occurrences of any schedule: the next, the latest, how many, and when a firing is due after its jitter.

Nothing here walks through a gap: the cost does not depend on how far `after` lies in the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import assert_never

from fencepost.domain.identity import hashed
from fencepost.domain.instants import aware, to_ms
from fencepost.domain.schedule.model import CronSchedule, IntervalSchedule, OneOffSchedule, Schedule
from fencepost.domain.schedule.zoned import next_run

_TICK = timedelta(microseconds=1)
_MINUTE = timedelta(minutes=1)
_MS = timedelta(milliseconds=1)
# How far back the search for the latest run looks at once: ever farther, at last beyond the longest wait of any
# expression (40 years).
_REACHES = (*(_MINUTE * 16**power for power in range(7)), timedelta(days=60 * 366))


def next_occurrence(schedule: Schedule, after: datetime) -> datetime | None:
    """The first occurrence strictly later than `after` and inside the bounds; None if there is none.

    Neither `max_firings` nor the excluded calendars are applied: an excluded occurrence still has its record.
    """
    after = aware(after)
    if schedule.start_at is not None:
        after = max(after, schedule.start_at - _TICK)
    found = _next(schedule, after)
    if found is None or (schedule.end_at is not None and found > schedule.end_at):
        return None
    return found


def latest_occurrence(schedule: Schedule, at_or_before: datetime, not_before: datetime) -> datetime | None:
    """The last occurrence in [not_before, at_or_before]; None if there is none."""
    end, begin = aware(at_or_before), aware(not_before)
    if schedule.end_at is not None:
        end = min(end, schedule.end_at)
    if schedule.start_at is not None:
        begin = max(begin, schedule.start_at)
    found = _latest(schedule, end, begin) if begin <= end else None
    return found if found is not None and found >= begin else None


def occurrences(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """All occurrences strictly later than `after`, in order. May be endless."""
    found = next_occurrence(schedule, after)
    while found is not None:
        yield found
        found = next_occurrence(schedule, found)


def count_occurrences(schedule: Schedule, first: datetime, last: datetime, limit: int = 10_000) -> int:
    """How many occurrences lie in [first, last]; counting stops at `limit`."""
    if isinstance(schedule, IntervalSchedule):
        return min(limit, _count_steps(schedule, aware(first), aware(last)))
    count = 0
    for found in occurrences(schedule, aware(first) - _TICK):
        if found > last or count == limit:
            break
        count += 1
    return count


def effective_instant(schedule: Schedule, uid: str, nominal: datetime) -> datetime:
    """When the occurrence `nominal` of job `uid` is due: at most `jitter_seconds` later, always by the same amount.

    It is whole milliseconds, never before `nominal`, and never at or past the occurrence that follows.
    """
    if not schedule.jitter_seconds:
        return nominal
    spread = schedule.jitter_seconds * 1000 + 1
    following = next_occurrence(schedule, nominal)
    if following is not None:
        spread = min(spread, (following - nominal) // _MS)
    return nominal + hashed(f"{uid} {to_ms(nominal)}", spread) * _MS


def _next(schedule: Schedule, after: datetime) -> datetime | None:
    match schedule:
        case CronSchedule():
            return next_run(schedule.fields, schedule.timezone, schedule.policy, after)
        case IntervalSchedule():
            steps = (after - schedule.anchor) // schedule.every + 1
            return schedule.anchor + max(0, steps) * schedule.every
        case OneOffSchedule():
            return schedule.at if schedule.at > after else None
        case _:
            assert_never(schedule)


def _latest(schedule: Schedule, end: datetime, begin: datetime) -> datetime | None:
    match schedule:
        case CronSchedule():
            return _latest_run(schedule, end, begin)
        case IntervalSchedule():
            steps = (end - schedule.anchor) // schedule.every
            return schedule.anchor + steps * schedule.every if steps >= 0 else None
        case OneOffSchedule():
            return schedule.at if schedule.at <= end else None
        case _:
            assert_never(schedule)


def _latest_run(schedule: CronSchedule, end: datetime, begin: datetime) -> datetime | None:
    """Looks back in growing steps for a stretch that holds a run, then halves what is left after that run."""
    for reach in _REACHES:
        start = max(end - reach, begin - _TICK)
        found = _run_until(schedule, start, end)
        if found is not None:
            return _last_of(schedule, found, end)
        if start < begin:
            break
    return None


def _last_of(schedule: CronSchedule, found: datetime, end: datetime) -> datetime:
    """The last run up to `end`, given one of them: one step on, then half of what is left, until no step is left."""
    while True:
        later = _run_until(schedule, found, end)
        if later is None:
            return found
        middle = later + (end - later) // 2
        beyond = _run_until(schedule, middle, end)
        found, end = (later, middle) if beyond is None else (beyond, end)


def _run_until(schedule: CronSchedule, after: datetime, end: datetime) -> datetime | None:
    """The next run, if it is not later than `end`."""
    return next_run(schedule.fields, schedule.timezone, schedule.policy, after, end)


def _count_steps(schedule: IntervalSchedule, first: datetime, last: datetime) -> int:
    begin = next_occurrence(schedule, first - _TICK)
    end = latest_occurrence(schedule, last, first)
    return 0 if begin is None or end is None else (end - begin) // schedule.every + 1
