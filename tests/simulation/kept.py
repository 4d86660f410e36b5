"""What a campaign has judged so far, in a file: one that was broken off goes on behind it.

The first line holds the code's fingerprint; each other one tells of a seed that was good, with what met what in it and
which functions it ran. Nothing is kept of bad ones, which are judged anew. Where the code has changed since, those are
judged anew that ran what changed, and the file as it was is set aside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.simulation.coverage import COLUMNS, ROWS
from tests.simulation.fingerprint import FUNCTION, Prints, fingerprint, touched
from tests.simulation.trail import bits
from tests.simulation.verdict import Verdict

BATCH = 50
"""How many seeds are written at once: so many are lost at most."""


class Kept:
    """The good verdicts of `path`, and those that come to them."""

    def __init__(self, path: Path, prints: Prints | None = None) -> None:
        self._path = path
        self._prints = fingerprint() if prints is None else prints
        self._waiting: list[Verdict] = []
        lines = path.read_text().splitlines() if path.exists() else []
        before: dict[str, str] | None = json.loads(lines[0]) if lines else None
        self._seeds = [json.loads(line) for line in lines[1:]]
        if before == self._prints:
            return
        if before is not None:
            path.rename(path.with_suffix(".before"))
            self._seeds = _still(self._seeds, before, self._prints)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(_line(each) for each in (dict(self._prints), *self._seeds)))

    def verdicts(self, seeds: Iterable[int]) -> list[Verdict]:
        """What is known of these seeds."""
        wanted = frozenset(seeds)
        return [_read(told) for told in self._seeds if told["seed"] in wanted]

    def add(self, verdict: Verdict) -> None:
        """Kept with the next batch."""
        if not verdict.violations:
            self._waiting.append(verdict)
        if len(self._waiting) >= BATCH:
            self.write()

    def write(self) -> None:
        """Writes what waits."""
        with self._path.open("a") as file:
            file.writelines(_line(_told(each)) for each in self._waiting)
        self._waiting = []


def _still(seeds: list[dict[str, Any]], before: Prints, now: Prints) -> list[dict[str, Any]]:
    """The seeds of other code that did not run what has changed, their functions numbered anew."""
    changed = touched(before, now)
    if changed is None:
        return []
    names, numbers = _functions(before), {name: number for number, name in enumerate(_functions(now))}
    gone = bits(number for number, name in enumerate(names) if name in changed)
    return [
        told | {"ran": _renumbered(told["ran"], names, numbers)}
        for told in seeds
        if told["ran"] is not None and not int(told["ran"], 16) & gone
    ]


def _functions(prints: Prints) -> list[str]:
    """In the order of their numbers, as `trail.numbers` has it."""
    return sorted(key.removeprefix(f"{FUNCTION} ") for key in prints if key.startswith(f"{FUNCTION} "))


def _renumbered(ran: str, names: list[str], numbers: Mapping[str, int]) -> str:
    marks = bin(int(ran, 16))[:1:-1]
    return f"{bits(numbers[name] for name, mark in zip(names, marks, strict=False) if mark == '1'):x}"


def _line(told: Mapping[str, Any]) -> str:
    return json.dumps(told, separators=(",", ":")) + "\n"


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "seed": verdict.seed,
        "profile": verdict.profile,
        "firings": verdict.firings,
        "faults": verdict.faults,
        "steps": verdict.steps,
        "cells": {
            str(ROWS.index(row) * len(COLUMNS) + COLUMNS.index(column)): count
            for (row, column), count in verdict.cells.items()
        },
        "ran": None if verdict.ran is None else f"{verdict.ran:x}",
    }


def _read(told: Mapping[str, Any]) -> Verdict:
    cells = {
        (ROWS[number // len(COLUMNS)], COLUMNS[number % len(COLUMNS)]): count
        for number, count in ((int(number), count) for number, count in told["cells"].items())
    }
    return Verdict(
        seed=told["seed"],
        profile=told["profile"],
        violations=(),
        firings=told["firings"],
        faults=told["faults"],
        steps=told["steps"],
        cells=Counter(cells),
        ran=None if told["ran"] is None else int(told["ran"], 16),
    )
