"""The ways in which an execution ends, each one write; its duties follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.application.delivery.dead_letters import dead_letter_put
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.records import WITHOUT_LEASE
from fencepost.application.delivery.results import Acknowledge, Disposition, Facts, Raced
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import Moved, finished, while_leased
from fencepost.application.planting import wake_timer
from fencepost.application.store import Action
from fencepost.domain.instants import floor_ms
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.states import ExecutionState, Move, Reason

DEATHS = frozenset({Move.DIE, Move.GIVE_UP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A move to make. `in_hand`: a message comes back if it is not finished; without one, the move's own transaction
    plants a timer that stands in for it (protocol A1). `facts` are those of the attempt that led here. `lapsed`: it
    is nobody's word, but the end of the lease, which must still be the end that was read.
    """

    record: Execution
    move: Move
    team: Team
    job: Job | None
    changes: Mapping[str, Any] = field(default_factory=dict)
    facts: Facts | None = None
    in_hand: bool = True
    lapsed: bool = False

    def guarded(self, after: Moved) -> Moved:
        """`after`, with what has to hold besides."""
        return while_leased(self.record, after) if self.lapsed else after


@dataclass(frozen=True, slots=True, kw_only=True)
class Endings:
    """One per process. `Raced` everywhere: somebody else moved the record first."""

    tools: Tools
    finish: Finish

    def cancelled(
        self, record: Execution, reason: Reason, team: Team, job: Job | None
    ) -> Disposition | Raced:
        """It may not begin, or not go on."""
        changes = {"reason": reason}
        return self.end(Change(record=record, move=Move.CANCEL, team=team, job=job, changes=changes))

    def skipped(self, record: Execution, reason: Reason, team: Team, job: Job) -> Disposition | Raced:
        """Its owner wants it left out."""
        changes = {"reason": reason}
        return self.end(Change(record=record, move=Move.SKIP_OVERLAP, team=team, job=job, changes=changes))

    def undeliverable(self, record: Execution, note: str, team: Team, job: Job | None) -> Disposition | Raced:
        """It cannot be delivered, whoever tries: dead, with a note that says why."""
        changes = {"reason": Reason.UNDELIVERABLE, "note": note}
        return self.end(
            Change(
                record=record,
                move=Move.GIVE_UP,
                team=team,
                job=job,
                changes=changes,
                in_hand=has_message(record),
            )
        )

    def end(self, change: Change) -> Disposition | Raced:
        """Makes the final move, a death together with its dead letter; then pays the duties."""
        now = self.tools.clock.now()
        given_up = {**WITHOUT_LEASE, "retry_at": None, **change.changes}
        record, retention = change.record, change.team.retention
        moved = change.guarded(finished(record, change.move, now=now, retention=retention, **given_up))
        held = self.finish.giving_up(record)
        letter = (dead_letter_put(moved.record),) if change.move in DEATHS else ()
        if not change.in_hand:
            return self._by_itself(change, moved, letter, held)
        if not self.tools.commit(record, moved, *letter, insist=change.move is Move.DIE):
            return Raced(f"{change.move} lost")
        if held is not record:
            self.finish.freed(held, change.team)
        return self.finish.run(moved.record, change.team, change.job, change.facts)

    def _by_itself(
        self, change: Change, moved: Moved, letter: tuple[Action, ...], held: Execution
    ) -> Disposition | Raced:
        """The timer goes when the duties are paid; if they are not, it wakes somebody who pays them."""
        at, limits = floor_ms(self.tools.clock.now()), self.tools.limits
        timer = self.tools.commit_with_timer(
            change.record, moved, lambda now: wake_timer(moved.record, at, now=now, limits=limits), *letter
        )
        if timer is None:
            return Raced(f"{change.move} lost")
        if held is not change.record:
            self.finish.freed(held, change.team)
        paid = self.finish.run(moved.record, change.team, change.job, change.facts)
        if isinstance(paid, Acknowledge):
            self.tools.forget(timer)
        return paid


def has_message(record: Execution) -> bool:
    """Whether a message in hand is sure to come back for `record` if it is not acknowledged.

    Not while it waits: another hand of the same message may have seen it wait, and acknowledged it, since its entry in
    the backlog wakes it.
    """
    return record.state is not ExecutionState.WAITING
