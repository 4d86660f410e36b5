"""Exclusion calendars: instants or local dates on which a team wants no firing.

A calendar is a version: writing it anew makes the next one, so that a skipped occurrence can be explained by the
calendar as it was. An excluded occurrence keeps its place and its record; it only does not run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from fencepost.domain.faults import Faults
from fencepost.domain.instants import aware, to_wire
from fencepost.domain.schedule.model import CronSchedule, Schedule
from fencepost.domain.schedule.occurrences import next_occurrence
from fencepost.domain.schedule.reading import EARLIEST, LATEST, Reader, read_instant
from fencepost.domain.schedule.suggestions import similar_zones
from fencepost.domain.schedule.zones import zone_names

MAX_ENTRIES = 1_000
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)
# Occurrences tried before a schedule with exclusions is believed to fire some day; each try leaps over one entry.
_TRIES = 400

_Point = TypeVar("_Point", date, datetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """One version of a calendar, `dated` when it was written.

    `dates` are pairs (first, last) of local dates, both included; `spans` are pairs of instants, the end left out.
    Both are sorted and do not overlap. Dates are read in `timezone`, or without one in the schedule's own zone (UTC
    for intervals and single instants).
    """

    name: str
    version: int
    dated: datetime
    dates: tuple[tuple[date, date], ...] = ()
    spans: tuple[tuple[datetime, datetime], ...] = ()
    timezone: str | None = None

    def excluded_until(self, instant: datetime, zone: str) -> datetime | None:
        """None if `instant` is free; else the first instant after the entry that excludes it."""
        span = _holding(self.spans, instant)
        if span is not None and instant < span[1]:
            return span[1]
        home = ZoneInfo(self.timezone or zone)
        days = _holding(self.dates, instant.astimezone(home).date())
        if days is None:
            return None
        midnight = datetime.combine(days[1] + _DAY, datetime.min.time(), tzinfo=home)
        return max(midnight.astimezone(UTC), instant + _TICK)


def parse_calendar(
    raw: Mapping[str, object], *, name: str, version: int, dated: datetime, field: str = "calendar"
) -> Calendar:
    """Reads ``{"dates": ["2026-12-24/2026-12-26"], "instants": [...], "timezone": ...}``. Raises Faults with every fault.

    An entry is one date or instant, or two joined by a slash.
    """
    reader = Reader(raw, field)
    reader.refuse_unknown(frozenset({"dates", "instants", "timezone"}))
    dates = [_read_dates(reader, entry) for entry in _entries(reader, "dates")]
    spans = [_read_span(reader, entry) for entry in _entries(reader, "instants")]
    zone = reader.text("timezone")
    if zone is not None and zone not in zone_names():
        reader.fault("timezone", "is not a time zone of the IANA database", similar_zones(zone))
    if not dates and not spans and not reader.faults:
        reader.fault("", "must hold at least one entry in dates or instants")
    if reader.faults:
        raise Faults(reader.faults)
    return Calendar(
        name=name,
        version=version,
        dated=aware(dated),
        dates=_merged((pair for pair in dates if pair), _DAY),
        spans=_merged((pair for pair in spans if pair), timedelta(0)),
        timezone=zone,
    )


def calendar_to_wire(calendar: Calendar) -> dict[str, object]:
    """The entries in their normal form; `parse_calendar` reads them back."""
    wire: dict[str, object] = {}
    if calendar.dates:
        wire["dates"] = [str(a) if a == b else f"{a}/{b}" for a, b in calendar.dates]
    if calendar.spans:
        wire["instants"] = [f"{to_wire(a)}/{to_wire(b)}" for a, b in calendar.spans]
    if calendar.timezone is not None:
        wire["timezone"] = calendar.timezone
    return wire


def is_excluded(schedule: Schedule, instant: datetime, calendars: Mapping[str, Calendar]) -> str | None:
    """The name of the calendar that excludes `instant`; None if none does.

    A calendar that the schedule names and `calendars` lacks excludes nothing: a firing is not lost to a missing page.
    """
    for name in schedule.exclude:
        calendar = calendars.get(name)
        if calendar is not None and calendar.excluded_until(instant, home_zone(schedule)) is not None:
            return name
    return None


def ever_runs(schedule: Schedule, after: datetime, calendars: Mapping[str, Calendar]) -> bool:
    """Whether some occurrence later than `after` is not excluded. True when a bounded search can't tell."""
    for _ in range(_TRIES):
        found = next_occurrence(schedule, after)
        if found is None:
            return False
        name = is_excluded(schedule, found, calendars)
        if name is None:
            return True
        after = (calendars[name].excluded_until(found, home_zone(schedule)) or found + _TICK) - _TICK
    return True


def home_zone(schedule: Schedule) -> str:
    """The zone whose wall clock the schedule lives by; UTC for intervals and single instants."""
    return schedule.timezone if isinstance(schedule, CronSchedule) else "UTC"


def _entries(reader: Reader, key: str) -> list[str]:
    value = reader.raw.get(key, [])
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        reader.fault(key, "must be a list of strings")
        return []
    if len(value) > MAX_ENTRIES:
        reader.fault(key, f"must have at most {MAX_ENTRIES:,} entries")
        return []
    return list(value)


def _read_dates(reader: Reader, entry: str) -> tuple[date, date] | None:
    first, _, last = entry.partition("/")
    try:
        pair = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        reader.fault("dates", f"{entry[:40]!r} must be a date such as 2026-12-24, or two joined by a slash")
        return None
    if not EARLIEST.date() <= pair[0] <= pair[1] < LATEST.date():
        reader.fault(
            "dates", f"{entry[:40]!r} must lie between 2000 and 2200 and end no earlier than it begins"
        )
        return None
    return pair


def _read_span(reader: Reader, entry: str) -> tuple[datetime, datetime] | None:
    first, slash, last = entry.partition("/")
    try:
        begin = read_instant(first)
        end = read_instant(last) if slash else begin + timedelta(milliseconds=1)
    except ValueError as error:
        reader.fault("instants", f"{entry[:60]!r} {error}")
        return None
    if end <= begin:
        reader.fault("instants", f"{entry[:60]!r} must end after it begins")
        return None
    return begin, end


def _merged(pairs: Iterable[tuple[_Point, _Point]], touching: timedelta) -> tuple[tuple[_Point, _Point], ...]:
    """The pairs in order, those that overlap or lie no further apart than `touching` joined."""
    merged: list[tuple[_Point, _Point]] = []
    for first, last in sorted(pairs):
        if merged and first <= merged[-1][1] + touching:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _holding(pairs: tuple[tuple[_Point, _Point], ...], point: _Point) -> tuple[_Point, _Point] | None:
    """The pair with first <= point <= last."""
    index = bisect_right(pairs, point, key=lambda pair: pair[0]) - 1
    return pairs[index] if index >= 0 and point <= pairs[index][1] else None
