"""The transition tables: what is legal, what is not, and that the drawing shows just them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from fencepost.domain.states import (
    FINAL,
    JOB_TRANSITIONS,
    TRANSITIONS,
    ExecutionState,
    IllegalMoveError,
    JobMove,
    JobState,
    Move,
    destination,
    job_destination,
)

PAGE = Path(__file__).parents[2] / "docs" / "states.md"
ARROW = re.compile(r"^ +(\S+) --> (\S+): (\S+)$", re.MULTILINE)


def drawn(title: str) -> set[tuple[str, str, str]]:
    """The arrows under one heading of the page."""
    section = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return {(source, target, move) for source, target, move in ARROW.findall(section)}


def test_the_drawing_of_executions_is_the_table() -> None:
    table = {
        (source.value if source else "[*]", row.destination.value, move.value)
        for move, row in TRANSITIONS.items()
        for source in (row.sources or {None})
    }
    assert drawn("Execution") == table


def test_the_drawing_of_jobs_is_the_table() -> None:
    table = {
        (source.value, target.value, move.value)
        for move, row in JOB_TRANSITIONS.items()
        for source, target in row.items()
    }
    assert drawn("Job") == table


@pytest.mark.parametrize(("move", "source"), list(product(Move, [None, *ExecutionState])))
def test_every_pair_is_a_move_or_an_error(move: Move, source: ExecutionState | None) -> None:
    row = TRANSITIONS[move]
    legal = source in row.sources if row.sources else source is None
    if legal:
        assert destination(move, source) is row.destination
    else:
        with pytest.raises(IllegalMoveError, match=move.value):
            destination(move, source)


def test_only_a_redrive_and_an_adoption_leave_a_final_state() -> None:
    leaving = {move for move, row in TRANSITIONS.items() if row.sources & FINAL}
    assert leaving == {Move.REDRIVE, Move.ADOPT}


def test_E04_every_state_but_deleted_can_be_deleted_and_paused_ones_resumed() -> None:
    for state in set(JobState) - {JobState.DELETED}:
        assert job_destination(JobMove.DELETE, state) is JobState.DELETED
    assert job_destination(JobMove.RESUME, JobState.PAUSED) is JobState.ACTIVE
    assert all(job_destination(move, JobState.DELETED) is None for move in JobMove)


def test_every_state_has_a_row_on_the_page() -> None:
    page = PAGE.read_text()
    assert all(f"| `{state}` |" in page for state in ExecutionState)
