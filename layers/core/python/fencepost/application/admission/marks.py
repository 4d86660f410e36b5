"""Marks: which lanes of a team somebody may wait in. The tick pumps every team that has one.

A mark is taken down in two steps, so that no crash can leave somebody waiting in a lane without one: it is dimmed,
the lane is read again, and only a mark that is still dimmed by this hand is deleted. Whoever joins makes a dimmed
mark bright again.
"""

from __future__ import annotations

from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import lanes
from fencepost.application.admission.context import Context
from fencepost.application.codec import VERSION
from fencepost.application.memory import Memory
from fencepost.application.store import (
    Action,
    Delete,
    Lost,
    Present,
    Put,
    Query,
    Table,
    Update,
    equals,
    items,
)
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState

BACKLOG = "B#"
OVERLAP = "O#"


def _item(now: datetime) -> dict[str, int]:
    return {"v": VERSION, "since": to_ms(now)}


class Marks:
    """The marks of all teams; which backlog lanes of a team are marked is remembered for at most a second."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._backlogs: Memory[tuple[str, ...]] = Memory(context.limits.backlog_memory, lock=context.lock)

    def backlog_lanes(self, team: str, now: datetime) -> tuple[str, ...]:
        """The marked backlog lanes of `team`, as they were at most a second ago."""
        return self._backlogs.once(team, now, lambda: self._read(team, BACKLOG))

    def read_backlog_lanes(self, team: str, now: datetime) -> tuple[str, ...]:
        """The marked backlog lanes of `team`, read now."""
        return self._backlogs.keep(team, self._read(team, BACKLOG), now)

    def read_overlap_lanes(self, team: str) -> tuple[str, ...]:
        """The marked lanes of jobs of `team` whose firings wait for each other, read now."""
        return self._read(team, OVERLAP)

    def put_up(self, team: str, lane: str, now: datetime) -> bool:
        """Marks `lane` after somebody joined it; whether it had no mark. A read decides, since it costs less than a
        refused write and a storm joins one lane many times."""
        key = keys.mark(team, lane)
        item = self._context.store.get(key)
        if item is not None and "dim" not in item:
            return False
        self._context.store.write(Put(key=key, item=_item(now)))
        self._backlogs.forget(team)
        return item is None

    def beside_move(self, record: Execution, lane: str, now: datetime) -> tuple[Action, ...]:
        """The mark of `lane`, for the transaction in which a record that waits in another one moves there: between two
        writes nothing would wake it, since the message that moves it may be one that another hand took away.
        """
        if record.state is not ExecutionState.WAITING or record.lane == lane:
            return ()
        self._backlogs.forget(record.team)
        return (Put(key=keys.mark(record.team, lane), item=_item(now)),)

    def take_down(self, team: str, lane: str) -> bool:
        """Takes away the mark of a lane that was found empty; whether it is gone."""
        store, key, hand = self._context.store, keys.mark(team, lane), self._context.entropy.token()
        if isinstance(store.write(Update(key=key, set={"dim": hand}, condition=Present())), Lost):
            return True
        mine = equals("dim", hand)
        if not lanes.empty(self._context, lane):
            store.write(Update(key=key, remove=("dim",), condition=mine))
            return False
        self._backlogs.forget(team)
        return not isinstance(store.write(Delete(key=key, condition=mine)), Lost)

    def _read(self, team: str, kind: str) -> tuple[str, ...]:
        first = keys.mark(team, kind)
        query = Query(table=Table.CONTROL, pk=first.pk, first=first.sk, last=f"{first.sk}~")
        return tuple(str(item["sk"]).partition("|")[2] for item in items(self._context.store, query))
