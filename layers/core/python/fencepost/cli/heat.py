"""How many firings each minute of a day would hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from rich.text import Text

from fencepost.domain.instants import MINUTE
from fencepost.domain.schedule import CronSchedule, Schedule, occurrences
from fencepost.domain.schedule.fields import CronFields
from fencepost.domain.schedule.zones import piece_at

MINUTES = 1440
_SHADES = " ·░▒▓█"
_STYLES = ("", "dim", "", "yellow", "dark_orange", "bold red")
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """Firings by minute of the 24 hours from `start` (UTC) on."""

    start: datetime
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """All of the day's."""
        return sum(self.counts)

    def crowded(self, most: int = 5) -> list[tuple[datetime, int]]:
        """The fullest minutes, if they hold more than three times what an even spread would (and more than one)."""
        limit = max(1.0, 3 * self.total / MINUTES)
        ranked = sorted(range(MINUTES), key=lambda minute: (-self.counts[minute], minute))
        return [
            (self.start + minute * MINUTE, self.counts[minute])
            for minute in ranked[:most]
            if self.counts[minute] > limit
        ]


def heat(schedules: Iterable[Schedule], start: datetime) -> Heat:
    """The load of the 24 hours from `start` (a whole minute) on; jitter is left out: it would spread what is shown."""
    counts = [0] * MINUTES
    plain: Counter[tuple[str, str]] = Counter()
    for schedule in schedules:
        if _is_plain(schedule, start):
            plain[schedule.cron, schedule.timezone] += 1  # type: ignore[union-attr]  # only crons are plain
        else:
            for minute in _walked(schedule, start):
                counts[minute] += 1
    for (cron, zone), times in plain.items():
        for minute in _matching(CronSchedule(cron=cron, timezone=zone).fields, zone, start):
            counts[minute] += times
    return Heat(start=start, counts=tuple(counts))


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


def _walked(schedule: Schedule, start: datetime) -> list[int]:
    """Occurrence by occurrence."""
    end = start + MINUTES * MINUTE
    found = []
    for number, at in enumerate(occurrences(schedule, start - _TICK), start=1):
        if at >= end or (schedule.max_firings is not None and number > schedule.max_firings):
            break
        found.append((at - start) // MINUTE)
    return found


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


def picture(found: Heat) -> Text:
    """24 rows of 60 minutes, UTC; a shade stands for the root of a count, so that one peak does not hide the rest."""
    peak = max(found.counts)
    head = f"{found.start:%Y-%m-%d} UTC   0         10        20        30        40        50\n"
    text = Text().append(head, style="bold")
    for hour in range(24):
        at = found.start + hour * timedelta(hours=1)
        row = found.counts[hour * 60 : hour * 60 + 60]
        text.append(f"{at:%H:%M}  {sum(row):>7,}  ")
        for count in row:
            shade = 0 if not count else 1 + int((count / peak) ** 0.5 * (len(_SHADES) - 2))
            text.append(_SHADES[shade], style=_STYLES[shade])
        text.append("\n")
    for at, count in found.crowded():
        text.append(
            f"crowded: {at:%H:%M} holds {count:,} firings (an even spread: {found.total / MINUTES:,.1f})\n"
        )
    return text
