"""A slow oracle for cron expressions: it looks at every minute of a window, one after the other.

It follows the text of the rule (docs/decisions/0003-cron-dialect.md) and shares nothing with the code under test.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from tests.support.tzif import history

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
_LOW = (0, 0, 1, 1, 0)
_HIGH = (59, 23, 31, 12, 7)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@dataclass(frozen=True)
class Minute:
    """One real minute: its wall clock, what was skipped just before it, and whether its wall clock comes twice."""

    at: datetime
    wall: datetime
    skipped: tuple[datetime, ...]
    seen_before: bool
    seen_again: bool


@lru_cache(maxsize=64)
def minutes(zone: str, start: datetime, end: datetime) -> tuple[Minute, ...]:
    """Every minute in [start, end)."""
    clock = history(zone)
    every = [start - 2 * DAY + MINUTE * n for n in range(int((end - start + 4 * DAY) / MINUTE))]
    walls = [at.replace(tzinfo=None) + clock.offset(at) for at in every]
    left, seen, found = Counter(walls), set(), []
    previous = walls[0]
    for at, wall in zip(every, walls, strict=True):
        left[wall] -= 1
        if start <= at < end:
            gap = tuple(previous + MINUTE * n for n in range(1, int((wall - previous) / MINUTE)))
            found.append(Minute(at, wall, gap, wall in seen, left[wall] > 0))
        seen.add(wall)
        previous = wall
    return tuple(found)


class Oracle:
    """The runs of one expression, under a policy for gaps (after, skip) and overlaps (first, last, both)."""

    def __init__(self, text: str, gap: str = "after", overlap: str = "first") -> None:
        words = text.lower().split()
        self._sets = [_values(n, word) for n, word in enumerate(words)]
        self._sets[4] = {day % 7 for day in self._sets[4]}
        self.wild = words[0][0] == "*" or words[1][0] == "*"
        self._both_days = words[2][0] == "*" or words[4][0] == "*"
        self._gap, self._overlap = ("skip", "both") if self.wild else (gap, overlap)

    def matches(self, wall: datetime) -> bool:
        minute, hour, day, month, weekday = self._sets
        on_date, on_weekday = wall.day in day, wall.isoweekday() % 7 in weekday
        on_day = on_date and on_weekday if self._both_days else on_date or on_weekday
        return wall.minute in minute and wall.hour in hour and wall.month in month and on_day

    def runs_at(self, minute: Minute) -> bool:
        if self._gap == "after" and any(map(self.matches, minute.skipped)):
            return True
        if self._overlap == "first" and minute.seen_before:
            return False
        if self._overlap == "last" and minute.seen_again:
            return False
        return self.matches(minute.wall)

    def runs(self, zone: str, start: datetime, end: datetime) -> list[datetime]:
        """Every run in [start, end)."""
        return [minute.at for minute in minutes(zone, start, end) if self.runs_at(minute)]


def _values(field: int, word: str) -> set[int]:
    values: set[int] = set()
    for item in word.split(","):
        body, _, step = item.partition("/")
        if body == "*":
            low, high = _LOW[field], 6 if field == 4 else _HIGH[field]
        else:
            first, _, last = body.partition("-")
            low = _value(field, first)
            high = _value(field, last) if last else _HIGH[field] if step else low
        values.update(range(low, high + 1, int(step or 1)))
    return values


def _value(field: int, word: str) -> int:
    if word in _MONTHS and field == 3:
        return _MONTHS.index(word) + 1
    return _WEEKDAYS.index(word) if word in _WEEKDAYS else int(word)
