"""Which kind of fault met which move: the matrix that a campaign prints, and the cells that cannot be.

A fault that strikes a call meets the moves that the call would make. A trouble of another kind meets the moves that
are made while it lasts: by a task whose message was repeated or late, on a host whose clock is askew, in a minute whose
tick went wrong, after a target misbehaved. An owner's operation meets the move beside which it was sprung.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tests.simulation.faults import Kind
from tests.simulation.journal import ANSWER, SPRUNG, STRUCK, WRITE, Entry
from tests.simulation.kernel import MINUTE, SECOND
from tests.simulation.labels import JOB_MOVES, MOVES, label
from tests.simulation.world import History

Cell = tuple[str, str]
BOUNDARY = tuple(kind.value for kind in Kind)
MAIL = ("duplicated", "delayed", "redelivered")
TICKS = ("tick missing", "tick late", "tick doubled", "tick bunched")
TARGETS = ("target fails", "target hangs", "target answers late", "target lies", "target takes over")
OTHERS = ("skew", "torn read")
ALL_MOVES = (*MOVES, *JOB_MOVES)
ASKEW = SECOND // 4
_ANSWERS = {
    "fail": "target fails",
    "busy": "target fails",
    "never": "target fails",
    "hang": "target hangs",
    "late": "target answers late",
    "lie": "target lies",
    "accept": "target takes over",
}


def cells_of(history: History) -> Counter[Cell]:
    """How often which fault met which move in a history."""
    cells: Counter[Cell] = Counter()
    answers: dict[str, set[str]] = defaultdict(set)
    ticks = _Ticks(history)
    for entry in history.journal.entries:
        kind = entry[0]
        if kind == WRITE:
            for trouble in _around(entry, answers, ticks):
                cells[trouble] += 1
        elif kind == STRUCK:
            cells.update((entry[4], word) for word in entry[5])
        elif kind == SPRUNG:
            cells.update((f"owner: {entry[4]}", word) for word in entry[5])
        elif kind == ANSWER and entry[5] in _ANSWERS:
            answers[entry[4].execution].add(_ANSWERS[entry[5]])
    return Counter({cell: count for cell, count in cells.items() if cell[1] in ALL_MOVES})


def _around(entry: Entry, answers: Mapping[str, set[str]], ticks: _Ticks) -> Iterator[Cell]:
    """The troubles that surround a write which is a move."""
    _, at, _, task, table, pk, sk, old, new, _ = entry
    if table not in {"executions", "jobs"} or task is None:
        return
    move = label(table, pk, sk, old, new)
    if move not in ALL_MOVES:
        return
    for tag in task.tags:
        yield tag, move
    if abs(task.host.skew) >= ASKEW:
        yield "skew", move
    if task.torn:
        yield "torn read", move
    for trouble in ticks.at(at):
        yield trouble, move
    if table == "executions":
        for trouble in answers.get(f"{pk}-{sk.replace('#', '-', 1)}", ()):
            yield trouble, move


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
