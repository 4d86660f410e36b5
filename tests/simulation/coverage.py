"""Which kind of fault met which move: the matrix that a campaign prints, and the cells that cannot be.

The columns are the arrows of the state tables. A fault that strikes a call meets the moves that the call would make;
one that leaves a part of a batch out meets those of whoever was left with it. A trouble of another kind meets the moves
that are made while it lasts: by a task whose message was repeated, late or out of order, on a host whose clock is askew,
in a minute whose tick went wrong, of a job whose target misbehaved in the last minutes. What an owner does meets the
move beside which it was sprung.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tests.simulation.faults import Kind
from tests.simulation.journal import ANSWER, SPRUNG, STRUCK, WRITE, Entry
from tests.simulation.kernel import MINUTE, SECOND, Task
from tests.simulation.labels import ARROWS, JOB_ARROWS, arrow_of, label
from tests.simulation.mix import OPS
from tests.simulation.world import History

Cell = tuple[str, str]
UNPROCESSED = Kind.UNPROCESSED.value
BOUNDARY = tuple(kind.value for kind in Kind)
MAIL = ("duplicated", "delayed", "redelivered", "reordered")
TICKS = ("tick missing", "tick late", "tick doubled", "tick bunched")
TARGETS = ("target fails", "target hangs", "target answers late", "target lies", "target takes over")
OTHERS = ("skew", "torn read")
OWNERS = tuple(f"owner: {what}" for what in OPS)
ROWS = (*BOUNDARY, *MAIL, *TICKS, *TARGETS, *OTHERS, *OWNERS)
COLUMNS = (*ARROWS, *JOB_ARROWS)
FULL = 20_000
"""From so many histories on, a cell that nothing met is a fault of the campaign."""
ASKEW = SECOND // 4
LASTS = 15 * MINUTE
"""How long after a target misbehaved its job's moves are counted as met by that."""
CONSUMERS = frozenset({"scan", "deliver", "pump", "dead"})
_ANSWERS = {
    "fail": "target fails",
    "busy": "target fails",
    "never": "target fails",
    "hang": "target hangs",
    "late": "target answers late",
    "lie": "target lies",
    "accept": "target takes over",
}


class Impossible(NamedTuple):
    """Cells that cannot be, and why."""

    rows: frozenset[str]
    columns: frozenset[str]
    why: str


def _columns(*moves: str) -> frozenset[str]:
    """The arrows of these moves, or these arrows."""
    return frozenset(each for each in COLUMNS if each in moves or each.partition(" ")[0] in moves)


IMPOSSIBLE = (
    Impossible(
        frozenset(MAIL),
        _columns("create", "edit", "pause", "resume", "delete", "redrive"),
        "requests and the tick make it, which no queue brings",
    ),
    Impossible(
        frozenset({UNPROCESSED}),
        _columns("create", "edit", "pause", "delete", "redrive", "resume ERROR"),
        "the request that makes it asks for nothing in a batch before it",
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


def report(cells: Mapping[Cell, int]) -> Iterator[str]:
    """The matrix for people: a digit tells the order of magnitude, 1 for less than 10; ``.`` is empty, ``-`` impossible."""
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
    surprising = [cell for cell, count in cells.items() if count and impossible(cell) is not None]
    yield from (f"  met, though it cannot be: {row} x {column}" for row, column in surprising)


def _shown(count: int, cell: Cell) -> str:
    if count:
        return str(min(9, len(str(count))))
    return "." if impossible(cell) is None else "-"


def cells_of(history: History) -> Counter[Cell]:
    """How often which fault met which move in a history."""
    return _Reader(history).cells()


class _Reader:
    """Goes through a journal once."""

    def __init__(self, history: History) -> None:
        self._entries = history.journal.entries
        self._ticks = _Ticks(history)
        self._reordered = "reordered" in history.plan.odds
        self._answers: dict[str, dict[str, int]] = defaultdict(dict)
        self._partly: set[str] = set()

    def cells(self) -> Counter[Cell]:
        """See `cells_of`."""
        cells: Counter[Cell] = Counter()
        columns = frozenset(COLUMNS)
        for entry in self._entries:
            kind = entry[0]
            if kind == WRITE:
                if entry[4] in {"executions", "jobs"} and entry[3] is not None:
                    cells.update(self._around(entry))
            elif kind == STRUCK:
                if entry[4] == UNPROCESSED:
                    self._partly.add(_errand(entry[3]))
                cells.update((entry[4], word) for word in entry[5] if word in columns)
            elif kind == SPRUNG:
                cells.update((f"owner: {entry[4]}", word) for word in entry[5] if word in columns)
            elif kind == ANSWER and entry[5] in _ANSWERS:
                self._answers[entry[4].execution[:20]][_ANSWERS[entry[5]]] = entry[1]
        return cells

    def _around(self, entry: Entry) -> Iterator[Cell]:
        """The troubles that surround a write which is a move."""
        _, at, _, task, table, pk, sk, old, new, _ = entry
        move = arrow_of(label(table, pk, sk, old, new), old)
        if move is None:
            return
        for tag in task.tags:
            yield tag, move
        if self._reordered and task.host.kind in CONSUMERS:
            yield "reordered", move
        if abs(task.host.skew) >= ASKEW:
            yield "skew", move
        if task.torn:
            yield "torn read", move
        if self._partly and _errand(task) in self._partly:
            yield UNPROCESSED, move
        for trouble in self._ticks.at(at):
            yield trouble, move
        for trouble, since in self._answers.get(pk.removeprefix("J#"), {}).items():
            if at - since <= LASTS:
                yield trouble, move


def _errand(task: Task | None) -> str:
    """The invocation of which a task is a thread."""
    return "" if task is None else task.name.partition(".")[0]


class _Ticks:
    """When ticks were missing, and which tick came last."""

    def __init__(self, history: History) -> None:
        self._ticks = sorted(history.ticks)
        self._place = 0

    def at(self, instant: int) -> Iterator[str]:
        """To be asked in the order of time."""
        while self._place < len(self._ticks) and self._ticks[self._place][0] <= instant:
            self._place += 1
        if not self._place:
            return
        last, kind = self._ticks[self._place - 1]
        following = self._ticks[self._place][0] if self._place < len(self._ticks) else instant
        if kind != "normal":
            yield f"tick {kind}"
        if following - last > 2 * MINUTE or instant - last > 2 * MINUTE:
            yield "tick missing"
