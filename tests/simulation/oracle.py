"""When a job should fire, worked out from its stored schedule by other means than the service's own.

Only the forms that plans draw are understood: every minute that matches in a zone, one wall-clock time a day, steps
from an anchor, one instant. Instants are epoch milliseconds. Nothing of the code under test is imported.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

MINUTE_MS = 60_000
QUARTER_MS = 15 * MINUTE_MS
DAY_MS = 86_400_000
BACK, AHEAD = 30 * 3_600_000, 6 * 3_600_000
FOREVER = 1 << 60


@dataclass(frozen=True, slots=True)
class Rule:
    """A schedule around one history: its occurrences in order, and what may make a firing later or end it."""

    times: tuple[int, ...]
    jitter: int
    most: int | None

    def after(self, instant: int) -> int | None:
        """The first occurrence strictly later than `instant`."""
        place = bisect_right(self.times, instant)
        return self.times[place] if place < len(self.times) else None

    def latest(self, instant: int) -> int | None:
        """The last occurrence at or before `instant`."""
        place = bisect_right(self.times, instant)
        return self.times[place - 1] if place else None

    def between(self, after: int, until: int) -> tuple[int, ...]:
        """All in (after, until]."""
        return self.times[bisect_right(self.times, after) : bisect_right(self.times, until)]

    def has(self, instant: int) -> bool:
        """`instant` is an occurrence."""
        place = bisect_left(self.times, instant)
        return place < len(self.times) and self.times[place] == instant


MOVED = "Asia/Kolkata"
OFFSETS = (timedelta(hours=5, minutes=30), timedelta(hours=5, minutes=45))
"""The zone that a newer release of the time-zone database moves in some histories: before it, and by it."""


def rule_of(schedule: Mapping[str, Any], begin: datetime, *, newer: bool = False) -> Rule:
    """The rule of a stored schedule, around the history that begins at `begin`; by the `newer` release, if asked."""
    return _rule(json.dumps(schedule, sort_keys=True), ms(begin), newer)


def ms(instant: datetime) -> int:
    """Epoch milliseconds."""
    return int(instant.timestamp() * 1000 + 0.5)


@lru_cache(maxsize=512)
def _rule(text: str, begin: int, newer: bool) -> Rule:
    raw = json.loads(text)
    daily = "cron" in raw and raw["cron"].split()[1] != "*"
    low, high = begin - BACK, begin + (3 * DAY_MS if daily else AHEAD)
    if "start_at" in raw:
        low = max(low, _instant(raw["start_at"]) - 1)
    if "end_at" in raw:
        high = min(high, _instant(raw["end_at"]))
    times = tuple(t for t in _times(raw, low, high, newer=newer) if low < t <= high)
    return Rule(times, int(raw.get("jitter_seconds", 0)) * 1000, raw.get("max_firings"))


def _times(raw: Mapping[str, Any], low: int, high: int, *, newer: bool) -> Iterator[int]:
    if "at" in raw:
        yield _instant(raw["at"])
    elif "every" in raw:
        anchor, step = _instant(raw["anchor"]), _seconds(raw["every"]) * 1000
        first = max(anchor, anchor + (low - anchor) // step * step)
        yield from range(first, high + 1, step)
    else:
        minute, hour, *_ = raw["cron"].split()
        zone = timezone(OFFSETS[newer]) if raw["timezone"] == MOVED else ZoneInfo(raw["timezone"])
        if hour == "*":
            yield from _minutes(_matching(minute), zone, low, high)
        else:
            yield from _daily(int(hour), int(minute), zone, low, high)


def _minutes(wanted: frozenset[int], zone: tzinfo, low: int, high: int) -> Iterator[int]:
    """Each real minute whose minute on the wall is wanted. Clocks are changed at full quarters of an hour."""
    for quarter in range(low - low % QUARTER_MS, high + 1, QUARTER_MS):
        first = datetime.fromtimestamp(quarter // 1000, zone).minute
        for number in range(15):
            if (first + number) % 60 in wanted:
                yield quarter + number * MINUTE_MS


def _daily(hour: int, minute: int, zone: tzinfo, low: int, high: int) -> Iterator[int]:
    """One time a day: the first of two passes, and right after a gap that swallows it."""
    day = datetime.fromtimestamp(low // 1000, UTC).date() - timedelta(days=1)
    while ms(datetime(day.year, day.month, day.day, tzinfo=UTC)) <= high + DAY_MS:
        yield _on(day, hour, minute, zone)
        day += timedelta(days=1)


def _on(day: date, hour: int, minute: int, zone: tzinfo) -> int:
    wall = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
    instant = wall.astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == wall.replace(tzinfo=None):
        return ms(instant)
    earlier = instant - timedelta(hours=3)
    while earlier.astimezone(zone).replace(tzinfo=None) < wall.replace(tzinfo=None):
        earlier += timedelta(minutes=1)
    return ms(earlier)


def _matching(field: str) -> frozenset[int]:
    if field == "*":
        return frozenset(range(60))
    if field.startswith("*/"):
        return frozenset(range(0, 60, int(field[2:])))
    return frozenset(int(each) for each in field.split(","))


def _instant(text: str) -> int:
    return ms(datetime.fromisoformat(text))


def _seconds(duration: str) -> int:
    """``PT1H2M3S``, each part optional."""
    total, number = 0, ""
    for char in duration.removeprefix("PT"):
        if char.isdigit():
            number += char
        else:
            total += int(number) * {"H": 3600, "M": 60, "S": 1}[char]
            number = ""
    return total
