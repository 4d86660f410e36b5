"""The page of the mutants: what each takes away, and how many seeds it took until somebody noticed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.simulation.hunt import LIMIT, Catch
from tests.simulation.mutations import MUTANTS

PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"
HEAD = f"""# Mutants

Each row is a small change of the code, a rule taken away, that the simulator has to notice: by a checker whose letter
is given (`tests/simulation/checkers`), within {LIMIT:,} seeds of the profile. A seed that is bad without the change
does not count. The equivalent one changes nothing that anybody could see, and has to survive. `make sim-mutants
ARGS=--write` hunts them all and writes this page; with `--only WORDS` the other rows stay as they are.

| what is taken away | module | profile | checkers | seeds | noticed first |
|---|---|---|---|---:|---|
"""
_ROW = re.compile(
    r"^\| (?P<name>[^|]+?) \| `(?P<module>[^`]+)` \| .* \| (?P<seeds>[^|]+?) \| (?P<noticed>[^|]*?) \|$"
)


def rows(text: str) -> dict[str, re.Match[str]]:
    """The rows of a page, by name."""
    found = (_ROW.match(line) for line in text.splitlines())
    return {match["name"]: match for match in found if match is not None}


def page(catches: Iterable[Catch], limit: int, before: str = "") -> str:
    """The page with `catches`; what was not hunted keeps the row of `before`."""
    kept: Mapping[str, re.Match[str]] = rows(before)
    hunted = {catch.mutant.name: _row(catch, limit) for catch in catches}
    lines = [
        hunted.get(mutant.name) or kept[mutant.name].group(0)
        for mutant in MUTANTS
        if mutant.name in hunted or mutant.name in kept
    ]
    return HEAD + "\n".join(lines) + "\n"


def write(catches: Iterable[Catch], limit: int) -> None:
    """Writes the page anew."""
    PAGE.write_text(page(catches, limit, PAGE.read_text() if PAGE.exists() else ""))


def _row(catch: Catch, limit: int) -> str:
    mutant = catch.mutant
    seeds = f"survived {limit:,}" if catch.seeds is None else f"{catch.seeds:,}"
    noticed = re.sub(r"[a-z2-7]{20}(-[srbz]-[0-9a-f-]+)?|\d{10,}", "...", catch.noticed).replace("|", "/")[
        :90
    ]
    letters = ", ".join(mutant.bites) or "none"
    return f"| {mutant.name} | `{mutant.module}` | {mutant.profile or 'the mix'} | {letters} | {seeds} | {noticed} |"
