"""How many firings each minute of a day would hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from rich.text import Text

from fencepost.domain.instants import MINUTE
from fencepost.domain.schedule import Schedule
from fencepost.domain.schedule.load import MINUTES, load

_SHADES = " ·░▒▓█"
_STYLES = ("", "dim", "", "yellow", "dark_orange", "bold red")


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
    return Heat(start=start, counts=load(schedules, start))


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
