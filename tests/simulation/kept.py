"""What a campaign has judged so far, in a file: one that was broken off goes on behind it, on the code as it is.

The first line tells of which code; each other line of so many seeds that were good. Nothing is kept of bad ones, which
are judged anew. A file of other code is set aside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from tests.simulation import profiles
from tests.simulation.coverage import COLUMNS, ROWS, Cell
from tests.simulation.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
LINE = 50
"""How many seeds a line tells of: so many are lost at most."""
_CODE = ("layers/core/python/fencepost/**/*.py", "tests/simulation/*.py", "tests/simulation/checkers/*.py")
_ASIDE = frozenset(
    {"profiles.py", "profiles_upkeep.py", "mutants.py", "mutant_page.py", "hunt.py", "kept.py", "__main__.py"}
)
"""What does not decide how a history of the mix goes; of the profiles only those of the mix do."""


def code() -> str:
    """A digest of everything that decides how the histories of the drawn mix go."""
    paths = sorted(path for pattern in _CODE for path in ROOT.glob(pattern))
    digest = sha256(repr({name: profiles.PROFILES[name] for name in profiles.MIX}).encode())
    digest.update(repr(dict(profiles.MIX)).encode())
    for path in paths:
        if path.name not in _ASIDE and not path.name.startswith("test_"):
            digest.update(f"\n{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Kept:
    """The good verdicts of `path`, and those that come to them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[Verdict] = []
        head = {"code": code()}
        lines = path.read_text().splitlines() if path.exists() else []
        if lines and json.loads(lines[0]) != head:
            path.rename(path.with_suffix(f".{json.loads(lines[0])['code']}"))
            lines = []
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(head) + "\n")
        self._lines = lines[1:]

    def verdicts(self, seeds: Iterable[int]) -> list[Verdict]:
        """What is known of these seeds; the cells of a line are its first verdict's."""
        wanted = frozenset(seeds)
        found = [verdict for line in self._lines for verdict in _read(line)]
        return [verdict for verdict in found if verdict.seed in wanted]

    def add(self, verdict: Verdict) -> None:
        """Kept with the next line."""
        if not verdict.violations:
            self._waiting.append(verdict)
        if len(self._waiting) >= LINE:
            self.write()

    def write(self) -> None:
        """Writes what waits for its line."""
        if self._waiting:
            with self._path.open("a") as file:
                file.write(_told(self._waiting) + "\n")
            self._waiting = []


def _told(verdicts: list[Verdict]) -> str:
    cells: Counter[Cell] = Counter()
    for verdict in verdicts:
        cells.update(verdict.cells)
    numbers = {
        ROWS.index(row) * len(COLUMNS) + COLUMNS.index(column): n for (row, column), n in cells.items()
    }
    seeds = [
        [verdict.seed, verdict.profile, verdict.firings, verdict.faults, verdict.steps]
        for verdict in verdicts
    ]
    return json.dumps({"seeds": seeds, "cells": numbers}, separators=(",", ":"))


def _read(line: str) -> list[Verdict]:
    told = json.loads(line)
    cells = Counter(
        {
            (ROWS[number // len(COLUMNS)], COLUMNS[number % len(COLUMNS)]): n
            for number, n in ((int(number), n) for number, n in told["cells"].items())
        }
    )
    return [
        Verdict(
            seed=seed,
            profile=profile,
            violations=(),
            firings=firings,
            faults=faults,
            steps=steps,
            cells=Counter() if place else cells,
        )
        for place, (seed, profile, firings, faults, steps) in enumerate(told["seeds"])
    ]
