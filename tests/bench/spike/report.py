"""The stories' figures as data, and as charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.spike import stories
from tests.bench.spike.fleet import percentile
from tests.bench.spike.stories import Told, advised
from tests.bench.svg import Axis, Series, chart

PLOTS = Path(__file__).resolve().parents[3] / "docs" / "plots"


def told() -> list[Told]:
    """All stories, in the order of the page."""
    return [
        stories.mean_rate(),
        stories.sustained(),
        stories.crowded(),
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


def draw(all_of_them: Sequence[Told]) -> None:
    """Writes the charts into the documentation."""
    PLOTS.mkdir(parents=True, exist_ok=True)
    mean, sustained, crowd, default, _, storm, plain = all_of_them
    (PLOTS / "lateness.svg").write_text(_lateness([mean, sustained, crowd, default]), encoding="utf-8")
    (PLOTS / "crowd.svg").write_text(_crowd(crowd, default), encoding="utf-8")
    (PLOTS / "claims.svg").write_text(_claims(crowd), encoding="utf-8")
    (PLOTS / "storm.svg").write_text(_storm(storm, plain), encoding="utf-8")


def _lateness(some: Sequence[Told]) -> str:
    across = Axis("share of firings that begin no later", (0.0, 1 / 3, 2 / 3, 1.0), _share)
    lines = [Series(each.name, _ranked(next(iter(each.groups.values())))) for each in some]
    up = Axis("seconds late, logarithmic", (0.01, 0.1, 1.0, 5.0, 100.0), logarithmic=True)
    return chart("How late firings begin (simulated)", across, up, lines)


def _share(place: float) -> str:
    return f"{1 - 0.5 * 500**-place:.1%}"


def _crowd(crowd: Told, default: Told) -> str:
    begin = 175
    lines = [
        Series(name, [(second, each.outcome.begun.get(begin + second, 0)) for second in range(31)])
        for name, each in (("provisioned pollers, as advised", crowd), ("default pollers", default))
    ]
    across = Axis("seconds after they came due", (0, 5, 10, 15, 20, 25, 30))
    up = Axis("firings begun in a second", (0, 4_000, 8_000, 12_000), "{:,.0f}".format)
    return chart("48,720 firings due in one second (simulated)", across, up, lines)


def _claims(crowd: Told) -> str:
    smooth: Counter[int] = Counter()
    for second, units in crowd.claim_writes.items():
        smooth[second // 5 * 5] += units
    points = [(second - 175.0, smooth.get(second, 0) / 5) for second in range(0, 180, 5)]
    delivered = [
        (float(second), float(crowd.outcome.writes["executions"].get(175 + second, 0)))
        for second in range(-175, 11)
    ]
    across = Axis("seconds before and after due", (-180, -150, -120, -90, -60, -30, 0, 10))
    up = Axis("write units a second", (0, 5_000, 10_000, 15_000, 20_000, 25_000), "{:,.0f}".format)
    lines = [Series("claims, 64 shards (real scans)", points), Series("leases and outcomes", delivered)]
    return chart("Claims of the crowd are spread over the horizon (simulated)", across, up, lines)


def _storm(storm: Told, plain: Told) -> str:
    lines = [
        Series(name, _ranked(each.groups["all others"]))
        for name, each in (("others, fair queue", storm), ("others, plain queue", plain))
    ]
    across = Axis("share of the others' firings", (0.0, 1 / 3, 2 / 3, 1.0), _share)
    up = Axis("seconds late", (0, 2, 4, 6, 8, 10))
    return chart("Beside one team's 100,000 (simulated)", across, up, lines)


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
