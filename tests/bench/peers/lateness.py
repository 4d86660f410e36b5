"""From arrivals to figures: who came late by how much at each minute, who never came, who came twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.bench.spike.fleet import percentile

Arrivals = Iterable[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """Milliseconds late; `missing` jobs had no arrival within a minute of their boundary, `doubled` had several."""

    p50: float
    p99: float
    max: float
    missing: int
    doubled: int


def late(arrivals: Arrivals, jobs: int, boundaries: Sequence[float]) -> Late | None:
    """Of `jobs` jobs at each of `boundaries` (epoch seconds); None where nobody came at all."""
    first = dict[tuple[float, str], float]()
    times = Counter[tuple[float, str]]()
    for path, at in sorted(arrivals, key=lambda each: each[1]):
        boundary = at // 60 * 60
        if boundary in boundaries:
            first.setdefault((boundary, path), (at - boundary) * 1000)
            times[boundary, path] += 1
    if not first:
        return None
    values = sorted(first.values())
    return Late(
        p50=percentile(values, 0.5),
        p99=percentile(values, 0.99),
        max=values[-1],
        missing=jobs * len(boundaries) - len(first),
        doubled=sum(count > 1 for count in times.values()),
    )
