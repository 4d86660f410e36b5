"""What a campaign has judged so far, in a file: one that was broken off goes on behind it.

The first line holds the code's fingerprint; each other one tells of a seed that was good, with what met what in it and
which functions it ran. Nothing is kept of bad ones, which are judged anew. Where the code has changed since, those are
judged anew that ran what changed, and the file as it was is set aside. One named ``.xz`` is compressed.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

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
        lines = _lines(path) if path.exists() else []
        before: dict[str, str] | None = json.loads(lines[0]) if lines else None
        self._seeds = [json.loads(line) for line in lines[1:]]
        if before == self._prints:
            return
        if before is not None:
            path.rename(path.with_suffix(".before"))
            self._seeds = _still(self._seeds, before, self._prints)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path, "wt") as file:
            file.writelines(_line(each) for each in (dict(self._prints), *self._seeds))

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
        with _opened(self._path, "at") as file:
            file.writelines(_line(_told(each)) for each in self._waiting)
        self._waiting = []


def _lines(path: Path) -> list[str]:
    with _opened(path, "rt") as file:
        return list(file)


def _opened(path: Path, mode: str) -> IO[Any]:
    return lzma.open(path, mode) if path.suffix == ".xz" else path.open(mode)


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
        "cells": sorted(
            ROWS.index(row) * len(COLUMNS) + COLUMNS.index(column) for row, column in verdict.cells
        ),
        "ran": None if verdict.ran is None else f"{verdict.ran:x}",
    }


def _read(told: Mapping[str, Any]) -> Verdict:
    cells = [(ROWS[number // len(COLUMNS)], COLUMNS[number % len(COLUMNS)]) for number in told["cells"]]
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
