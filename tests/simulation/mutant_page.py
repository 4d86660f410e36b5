"""The page of the mutants: what each takes away, and how many seeds it took until somebody noticed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.simulation.hunt import LIMIT, Catch
from tests.simulation.mutants import Mutant
from tests.simulation.mutations import MUTANTS

NOT_HUNTED = "not hunted yet"
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


def missing() -> tuple[str, ...]:
    """The mutants that the page shows neither as caught nor as rightly surviving; those that were never hunted first."""
    known = rows(page((), LIMIT, PAGE.read_text() if PAGE.exists() else ""))
    never = [mutant.name for mutant in MUTANTS if known[mutant.name]["seeds"] == NOT_HUNTED]
    alive = [
        mutant.name
        for mutant in MUTANTS
        if not mutant.equivalent and known[mutant.name]["seeds"].startswith("survived")
    ]
    return (*never, *alive)


def page(catches: Iterable[Catch], limit: int, before: str = "") -> str:
    """The page with `catches`; what was not hunted keeps the row of `before`."""
    kept: Mapping[str, re.Match[str]] = rows(before)
    hunted = {catch.mutant.name: _row(catch, limit) for catch in catches}
    lines = [hunted.get(mutant.name) or _kept(mutant, kept.get(mutant.name)) for mutant in MUTANTS]
    return HEAD + "\n".join(lines) + "\n"


def write(catches: Iterable[Catch], limit: int) -> None:
    """Writes the page anew."""
    PAGE.write_text(page(catches, limit, PAGE.read_text() if PAGE.exists() else ""))


def begins(mutant: Mutant) -> str:
    """What the row of a mutant says of it, whatever became of it."""
    letters = ", ".join(mutant.bites) or "none"
    return f"| {mutant.name} | `{mutant.module}` | {mutant.profile or 'the mix'} | {letters} |"


def _kept(mutant: Mutant, before: re.Match[str] | None) -> str:
    """What is known of one that was not hunted now; nothing where it was hunted elsewhere."""
    text = "" if before is None else before.group(0)
    return text if text.startswith(begins(mutant)) else f"{begins(mutant)} {NOT_HUNTED} |  |"


def _row(catch: Catch, limit: int) -> str:
    seeds = f"survived {limit:,}" if catch.seeds is None else f"{catch.seeds:,}"
    noticed = re.sub(r"[a-z2-7]{20}(-[srbz]-[0-9a-f-]+)?|\d{10,}", "...", catch.noticed).replace("|", "/")[
        :90
    ]
    return f"{begins(catch.mutant)} {seeds} | {noticed} |"
