"""The matrix of what met what has the tables' own arrows, says of each empty cell why, and is counted from histories."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.simulation import coverage, matrix
from tests.simulation.draw import plan_of
from tests.simulation.labels import EXECUTION_MOVES, JOBS_MOVES
from tests.simulation.mix import OPS
from tests.simulation.profiles import PROFILES
from tests.simulation.world import simulate

STATES = Path(__file__).parents[2] / "docs" / "states.md"
ARROW = re.compile(r"^    (\S+) --> \S+: (\w+)$", re.MULTILINE)
DRAWN_ELSEWHERE = {"create"}
"""The tables begin with a job that is there."""


def drawn(section: str) -> set[tuple[str, str]]:
    text = STATES.read_text().partition(f"## {section}")[2].partition("```\n")[0]
    return {(move, "" if source == "[*]" else source) for source, move in ARROW.findall(text)}


def arrows_of(moves: dict[str, tuple[str, ...]]) -> set[tuple[str, str]]:
    return {(move, source) for move, sources in moves.items() for source in sources or ("",)}


def test_the_columns_are_the_arrows_of_the_tables():
    assert arrows_of(dict(EXECUTION_MOVES)) == drawn("Execution")
    assert {each for each in arrows_of(dict(JOBS_MOVES)) if each[0] not in DRAWN_ELSEWHERE} == drawn("Job")


def test_every_operation_that_a_profile_draws_has_a_row():
    for profile in PROFILES.values():
        assert set(profile.op_weights) <= set(OPS)


def test_a_cell_is_empty_where_nothing_met_unless_it_cannot_be():
    nothing: Counter[coverage.Cell] = Counter()
    missing = set(matrix.empty(nothing))
    assert ("crash_before", "lease QUEUED") in missing
    assert ("duplicated", "create") not in missing
    assert ("crash_before", "lease QUEUED") not in matrix.empty({("crash_before", "lease QUEUED"): 1})
    assert all(why.why for why in matrix.IMPOSSIBLE)


def test_a_history_meets_what_its_plan_draws():
    cells = coverage.cells_of(simulate(plan_of(1, "generations")))
    rows = {row for row, _ in cells}
    assert any(row.startswith("owner: ") for row in rows)
    assert rows & set(coverage.BOUNDARY)
    assert {column for _, column in cells} <= set(coverage.COLUMNS)
    assert rows <= set(coverage.ROWS)
    assert len(list(matrix.report(cells))) > len(coverage.ROWS)
