"""Lists, numbers and lengths in English, for descriptions and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from fencepost.domain.schedule.fields import CronFields

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def joined(parts: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def runs(values: Sequence[int], names: Sequence[str]) -> str:
    """Sorted values by name, three or more neighbours as ``first to last``."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(values) + 1):
        if index < len(values) and values[index] == values[index - 1] + 1:
            continue
        run = values[start:index]
        parts += [f"{names[run[0]]} to {names[run[-1]]}"] if len(run) > 2 else [names[v] for v in run]
        start = index
    return joined(parts)


def length(span: timedelta) -> str:
    """``1 day 2 hours``; ``day`` alone for exactly one unit, so that "every" can stand before it."""
    rest = int(span.total_seconds())
    parts = []
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:,} {unit}{'s' if count > 1 else ''}")
    if len(parts) == 1 and parts[0].startswith("1 "):
        return parts[0][2:]
    return " ".join(parts)


def day_of_month(fields: CronFields) -> str:
    """``day 13`` or ``days 1 to 7``."""
    numbers = [str(number) for number in range(32)]
    return f"{'day' if len(fields.days) == 1 else 'days'} {runs(fields.days, numbers)}"


def weekdays(fields: CronFields) -> str:
    """``Monday to Friday``, the week read from Monday."""
    from_monday = sorted((day + 6) % 7 for day in fields.weekdays)
    return runs(from_monday, [*WEEKDAYS[1:], WEEKDAYS[0]])
