"""After an attempt that was not the last word: another one later, or the end of the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.records import WITHOUT_LEASE
from fencepost.application.delivery.results import Acknowledge, Disposition, Facts, Raced, facts_of
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import moved
from fencepost.domain.attempts import closed, passed_over
from fencepost.domain.model import Execution, Job, RetryPolicy, Team
from fencepost.domain.outcome import CircuitOpen, Outcome, WorkerLost
from fencepost.domain.retry import Again, Never, after_failure
from fencepost.domain.states import Move


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """One per process. `Raced` everywhere: somebody else moved the record first."""

    tools: Tools
    finish: Finish
    endings: Endings

    def failed(
        self, record: Execution, outcome: Outcome, team: Team, job: Job | None, facts: Facts | None = None
    ) -> Disposition | Raced:
        """Closes the running attempt of `record` (the one of its fence) with `outcome`."""
        now = self.tools.clock.now()
        changes = {
            "attempts": closed(record, outcome, at=now),
            "losses": record.losses + isinstance(outcome, WorkerLost),
        }
        verdict = self.verdict(record.attempt, outcome, job, now)
        if isinstance(verdict, Never):
            return self.endings.dead(
                record, Move.DIE, team, job, facts=facts, reason=verdict.reason, **changes
            )
        return self._later(record, Move.RETRY, verdict, team, facts, changes)

    def deferred(self, record: Execution, team: Team, job: Job, not_before: datetime) -> Disposition | Raced:
        """The target's circuit is open: an attempt that called nobody, counted all the same."""
        now = self.tools.clock.now()
        outcome = CircuitOpen()
        kept = passed_over(record, outcome, at=now, keep=self.tools.limits.attempts_kept)
        changes = {
            "attempts": kept.attempts,
            "attempts_dropped": kept.dropped,
            "attempt": record.attempt + 1,
        }
        facts = replace(facts_of(record), outcome=outcome.kind.value)
        verdict = self.verdict(record.attempt + 1, outcome, job, now, not_before)
        if isinstance(verdict, Never):
            return self.endings.dead(
                record, Move.GIVE_UP, team, job, facts=facts, reason=verdict.reason, **changes
            )
        return self._later(record, Move.DEFER, verdict, team, facts, changes)

    def verdict(
        self,
        attempt: int,
        outcome: Outcome,
        job: Job | None,
        now: datetime,
        not_before: datetime | None = None,
    ) -> Again | Never:
        """What the job's policy says; the default one where the job is gone."""
        policy = RetryPolicy() if job is None else job.retry
        fraction = self.tools.entropy.fraction()
        return after_failure(policy, attempt, outcome, now=now, fraction=fraction, not_before=not_before)

    def _later(
        self,
        record: Execution,
        move: Move,
        again: Again,
        team: Team,
        facts: Facts | None,
        changes: dict[str, Any],
    ) -> Disposition | Raced:
        released = {**WITHOUT_LEASE, "retry_at": again.at}
        after = moved(record, move, **{**released, **changes})
        held = self.finish.giving_up(record)
        if not self.tools.commit(record, after, insist=True):
            return Raced(f"{move} lost")
        self.finish.freed(held, team)
        self.tools.rearm(after.record, again.at)
        return Acknowledge(why=again.why, facts=facts or facts_of(after.record))
