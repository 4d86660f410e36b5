"""Which kind of fault met which move in a history.

The columns are the arrows of the state tables. A fault that strikes a call meets the moves that the call would make;
one that leaves a part of a batch out meets those of whoever was left with it. A trouble of another kind meets the moves
that are made while it lasts: by a task whose message was repeated, late or out of order, on a host whose clock is askew,
in a minute whose tick went wrong, of a job whose target misbehaved in the last minutes. What an owner does meets the
move beside which it was sprung.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

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
    """The invocation of which a task is a thread; a request is none of many."""
    if task is None:
        return ""
    return task.name if task.name.startswith("api-") else task.name.partition(".")[0]


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
