"""The ways in which an execution ends, each one write; its duties follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.application.delivery.dead_letters import dead_letter_put
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.records import WITHOUT_LEASE
from fencepost.application.delivery.results import Disposition, Facts, Raced, facts_of
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import finished
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.states import Move, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Endings:
    """One per process. `Raced` everywhere: somebody else moved the record first."""

    tools: Tools
    finish: Finish

    def cancelled(
        self, record: Execution, reason: Reason, team: Team, job: Job | None
    ) -> Disposition | Raced:
        """It may not begin, or not go on."""
        return self._end(record, Move.CANCEL, team, job, reason=reason)

    def skipped(self, record: Execution, reason: Reason, team: Team, job: Job) -> Disposition | Raced:
        """Its owner wants it left out."""
        return self._end(record, Move.SKIP_OVERLAP, team, job, reason=reason)

    def undeliverable(self, record: Execution, note: str, team: Team, job: Job | None) -> Disposition | Raced:
        """It cannot be delivered, whoever tries: dead, with a note that says why."""
        return self.dead(record, Move.GIVE_UP, team, job, reason=Reason.UNDELIVERABLE, note=note)

    def dead(
        self,
        record: Execution,
        move: Move,
        team: Team,
        job: Job | None,
        *,
        facts: Facts | None = None,
        **changes: Any,
    ) -> Disposition | Raced:
        """DEAD and its dead letter, in one transaction; then the dead-letter queue."""
        return self._end(record, move, team, job, facts=facts, **changes)

    def _end(
        self,
        record: Execution,
        move: Move,
        team: Team,
        job: Job | None,
        *,
        facts: Facts | None = None,
        **changes: Any,
    ) -> Disposition | Raced:
        now = self.tools.clock.now()
        given_up = {**WITHOUT_LEASE, "retry_at": None}
        moved = finished(record, move, now=now, retention=team.retention, **{**given_up, **changes})
        letter = () if move not in {Move.DIE, Move.GIVE_UP} else (dead_letter_put(moved.record),)
        held = self.finish.giving_up(record)
        if not self.tools.commit(record, moved, *letter, insist=move is Move.DIE):
            return Raced(f"{move} lost")
        if held is not record:
            self.finish.freed(held, team)
        return self.finish.run(moved.record, team, job, facts or facts_of(moved.record))
