"""The matrix that a campaign prints, of what met what, and the cells that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tests.simulation.coverage import COLUMNS, MAIL, ROWS, TARGETS, UNPROCESSED, Cell

FULL = 20_000
"""From so many histories on, a cell that nothing met is a fault of the campaign."""


class Impossible(NamedTuple):
    """Cells that cannot be, and why."""

    rows: frozenset[str]
    columns: frozenset[str]
    why: str


def _columns(*moves: str) -> frozenset[str]:
    """The arrows of these moves, or these arrows."""
    return frozenset(each for each in COLUMNS if each in moves or each.partition(" ")[0] in moves)


_ASKED_FOR = _columns(
    "create",
    "edit PAUSED",
    "edit COMPLETED",
    "edit ERROR",
    "pause ERROR",
    "delete ACTIVE",
    "delete PAUSED",
    "delete ERROR",
    "redrive",
)
"""What a request does and nobody else, one item after the other: a job is paused after its deaths, and deleted when it
is done, by whoever delivers; and newer rules of time zones look for its timer in a batch.
"""
IMPOSSIBLE = (
    Impossible(
        frozenset(MAIL),
        _ASKED_FOR | _columns("resume", "edit ACTIVE"),
        "requests and the tick make it, which no queue brings",
    ),
    Impossible(
        frozenset({UNPROCESSED}),
        _ASKED_FOR | _columns("resume ERROR"),
        "the request that makes it asks for nothing in a batch before it",
    ),
    Impossible(
        frozenset({"torn read"}),
        _columns("redrive"),
        "the request that makes it reads single items, each of which is as it is",
    ),
    Impossible(
        frozenset(TARGETS),
        _columns("create"),
        "nobody has called the target of a job that is not there yet",
    ),
)


def impossible(cell: Cell) -> str | None:
    """Why nothing can meet in the cell; None where something can."""
    row, column = cell
    return next((each.why for each in IMPOSSIBLE if row in each.rows and column in each.columns), None)


def empty(cells: Mapping[Cell, int]) -> list[Cell]:
    """The cells that nothing met although it could."""
    every = ((row, column) for row in ROWS for column in COLUMNS)
    return [cell for cell in every if not cells.get(cell) and impossible(cell) is None]


def surprising(cells: Mapping[Cell, int]) -> list[Cell]:
    """The cells that something met although it cannot."""
    return [cell for cell, count in cells.items() if count and impossible(cell) is not None]


def report(cells: Mapping[Cell, int]) -> Iterator[str]:
    """The matrix for people: a digit tells in how many histories, 1 for less than 10, 2 for less than 100; ``.`` is empty,
    ``-`` impossible.
    """
    for number, column in enumerate(COLUMNS):
        yield f"  {chr(ord('A') + number // 10)}{number % 10} {column}"
    yield " " * 24 + "".join(chr(ord("A") + number // 10) for number in range(len(COLUMNS)))
    yield " " * 24 + "".join(str(number % 10) for number in range(len(COLUMNS)))
    for row in ROWS:
        line = "".join(_shown(cells.get((row, column), 0), (row, column)) for column in COLUMNS)
        yield f"  {row:22}{line}"
    missing = empty(cells)
    possible = sum(impossible((row, column)) is None for row in ROWS for column in COLUMNS)
    yield f"{possible - len(missing)} of {possible} cells met, {len(missing)} empty"
    for why in dict.fromkeys(each.why for each in IMPOSSIBLE):
        count = sum(impossible((row, column)) == why for row in ROWS for column in COLUMNS)
        yield f"  {count} cannot be: {why}"


def _shown(count: int, cell: Cell) -> str:
    if count:
        return str(min(9, len(str(count))))
    return "." if impossible(cell) is None else "-"
