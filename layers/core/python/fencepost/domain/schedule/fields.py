"""The strict reader of cron expressions: Debian's five fields, nothing else.

Whether an expression is *wild* and how its day fields join are decided on the text, by the first character of a
field; the sets of values alone would not tell. See docs/decisions/0003-cron-dialect.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from fencepost.domain.schedule.refusals import CronRefusedError, Problem, Reason

MAX_LENGTH = 512
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAY_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_ITEM = re.compile(r"(?:(?P<star>\*)|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>\w+))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What one field may hold: `low`..`high`, `count` distinct values, and names for some of them."""

    name: str
    low: int
    high: int
    count: int
    names: tuple[str, ...] = ()

    def number(self, word: str) -> int:
        """The value that `word` stands for. Raises Problem."""
        if _NUMBER.fullmatch(word):
            value = int(word)
            if not self.low <= value <= self.high:
                raise Problem(
                    Reason.OUT_OF_RANGE, f"{self.name} is {word}; it must lie in {self.low}-{self.high}"
                )
            return value
        if word.upper() in self.names:
            return self.names.index(word.upper()) + self.low
        raise Problem(Reason.SYNTAX, f"{self.name} holds {word[:20]!r}, which is no value of that field")


MINUTE = Spec(name="minute", low=0, high=59, count=60)
HOUR = Spec(name="hour", low=0, high=23, count=24)
DAY = Spec(name="day of month", low=1, high=31, count=31)
MONTH = Spec(name="month", low=1, high=12, count=12, names=MONTH_NAMES)
WEEKDAY = Spec(name="day of week", low=0, high=7, count=7, names=DAY_NAMES)
SPECS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronFields:
    """The meaning of an expression: sorted values per field (Sunday is 0), and the two rules read off its text.

    `wild`: the minute or the hour field begins with a star, so each real minute that matches counts.
    `day_and`: a day field begins with a star, so both must match; otherwise either is enough.
    Days that none of the months has are left out, and a day rule that every day meets reads as all days.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    wild: bool
    day_and: bool

    @property
    def every_day(self) -> bool:
        """Whether the day fields restrict nothing."""
        return len(self.days) == DAY.count and len(self.weekdays) == WEEKDAY.count


@lru_cache(maxsize=4096)
def parse_cron(text: str) -> CronFields:
    """Reads an expression or a macro. Raises CronRefusedError with every problem found."""
    words = _words(text)
    values: list[frozenset[int]] = []
    problems: list[Problem] = []
    for spec, word in zip(SPECS, words, strict=True):
        try:
            values.append(_field(spec, word))
        except Problem as problem:
            problems.append(problem)
    if problems:
        raise CronRefusedError(*problems)
    minutes, hours, days, months, weekdays = values
    day_and = words[2].startswith("*") or words[4].startswith("*")
    days, weekdays, day_and = _day_rule(days, months, frozenset(d % 7 for d in weekdays), day_and=day_and)
    return CronFields(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=tuple(sorted(days)),
        months=tuple(sorted(months)),
        weekdays=tuple(sorted(weekdays)),
        wild=words[0].startswith("*") or words[1].startswith("*"),
        day_and=day_and,
    )


def _words(text: str) -> list[str]:
    """The five fields, macros expanded. Raises CronRefusedError when there are not five."""
    if len(text) > MAX_LENGTH:
        problem = Problem(
            Reason.TOO_LONG, f"the expression has {len(text)} characters; at most {MAX_LENGTH} are read"
        )
        raise CronRefusedError(problem)
    if re.search(r"[^\x20-\x7e\t]", text):
        problem = Problem(Reason.SYNTAX, "only printable ASCII, blanks and tabs belong in an expression")
        raise CronRefusedError(problem)
    words = text.split()
    if len(words) == 1 and words[0].startswith("@"):
        macro = MACROS.get(words[0].lower())
        if macro is None:
            problem = Problem(Reason.UNSUPPORTED, f"{words[0][:20]} is not one of {' '.join(MACROS)}")
            raise CronRefusedError(problem)
        return macro.split()
    if len(words) != len(SPECS):
        reason = Reason.UNSUPPORTED if text.strip().startswith(("@", "rate(")) else Reason.FIELD_COUNT
        rule = f"an expression has five fields (minute, hour, day of month, month, day of week); this has {len(words)}"
        raise CronRefusedError(Problem(reason, rule))
    return words


def _field(spec: Spec, word: str) -> frozenset[int]:
    """The values of one field. Raises Problem."""
    values: set[int] = set()
    for item in word.split(","):
        values.update(_item(spec, item))
    return frozenset(values)


def _item(spec: Spec, item: str) -> range:
    """The values of one item of a list. Raises Problem."""
    parts = _ITEM.fullmatch(item)
    if parts is None or _foreign(spec, item):
        raise _misread(spec, item)
    star, low, high, step = parts.group("star", "low", "high", "step")
    stride = 1 if step is None else _stride(spec, step)
    if star:
        return range(spec.low, spec.low + spec.count, stride)
    first = spec.number(low)
    if high is not None:
        last = spec.number(high)
        if first > last:
            raise Problem(
                Reason.REVERSED_RANGE, f"{spec.name} has the range {item}, which ends before it begins"
            )
        return range(first, last + 1, stride)
    if step is None:
        return range(first, first + 1)
    if spec is WEEKDAY:
        rule = f"day of week {item} is read as ending on Saturday by some programs and on Sunday by others"
        raise Problem(Reason.AMBIGUOUS, rule)
    return range(first, spec.high + 1, stride)


def _stride(spec: Spec, step: str) -> int:
    """The step after a slash. Raises Problem."""
    if not _NUMBER.fullmatch(step):
        raise Problem(
            Reason.SYNTAX, f"{spec.name} has the step {step[:20]!r}; a step is a number of one or two digits"
        )
    stride = int(step)
    if not 1 <= stride <= spec.count:
        rule = f"{spec.name} has the step {step}; it must lie in 1-{spec.count}, since a step starts anew with each "
        raise Problem(Reason.BAD_STEP, rule + {MINUTE: "hour", HOUR: "day", DAY: "month"}.get(spec, "period"))
    return stride


def _foreign(spec: Spec, item: str) -> bool:
    """Whether `item` uses a sign that other dialects know and this one leaves out on purpose."""
    bare = re.sub("|".join(spec.names), "", item.upper()) if spec.names else item.upper()
    return bool(re.search(r"[?#~$]|(?<![A-Z])(?:[LHWR]|LW)(?![A-Z])", bare))


def _misread(spec: Spec, item: str) -> Problem:
    if _foreign(spec, item):
        rule = f"{spec.name} holds {item[:20]!r}: none of ? L W # H R ~ $ is part of this dialect"
        return Problem(Reason.UNSUPPORTED, rule)
    shown = repr(item[:20]) if item else "an empty item"
    return Problem(
        Reason.SYNTAX, f"{spec.name} holds {shown}; an item is *, a value or a range, with an optional /step"
    )


def _day_rule(
    days: frozenset[int], months: frozenset[int], weekdays: frozenset[int], *, day_and: bool
) -> tuple[frozenset[int], frozenset[int], bool]:
    """The day fields in their simplest form with the same meaning. Raises CronRefusedError when no day meets them."""
    longest = max(LONGEST[month - 1] for month in months)
    every_date = frozenset(range(1, DAY.count + 1))
    real = frozenset(day for day in days if day <= longest)
    if len(real) == longest:
        real = every_date
    every_weekday = len(weekdays) == WEEKDAY.count
    if day_and:
        if not real:
            rule = f"never matches: none of the months has a day {min(days)}"
            raise CronRefusedError(Problem(Reason.NEVER_MATCHES, rule))
        return real, weekdays, True
    if real == every_date or every_weekday:
        return every_date, frozenset(range(WEEKDAY.count)), True
    if not real:
        return every_date, weekdays, True
    return real, weekdays, False
