"""A schedule in words. Two expressions that mean different things never read the same."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from fencepost.domain.schedule.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, CronFields
from fencepost.domain.schedule.model import (
    Bounds,
    CronSchedule,
    DstOverlap,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
)
from fencepost.domain.schedule.words import MONTHS, day_of_month, joined, length, runs, weekdays
from fencepost.domain.schedule.zones import changes_clock

_TIMES_LISTED = 6
_NUMBERS = tuple(str(number) for number in range(60))


def describe(schedule: Schedule) -> str:
    """One sentence, e.g. ``at 09:00 on Monday to Friday, Europe/Berlin time``."""
    return ", ".join([_rule(schedule), *_bounds(schedule)])


def describe_cron(fields: CronFields) -> str:
    """The minutes that an expression matches, without zone and policy."""
    return " ".join(part for part in (_times(fields), _days(fields), _months(fields)) if part)


def _rule(schedule: Schedule) -> str:
    match schedule:
        case CronSchedule():
            return f"{describe_cron(schedule.fields)}, {schedule.timezone} time{_changes(schedule)}"
        case IntervalSchedule():
            return f"every {length(schedule.every)} of real time, counted from {_instant(schedule.anchor)}"
        case OneOffSchedule():
            return f"once, at {_instant(schedule.at)}"
        case _:
            assert_never(schedule)


def _changes(schedule: CronSchedule) -> str:
    """What happens when the zone's clock changes; nothing for UTC, whose clock never does."""
    if not changes_clock(schedule.timezone):
        return ""
    skipped = {
        Gap.AFTER: "a time that the clock skips runs right after the gap",
        Gap.SKIP: "a time that the clock skips does not run",
    }[schedule.policy.gap]
    repeated = {
        DstOverlap.FIRST: "a repeated one runs the first time",
        DstOverlap.LAST: "a repeated one runs the second time",
        DstOverlap.BOTH: "a repeated one runs both times",
    }[schedule.policy.overlap]
    return f" ({skipped}, {repeated})"


def _times(fields: CronFields) -> str:
    """The minutes of a day."""
    minutes, hours = fields.minutes, fields.hours
    all_hours, all_minutes = len(hours) == HOUR.count, len(minutes) == MINUTE.count
    if all_minutes and all_hours:
        return "every minute"
    if not all_hours and len(minutes) * len(hours) <= _TIMES_LISTED:
        return "at " + joined([f"{hour:02}:{minute:02}" for hour in hours for minute in minutes])
    if all_minutes:
        return f"every minute of {_hours(hours)}"
    step = _even_step(minutes, MINUTE.count)
    if step and all_hours:
        return f"every {step} minutes"
    if step:
        return f"every {step} minutes of {_hours(hours)}"
    word = "minute" if len(minutes) == 1 else "minutes"
    return f"at {word} {runs(minutes, _NUMBERS)} of {'every hour' if all_hours else _hours(hours)}"


def _hours(hours: tuple[int, ...]) -> str:
    step = _even_step(hours, HOUR.count)
    if step and step > 1:
        return f"every {'other' if step == 2 else _ordinal(step)} hour from midnight"
    return f"{'hour' if len(hours) == 1 else 'hours'} {runs(hours, _NUMBERS)}"


def _even_step(values: tuple[int, ...], count: int) -> int | None:
    """The step, if the values go from zero round the whole field in equal steps that divide it."""
    if len(values) < 2:
        return None
    step = values[1] - values[0]
    return step if count % step == 0 and values == tuple(range(0, count, step)) else None


def _ordinal(number: int) -> str:
    return {3: "third", 4: "fourth", 6: "sixth", 8: "eighth", 12: "twelfth"}[number]


def _days(fields: CronFields) -> str:
    """The days, and how the two day fields join."""
    if fields.every_day:
        return "every day" if _named_times(fields) else ""
    if not fields.day_and:
        return f"on {day_of_month(fields)} of the month, and also on {weekdays(fields)}"
    if len(fields.weekdays) == WEEKDAY.count:
        return f"on {day_of_month(fields)} of the month"
    if len(fields.days) == DAY.count:
        return f"on {weekdays(fields)}"
    return f"on {day_of_month(fields)} of the month, only where it falls on {weekdays(fields)}"


def _named_times(fields: CronFields) -> bool:
    """Whether the minutes are told as times of a day, so that "every day" is no stutter."""
    return len(fields.hours) < HOUR.count


def _months(fields: CronFields) -> str:
    return "" if len(fields.months) == MONTH.count else f"in {runs([m - 1 for m in fields.months], MONTHS)}"


def _bounds(bounds: Bounds) -> list[str]:
    parts = []
    if bounds.start_at is not None:
        parts.append(f"from {_instant(bounds.start_at)}")
    if bounds.end_at is not None:
        parts.append(f"until {_instant(bounds.end_at)}")
    if bounds.max_firings is not None:
        parts.append(f"at most {bounds.max_firings:,} time{'s' if bounds.max_firings > 1 else ''}")
    if bounds.jitter_seconds:
        parts.append(f"each up to {bounds.jitter_seconds:,} s later")
    if bounds.exclude:
        parts.append(f"not on the days of {joined(bounds.exclude)}")
    return parts


def _instant(instant: datetime) -> str:
    text = instant.strftime("%Y-%m-%d %H:%M:%S")
    return (text.removesuffix(":00") if instant.second == 0 else text) + " UTC"
