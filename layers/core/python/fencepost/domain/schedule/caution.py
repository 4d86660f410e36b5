"""Warnings: accepted schedules that often mean something else than their author thinks."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import assert_never

from fencepost.domain.schedule.canonical import fixed_text
from fencepost.domain.schedule.fields import DAY, HOUR, LONGEST, MACROS, MINUTE, WEEKDAY, CronFields
from fencepost.domain.schedule.model import CronSchedule, IntervalSchedule, OneOffSchedule, Schedule
from fencepost.domain.schedule.words import day_of_month, weekdays
from fencepost.domain.schedule.zones import changes_clock

_DAY = timedelta(days=1)
# The hours at which zones change their clocks.
_CHANGING_HOURS = frozenset({22, 23, 0, 1, 2, 3, 4})
_SHORT_NAMES = {"EST": "America/New_York", "MST": "America/Denver", "HST": "Pacific/Honolulu"}


def warnings(schedule: Schedule) -> tuple[str, ...]:
    """Plain sentences, most important first; empty for most schedules."""
    match schedule:
        case CronSchedule():
            found = (
                _both_days(schedule.fields),
                _missing_days(schedule.fields),
                _uneven_step(schedule.text),
                _star_and_hours(schedule),
                _short_zone(schedule.timezone),
            )
            return tuple(warning for warning in found if warning)
        case IntervalSchedule():
            return _real_days(schedule.every)
        case OneOffSchedule():
            return ()
        case _:
            assert_never(schedule)


def _both_days(fields: CronFields) -> str | None:
    if len(fields.days) == DAY.count or len(fields.weekdays) == WEEKDAY.count:
        return None
    dates, names = day_of_month(fields), weekdays(fields)
    if fields.day_and:
        return f"Runs only on days that are both: {dates} of the month, and {names}, since a day field begins with a star."
    return f"Runs on {dates} of the month and on every {names} as well: with both day fields set, either is enough."


def _missing_days(fields: CronFields) -> str | None:
    """Dates that some of the chosen months do not have, where nothing else would run in them."""
    if len(fields.days) == DAY.count or not fields.day_and:
        return None
    short = [month for month in fields.months if LONGEST[month - 1] < fields.days[0]]
    if short or fields.days[0] == LONGEST[1]:
        return f"Some months have no day {fields.days[0]}: nothing runs in them."
    return None


def _uneven_step(text: str) -> str | None:
    words = MACROS.get(text.strip().lower(), text).split()
    for spec, word, unit, period in ((MINUTE, words[0], "minutes", "hour"), (HOUR, words[1], "hours", "day")):
        star = re.fullmatch(r"\*/(\d+)", word)
        step = int(star.group(1)) if star else 1
        if spec.count % step:
            return (
                f"{word} starts anew with every {period}, so the last step of each is shorter; "
                f'for even steps use {{"every": "PT{step}{unit[0].upper()}"}}.'
            )
    return None


def _star_and_hours(schedule: CronSchedule) -> str | None:
    """The two forms whose behaviour at a change of the clock surprises, where a clock may change at those hours."""
    fields = schedule.fields
    if not changes_clock(schedule.timezone) or not _CHANGING_HOURS.intersection(fields.hours):
        return None
    all_hours, all_minutes = len(fields.hours) == HOUR.count, len(fields.minutes) == MINUTE.count
    if fields.wild and not all_hours and not all_minutes:
        return (
            "Minute or hour begins with a star: a time that the clock skips is not made up, and a repeated one runs "
            f"twice. To run each time once, write {fixed_text(fields)}."
        )
    if not fields.wild and all_hours:
        return "The hours are listed: in an hour that the clock repeats it runs once. For every real hour, write *."
    return None


def _short_zone(zone: str) -> str | None:
    if zone not in _SHORT_NAMES:
        return None
    return f"{zone} never changes its clock; where people live by it, use {_SHORT_NAMES[zone]}."


def _real_days(every: timedelta) -> tuple[str, ...]:
    if every % _DAY:
        return ()
    return (
        "A day is 24 hours here, so the time of day moves when clocks change; a cron expression keeps it.",
    )
