"""When enough further occurrences will have come: counted by days, without searching for any single one."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import assert_never

from fencepost.domain.schedule.fields import CronFields
from fencepost.domain.schedule.model import CronSchedule, IntervalSchedule, OneOffSchedule, Schedule
from fencepost.domain.schedule.zones import piece_at

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_UTC = "UTC"


def enough_by(schedule: Schedule, after: datetime, count: int, latest: datetime) -> datetime | None:
    """An instant by which at least `count` occurrences will have followed `after`; None if that may be later than
    `latest`, or never.

    Never too early. A cron expression is counted by whole days, of which one that brings a firing is left over for
    what a change of the clock may swallow: the answer may be that much too late.
    """
    begin = after if schedule.start_at is None else max(after, schedule.start_at)
    match schedule:
        case CronSchedule():
            found = _by_days(schedule, begin, count, latest)
        case IntervalSchedule():
            passed = max(0, (begin - schedule.anchor) // schedule.every + 1)
            found = schedule.anchor + (passed + count - 1) * schedule.every
        case OneOffSchedule():
            return None
        case _:
            assert_never(schedule)
    if found is None or found > latest or (schedule.end_at is not None and found > schedule.end_at):
        return None
    return found


def _by_days(schedule: CronSchedule, begin: datetime, count: int, latest: datetime) -> datetime | None:
    fields, zone = schedule.fields, schedule.timezone
    each = len(fields.minutes) * len(fields.hours)
    left = -(-count // each) + (zone != _UTC)
    day = piece_at(zone, begin).wall(begin).date()
    for _ in range((latest - begin) // _DAY + 2):
        day += _DAY
        left -= _fires_on(fields, day)
        if not left:
            return _end_of(zone, day)
    return None


def _fires_on(fields: CronFields, day: date) -> bool:
    if day.month not in fields.months:
        return False
    by_date, by_weekday = day.day in fields.days, day.isoweekday() % 7 in fields.weekdays
    return (by_date and by_weekday) if fields.day_and else (by_date or by_weekday)


def _end_of(zone: str, day: date) -> datetime:
    """No earlier than the last minute of `day`, whatever the clock does that night."""
    wall = datetime.combine(day + _DAY, time())
    near = wall.replace(tzinfo=UTC)
    if zone == _UTC:
        return near
    return max(piece_at(zone, near + shift).instant(wall) for shift in (-_DAY, _DAY)) + _HOUR
