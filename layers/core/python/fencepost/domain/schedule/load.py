"""How many firings each minute of a day will hold: counted from what schedules mean, walked only where clocks change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from fencepost.domain.instants import MINUTE
from fencepost.domain.schedule.fields import CronFields
from fencepost.domain.schedule.model import CronSchedule, IntervalSchedule, Schedule
from fencepost.domain.schedule.occurrences import occurrences
from fencepost.domain.schedule.zones import piece_at

MINUTES = 1440
_TICK = timedelta(microseconds=1)


def load(schedules: Iterable[Schedule], start: datetime) -> tuple[int, ...]:
    """Firings by minute of the 24 hours from `start` (a whole minute) on. Jitter is left out: it would spread what is
    to be seen; so are calendars.
    """
    counts = [0] * MINUTES
    plain: Counter[tuple[str, str]] = Counter()
    others: Counter[Schedule] = Counter()
    for schedule in schedules:
        if _is_plain(schedule, start):
            plain[schedule.cron, schedule.timezone] += 1  # type: ignore[union-attr]  # only crons are plain
        else:
            others[schedule] += 1
    for (cron, zone), times in plain.items():
        for minute in _matching(CronSchedule(cron=cron, timezone=zone).fields, zone, start):
            counts[minute] += times
    for schedule, times in others.items():
        for minute, firings in enumerate(_other(schedule, start)):
            counts[minute] += firings * times
    return tuple(counts)


def _other(schedule: Schedule, start: datetime) -> Sequence[int]:
    if isinstance(schedule, IntervalSchedule) and schedule.max_firings is None:
        return _stepped(schedule, start)
    return _walked(schedule, start)


def _is_plain(schedule: Schedule, start: datetime) -> bool:
    """Whether the day is one without a change of the clock, for a schedule without bounds: then fields say it all."""
    return (
        isinstance(schedule, CronSchedule)
        and schedule.start_at is None
        and schedule.end_at is None
        and schedule.max_firings is None
        and _steady(schedule.timezone, start)
    )


@lru_cache(maxsize=1024)
def _steady(zone: str, start: datetime) -> bool:
    """A margin of a day on either side: what a change moves may land on the day after."""
    first, last = start - timedelta(days=1), start + timedelta(days=2)
    return piece_at(zone, first).offset == piece_at(zone, start).offset == piece_at(zone, last).offset


def _stepped(schedule: IntervalSchedule, start: datetime) -> list[int]:
    """Steps before each minute's end, less those before its beginning."""
    first = max(schedule.anchor, schedule.start_at or schedule.anchor)
    last = start + MINUTES * MINUTE
    if schedule.end_at is not None:
        last = min(last, schedule.end_at + _TICK)

    def before(instant: datetime) -> int:
        """How many steps there are from the anchor on, and before `instant`."""
        return max(0, -((schedule.anchor - instant) // schedule.every))

    edges = [start + minute * MINUTE for minute in range(MINUTES + 1)]
    passed = [before(min(max(edge, first), last)) for edge in edges]
    return [after - earlier for earlier, after in pairwise(passed)]


def _walked(schedule: Schedule, start: datetime) -> list[int]:
    """Occurrence by occurrence."""
    end = start + MINUTES * MINUTE
    counts = [0] * MINUTES
    for number, at in enumerate(occurrences(schedule, start - _TICK), start=1):
        if at >= end or (schedule.max_firings is not None and number > schedule.max_firings):
            break
        counts[(at - start) // MINUTE] += 1
    return counts


def _matching(fields: CronFields, zone: str, start: datetime) -> list[int]:
    minutes, hours = frozenset(fields.minutes), frozenset(fields.hours)
    days = {day: _runs_on(fields, day) for day in {each[0] for each in _walls(zone, start)}}
    return [
        number
        for number, (day, hour, minute) in enumerate(_walls(zone, start))
        if minute in minutes and hour in hours and days[day]
    ]


def _runs_on(fields: CronFields, day: tuple[int, int, int, int]) -> bool:
    _, month, date, weekday = day
    on_date, on_weekday = date in fields.days, weekday in fields.weekdays
    return month in fields.months and (on_date and on_weekday if fields.day_and else on_date or on_weekday)


@lru_cache(maxsize=256)
def _walls(zone: str, start: datetime) -> tuple[tuple[tuple[int, int, int, int], int, int], ...]:
    """Date (with its weekday, Sunday 0), hour and minute on the zone's wall clock, for each minute of the day."""
    wall = start.astimezone(UTC) + piece_at(zone, start).offset
    found = []
    for number in range(MINUTES):
        at = wall + number * MINUTE
        found.append(((at.year, at.month, at.day, at.isoweekday() % 7), at.hour, at.minute))
    return tuple(found)
