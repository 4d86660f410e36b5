"""Counts per firing, and the committed file that they may not exceed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.bench.paths import BACKGROUND, PATHS, Ledger

EXPECTED = Path(__file__).with_name("expected.json")
FULL_BATCHES = "success, full batches of one team"
ALONE = "success, alone in its batch"

Counts = Mapping[str, Mapping[str, float]]

# What the design allows: per firing, in full batches of one team and for one alone in its batch.
BUDGET: Counts = {
    FULL_BATCHES: {"calls": 5.0, "write_units": 9.0, "sqs_requests": 0.5},
    ALONE: {"calls": 10.0, "write_units": 9.0},
}


def measured(paths: Iterable[str] | None = None) -> dict[str, Ledger]:
    """The ledgers of all stories, or of these."""
    stories = {**PATHS, **BACKGROUND}
    return {name: stories[name]() for name in (paths or stories)}


def totals(ledgers: Mapping[str, Ledger]) -> dict[str, dict[str, float]]:
    """What a firing uses in all, by path."""
    return {name: ledger.total.rounded() for name, ledger in ledgers.items()}


def expected() -> Counts:
    """The committed counts."""
    counts: Counts = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return counts


def grown(counts: Counts, allowed: Counts) -> list[str]:
    """What is more than allowed, in words; a path that is not allowed for is too much altogether."""
    return [
        f"{path}: {what} {now:g}, allowed {most:g}"
        for path, what, now, most in _pairs(counts, allowed)
        if now > most
    ]


def fallen(counts: Counts, allowed: Counts) -> list[str]:
    """What is less than the committed file says: write it down, so that it cannot grow back."""
    return [
        f"{path}: {what} {now:g}, was {most:g}"
        for path, what, now, most in _pairs(counts, allowed)
        if now < most
    ]


def write(counts: Counts) -> None:
    """Commits to these counts."""
    EXPECTED.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")


def _pairs(counts: Counts, allowed: Counts) -> Iterator[tuple[str, str, float, float]]:
    for path, values in counts.items():
        for what, value in values.items():
            limit = allowed.get(path, {}).get(what, 0.0 if path not in allowed else value)
            yield path, what, value, limit
