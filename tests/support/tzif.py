"""A reader of compiled time-zone files (RFC 8536), for tests: where a zone's offset changes, straight from the data.

It shares no code with Fencepost nor with `zoneinfo`, so that a mistake of theirs can't hide here.
"""

from __future__ import annotations

import calendar
import re
import struct
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources

_RULE = re.compile(
    r"(?:[A-Za-z]{3,}|<[^>]+>)(?P<std>[-+:\d]+)"
    r"(?:(?:[A-Za-z]{3,}|<[^>]+>)(?P<dst>[-+:\d]*),(?P<start>[^,]+),(?P<end>[^,]+))?"
)
_DAY_OF_RULE = re.compile(r"M(\d+)\.(\d)\.(\d)(?:/(-?[\d:]+))?")
_LAST_YEAR = 2210


@dataclass(frozen=True)
class Change:
    """At `at`, the offset from UTC becomes `after`."""

    at: datetime
    before: timedelta
    after: timedelta


@dataclass(frozen=True)
class ZoneHistory:
    """Every change of a zone, the ones by its closing rule until 2210 included."""

    first_offset: timedelta
    changes: tuple[Change, ...]
    _stamps: tuple[float, ...]

    def offset(self, instant: datetime) -> timedelta:
        index = bisect_right(self._stamps, instant.timestamp())
        return self.changes[index - 1].after if index else self.first_offset

    def between(self, first: int, last: int) -> tuple[Change, ...]:
        """The changes of the years `first` to `last`."""
        return tuple(change for change in self.changes if first <= change.at.year <= last)


@cache
def history(zone: str) -> ZoneHistory:
    data = resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
    body = data[44 + _body_size(data, 4) :]
    times, types, offsets = _tables(body)
    footer = body[44 + _body_size(body, 8) :].decode().strip("\n")
    points = [(at, offsets[kind]) for at, kind in zip(times, types, strict=True)]
    points += _by_rule(footer, datetime.fromtimestamp(points[-1][0], UTC).year + 1 if points else 1990)
    return _history(offsets[0], points)


@cache
def rule_sets(first: int, last: int) -> dict[tuple[Change, ...], str]:
    """One zone for each distinct run of changes in the years `first` to `last`; zones without any are left out."""
    names = resources.files("tzdata").joinpath("zones").read_text().split()
    found: dict[tuple[Change, ...], str] = {}
    for name in sorted(names):
        changes = history(name).between(first, last)
        if changes:
            found.setdefault(changes, name)
    return found


def _history(first_offset: int, points: list[tuple[int, int]]) -> ZoneHistory:
    changes, offset = [], first_offset
    for at, following in points:
        if following != offset:
            instant = datetime.fromtimestamp(at, UTC)
            changes.append(Change(instant, timedelta(seconds=offset), timedelta(seconds=following)))
        offset = following
    stamps = tuple(change.at.timestamp() for change in changes)
    return ZoneHistory(timedelta(seconds=first_offset), tuple(changes), stamps)


def _counts(block: bytes) -> tuple[int, ...]:
    """isut, isstd, leap, time, type and char counts of a block's header."""
    assert block[:4] == b"TZif"
    return struct.unpack(">6l", block[20:44])


def _body_size(block: bytes, width: int) -> int:
    isut, isstd, leap, times, types, chars = _counts(block)
    return times * (width + 1) + types * 6 + chars + leap * (width + 4) + isstd + isut


def _tables(block: bytes) -> tuple[tuple[int, ...], bytes, list[int]]:
    """The instants of the second block, the type each begins, and the offset of each type."""
    _, _, _, count, types, _ = _counts(block)
    start = 44
    times = struct.unpack(f">{count}q", block[start : start + 8 * count])
    start += 8 * count
    kinds = block[start : start + count]
    start += count
    offsets = [struct.unpack(">lbb", block[start + 6 * n : start + 6 * n + 6])[0] for n in range(types)]
    return times, kinds, offsets


def _by_rule(footer: str, first_year: int) -> list[tuple[int, int]]:
    """The changes that the closing rule makes from `first_year` on, as (epoch second, offset)."""
    rule = _RULE.fullmatch(footer)
    assert rule is not None, footer
    if rule["start"] is None:
        return []
    std = -_seconds(rule["std"])
    dst = -_seconds(rule["dst"]) if rule["dst"] else std + 3600
    points = []
    for year in range(first_year, _LAST_YEAR):
        points.append((_local(year, rule["start"]) - std, dst))
        points.append((_local(year, rule["end"]) - dst, std))
    return sorted(points)


def _local(year: int, day_rule: str) -> int:
    """The wall clock of ``M3.2.0/2`` in `year`, as if it were UTC, in epoch seconds."""
    parts = _DAY_OF_RULE.fullmatch(day_rule)
    assert parts is not None, day_rule
    month, week, weekday = int(parts[1]), int(parts[2]), int(parts[3])
    first, length = calendar.monthrange(year, month)
    day = 1 + (weekday - (first + 1)) % 7 + 7 * (week - 1)
    while day > length:
        day -= 7
    return calendar.timegm((year, month, day, 0, 0, 0)) + _seconds(parts[4] or "2")


def _seconds(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * size for part, size in zip(parts, (3600, 60, 1), strict=False))
