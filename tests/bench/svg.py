"""Line charts as SVG, written by hand: they need nothing, and a diff of them can be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 40, 44
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """A line and its name."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows; its values at which it is marked, and how each is written."""

    title: str
    marks: Sequence[float]
    written: Callable[[float], str] = "{:g}".format
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """0 at the first mark, 1 at the last."""
        low, high = self.marks[0], self.marks[-1]
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, self.marks[0]))
        return (value - low) / (high - low)


def round_marks(most: float, number: int) -> list[float]:
    """Marks from 0 to `most` or a little more, about so many, at one, two or five times a power of ten."""
    least = most / number
    unit = 10 ** math.floor(math.log10(least))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= least)
    return [step * place for place in range(math.ceil(most / step) + 1)]


def chart(title: str, across: Axis, up: Axis, series: Sequence[Series]) -> str:
    """One chart; lines are cut at the last marks."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for mark in up.marks:
        y = _y(up.place(mark))
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#d8dee4"/>')
        parts.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(up.written(mark))}</text>'
        )
    for mark in across.marks:
        x = _x(across.place(mark))
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eaeef2"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(across.written(mark))}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(across.title)}</text>'
    )
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}" fill="#57606a">{escape(up.title)}</text>')
    for number, line in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(
            f"{_x(min(1, max(0, across.place(x)))):.1f},{_y(min(1, max(0, up.place(y)))):.1f}"
            for x, y in line.points
        )
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = TOP + 14 + 16 * number
        parts.append(f'<rect x="{WIDTH - 270}" y="{y - 9}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - 250}" y="{y - 3}">{escape(line.name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
