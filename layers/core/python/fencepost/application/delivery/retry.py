"""After an attempt that was not the last word: another one later, or the end of the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application.delivery.endings import Change, Endings, has_message
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
        self,
        record: Execution,
        outcome: Outcome,
        team: Team,
        job: Job | None,
        facts: Facts | None = None,
        *,
        in_hand: bool = True,
    ) -> Disposition | Raced:
        """Closes the running attempt of `record` (the one of its fence) with `outcome`."""
        now = self.tools.clock.now()
        changes = {
            "attempts": closed(record, outcome, at=now),
            "losses": record.losses + isinstance(outcome, WorkerLost),
        }
        verdict = self._verdict(record.attempt, outcome, job, now)
        move = Move.DIE if isinstance(verdict, Never) else Move.RETRY
        change = Change(
            record=record,
            move=move,
            team=team,
            job=job,
            changes=changes,
            facts=facts,
            in_hand=in_hand,
            lapsed=isinstance(outcome, WorkerLost),
        )
        return self._follow(change, verdict)

    def deferred(self, record: Execution, team: Team, job: Job, not_before: datetime) -> Disposition | Raced:
        """The target's circuit is open: an attempt that called nobody, counted all the same."""
        now, outcome = self.tools.clock.now(), CircuitOpen()
        kept = passed_over(record, outcome, at=now, keep=self.tools.limits.attempts_kept)
        changes = {
            "attempts": kept.attempts,
            "attempts_dropped": kept.dropped,
            "attempt": record.attempt + 1,
        }
        verdict = self._verdict(record.attempt + 1, outcome, job, now, not_before)
        move = Move.GIVE_UP if isinstance(verdict, Never) else Move.DEFER
        facts = facts_of(record, outcome=outcome.kind.value)
        change = Change(
            record=record,
            move=move,
            team=team,
            job=job,
            changes=changes,
            facts=facts,
            in_hand=has_message(record),
        )
        return self._follow(change, verdict)

    def _verdict(
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

    def _follow(self, change: Change, verdict: Again | Never) -> Disposition | Raced:
        if isinstance(verdict, Never):
            changes = {**change.changes, "reason": verdict.reason}
            return self.endings.end(replace(change, changes=changes))
        return self._later(change, verdict)

    def _later(self, change: Change, again: Again) -> Disposition | Raced:
        """RETRY_WAIT; then the slot, for others are waiting; then the wake-up, before the message in hand goes."""
        record = change.record
        later = {**WITHOUT_LEASE, "retry_at": again.at, **change.changes}
        after = change.guarded(moved(record, change.move, **later))
        in_hand = change.in_hand
        if not self.finish.waits(record, after, change.team, again.at, in_hand=in_hand, insist=in_hand):
            return Raced(f"{change.move} lost")
        facts = change.facts or facts_of(record)
        return Acknowledge(why=again.why, facts=replace(facts, state=after.record.state))
