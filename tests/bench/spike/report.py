"""The stories' figures as data, and as charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.spike import stories
from tests.bench.spike.fleet import percentile
from tests.bench.spike.stories import Told, advised
from tests.bench.svg import Axis, Series, chart, round_marks

BY_TIER = "the same, a tenth critical, a fifth bulk"
BEGIN = 175
"""The second of the crowd's story in which it comes due."""
Curve = dict[str, Any]
PLOTS = Path(__file__).resolve().parents[3] / "docs" / "plots"


def told() -> list[Told]:
    """All stories, in the order of the page."""
    return [
        stories.mean_rate(),
        stories.sustained(),
        stories.crowded(),
        stories.crowded(name=BY_TIER, tiers=True),
        stories.crowded(advised(pollers=None, concurrency=1000), "the same, default pollers of the mapping"),
        stories.outage(),
        stories.one_team(),
        stories.one_team(fair=False),
    ]


def figures(all_of_them: Sequence[Told]) -> list[dict[str, Any]]:
    """One row for each group of each story."""
    return [
        {
            "story": each.name,
            "group": group,
            **{name: round(value, 3) for name, value in row.items()},
            **_peaks(each),
        }
        for each in all_of_them
        for group, row in each.rows
    ]


def _peaks(each: Told) -> dict[str, float]:
    return {name: round(value, 1) for name, value in each.peaks.items()}


def curves(all_of_them: Sequence[Told]) -> dict[str, list[Curve]]:
    """What the charts show: by chart, the lines with their names and points."""
    mean, sustained, crowd, mixed, default, outage, storm, plain = all_of_them
    tiers = [each for each in mixed.groups if each in ("critical", "standard", "bulk")]
    missed = sum(outage.outcome.overdue.values())
    back = 3600
    return {
        "lateness": [
            _curve(each.name, _ranked([v for values in each.outcome.lateness.values() for v in values]))
            for each in (mean, sustained, crowd, default)
        ],
        "tiers": [_curve(tier, _ranked(mixed.groups[tier])) for tier in tiers],
        "crowd": [
            _curve(name, [(second, each.outcome.begun.get(BEGIN + second, 0)) for second in range(31)])
            for name, each in (("provisioned pollers, as advised", crowd), ("default pollers", default))
        ],
        "claims": _writes(crowd),
        "drain": [_curve("missed firings not begun yet", _left(outage, missed, back))],
        "storm": [
            _curve(name, _ranked(each.groups["all others, standard"]))
            for name, each in (("others, fair queue", storm), ("others, plain queue", plain))
        ],
    }


def _curve(name: str, points: Iterable[tuple[float, float]]) -> Curve:
    return {"name": name, "points": [[round(x, 3), round(y, 3)] for x, y in points]}


def _writes(crowd: Told) -> list[Curve]:
    smooth: Counter[int] = Counter()
    for second, units in crowd.claim_writes.items():
        smooth[second // 5 * 5] += units
    claims = [(second - float(BEGIN), smooth.get(second, 0) / 5) for second in range(0, 180, 5)]
    lines = [_curve("claims, 64 shards (real scans)", claims)]
    for name, table in (("leases and outcomes", "executions"), ("slots", "control")):
        written = crowd.outcome.writes[table]
        lines.append(_curve(name, [(second, written.get(BEGIN + second, 0)) for second in range(-5, 11)]))
    return lines


def _left(outage: Told, missed: int, back: int) -> list[tuple[float, float]]:
    points, left = [], missed
    last = max((second for second, count in outage.outcome.overdue.items() if count), default=back)
    for second in range(back, last + 2):
        left -= outage.outcome.overdue.get(second, 0)
        if second % 5 == 0 or second > last:
            points.append((float(second - back), float(left)))
    return points


def drawn(found: Mapping[str, Sequence[Curve]]) -> dict[str, str]:
    """The charts as SVG, by name: the same figures are the same letters."""
    return {name: _CHARTS[name](_lines(curves)) for name, curves in found.items()}


def draw(found: Mapping[str, Sequence[Curve]]) -> None:
    """Writes the charts into the documentation."""
    PLOTS.mkdir(parents=True, exist_ok=True)
    for name, text in drawn(found).items():
        (PLOTS / f"{name}.svg").write_text(text, encoding="utf-8")


def _lines(curves: Sequence[Curve]) -> list[Series]:
    return [Series(curve["name"], [(x, y) for x, y in curve["points"]]) for curve in curves]


def _lateness(lines: Sequence[Series]) -> str:
    across = Axis("share of firings that begin no later", (0.0, 1 / 3, 2 / 3, 1.0), _share)
    up = Axis("seconds late, logarithmic", (0.01, 0.1, 1.0, 5.0, 100.0), logarithmic=True)
    return chart("How late firings begin (simulated)", across, up, lines)


def _tiers(lines: Sequence[Series]) -> str:
    across = Axis("share of the tier's firings that begin no later", (0.0, 1 / 3, 2 / 3, 1.0), _share)
    up = Axis("seconds late, logarithmic", (0.01, 0.1, 1.0, 5.0, 100.0), logarithmic=True)
    return chart("48,720 in one second, by tier (simulated)", across, up, lines)


def _share(place: float) -> str:
    return f"{1 - 0.5 * 500**-place:.1%}"


def _crowd(lines: Sequence[Series]) -> str:
    across = Axis("seconds after they came due", (0, 5, 10, 15, 20, 25, 30))
    up = Axis("firings begun in a second", (0, 5_000, 10_000, 15_000), _thousands)
    return chart("48,720 firings due in one second (simulated)", across, up, lines)


def _claims(lines: Sequence[Series]) -> str:
    across = Axis("seconds before and after due", (-180, -150, -120, -90, -60, -30, 0, 10))
    up = Axis("write units a second", (0, 5_000, 10_000, 15_000, 20_000, 25_000), _thousands)
    return chart("Write units of the crowd (simulated)", across, up, lines)


def _drain(lines: Sequence[Series]) -> str:
    last, most = lines[0].points[-1][0], lines[0].points[0][1]
    across = Axis("seconds after the service is back", round_marks(last, 8))
    up = Axis("missed firings not begun yet", round_marks(most, 5), _thousands)
    return chart("After an hour's outage (simulated)", across, up, lines)


def _storm(lines: Sequence[Series]) -> str:
    across = Axis("share of the others' firings", (0.0, 1 / 3, 2 / 3, 1.0), _share)
    up = Axis("seconds late", (0, 2, 4, 6, 8, 10))
    return chart("Beside one team's 100,000 (simulated)", across, up, lines)


def _thousands(value: float) -> str:
    return f"{value:,.0f}"


_CHARTS: Mapping[str, Callable[[Sequence[Series]], str]] = {
    "lateness": _lateness,
    "tiers": _tiers,
    "crowd": _crowd,
    "claims": _claims,
    "drain": _drain,
    "storm": _storm,
}


def _ranked(values: Sequence[float]) -> list[tuple[float, float]]:
    """Lateness by share; the axis is stretched towards all of them."""
    return [(n / 30, percentile(values, 1 - 0.5 * 500 ** -(n / 30))) for n in range(31)]


def rows(found: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """For a table: lateness in seconds, then the most of everything in a second."""
    return [
        [
            str(row["story"]),
            str(row["group"]),
            f"{row['firings']:,.0f}",
            *(f"{row[name]:,.2f}" for name in ("p50", "p99", "max")),
            *(f"{row[name]:,.0f}" for name in ("claims", "executions", "control", "invocations", "waiting")),
        ]
        for row in found
    ]
