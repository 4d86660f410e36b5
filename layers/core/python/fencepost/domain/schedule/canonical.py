"""One text per meaning: two expressions have the same canonical text exactly when they run at the same minutes.

The canonical text is an expression itself, and reading it gives the same fields again.
"""

from __future__ import annotations

from functools import lru_cache

from fencepost.domain.schedule.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, CronFields, Spec


@lru_cache(maxsize=4096)
def canonical_text(fields: CronFields) -> str:
    """The canonical expression, e.g. ``0 9 * * 1-5``."""
    minute, hour = _clock(fields)
    day, weekday = _days(fields)
    return f"{minute} {hour} {day} {_plain(MONTH, fields.months, star=True)} {weekday}"


def fixed_text(fields: CronFields) -> str:
    """The same minutes without a leading star in minute and hour, so that each runs once in a repeated hour."""
    day, weekday = _days(fields)
    minute, hour = _plain(MINUTE, fields.minutes), _plain(HOUR, fields.hours)
    return f"{minute} {hour} {day} {_plain(MONTH, fields.months, star=True)} {weekday}"


def _clock(fields: CronFields) -> tuple[str, str]:
    """Minute and hour; one of them begins with a star exactly when the expression is wild."""
    minutes, hours = fields.minutes, fields.hours
    if not fields.wild:
        return _plain(MINUTE, minutes), _plain(HOUR, hours)
    if len(minutes) == MINUTE.count or len(hours) == HOUR.count:
        return _plain(MINUTE, minutes, star=True), _plain(HOUR, hours, star=True)
    return _one_starred((MINUTE, minutes), (HOUR, hours))


def _days(fields: CronFields) -> tuple[str, str]:
    """Day of month and day of week; one of them begins with a star exactly when both must match."""
    days, weekdays = fields.days, fields.weekdays
    if not fields.day_and:
        return _plain(DAY, days), _plain(WEEKDAY, weekdays)
    if len(days) == DAY.count or len(weekdays) == WEEKDAY.count:
        return _plain(DAY, days, star=True), _plain(WEEKDAY, weekdays, star=True)
    return _one_starred((DAY, days), (WEEKDAY, weekdays))


def _one_starred(one: tuple[Spec, tuple[int, ...]], two: tuple[Spec, tuple[int, ...]]) -> tuple[str, str]:
    """Both fields, of which one begins with a star although it holds not every value: the shorter choice."""
    choices = []
    if two[0].low in two[1]:
        choices.append((_plain(*one), _starred(*two)))
    if one[0].low in one[1]:
        choices.append((_starred(*one), _plain(*two)))
    return min(choices, key=lambda pair: len(pair[0]) + len(pair[1]))


def _starred(spec: Spec, values: tuple[int, ...]) -> str:
    """``*/n`` with the smallest n that adds nothing, then what it leaves out. Needs the field's lowest value."""
    step = next(n for n in range(1, spec.count + 1) if set(_stepped(spec, n)) <= set(values))
    rest = tuple(value for value in values if value not in _stepped(spec, step))
    return f"*/{step}," + _plain(spec, rest) if rest else f"*/{step}"


def _stepped(spec: Spec, step: int) -> range:
    return range(spec.low, spec.low + spec.count, step)


def _plain(spec: Spec, values: tuple[int, ...], *, star: bool = False) -> str:
    """A star for all values if `star`, one stepped range if the values are one, else a list of values and runs."""
    if star and len(values) == spec.count:
        return "*"
    first, last = values[0], values[-1]
    step = values[1] - first if len(values) > 2 else 1
    if step > 1 and values == tuple(range(first, last + 1, step)):
        return f"{first}-{last}/{step}"
    return ",".join(_runs(values))


def _runs(values: tuple[int, ...]) -> list[str]:
    """Values in order, three or more neighbours joined into a range."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(values) + 1):
        if index < len(values) and values[index] == values[index - 1] + 1:
            continue
        run = values[start:index]
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(value) for value in run]
        start = index
    return parts
