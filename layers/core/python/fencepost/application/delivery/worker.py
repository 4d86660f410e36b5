"""What a worker says about long work: still at it, done, or failed. Only the holder of the latest fence is heard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from fencepost.application.admission import Admission
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.long_work import begin_long_work, extend_long_work
from fencepost.application.delivery.records import succeeded
from fencepost.application.delivery.results import Raced
from fencepost.application.delivery.retry import Retries
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import rewritten
from fencepost.application.store import StoreBusyError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import to_wire
from fencepost.domain.model import Execution, LongWork, Team
from fencepost.domain.outcome import EXCERPT_BYTES, Delivered, Failed, OutcomeKind, Refused, clip
from fencepost.domain.outcome import Accepted as AcceptedOutcome
from fencepost.domain.states import ExecutionState

ROUNDS = 5
REPORTED_FAILURES = frozenset({OutcomeKind.FAILED.value, OutcomeKind.REFUSED.value})


@dataclass(frozen=True, slots=True)
class Accepted:
    """It was written down; `record` says until when the lease lasts, or how it ended."""

    record: Execution


@dataclass(frozen=True, slots=True)
class StaleFence:
    """Somebody holds a later fence, `current`: the caller's work is no longer wanted."""

    current: int


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The fence is the latest, but its lease is over, or the execution is in `state` already."""

    state: ExecutionState


@dataclass(frozen=True, slots=True)
class NotFound:
    """The team has no such execution."""


Refusal: TypeAlias = StaleFence | LeaseLost | NotFound
Answer: TypeAlias = Accepted | Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCalls:
    """One per process. `team`: whose execution it has to be. Raises StoreError when a repeat may help.

    A repeat of an accepted call with the same fence is accepted again and changes nothing.
    """

    tools: Tools
    doors: Admission
    finish: Finish
    retries: Retries

    def heartbeat(self, team: str, identity: ExecutionId, fence: int, now: datetime) -> Answer:
        """Extends the lease by the job's own length, up to the longest run; the lease must not be over (D6, D7)."""

        def beat(record: Execution, _: Team) -> Answer | None:
            if record.lease_until is None or record.lease_until <= now:
                return LeaseLost(record.state)
            terms = self._terms(record)
            if record.run_until is None:  # the target is faster than the record of its own answer
                held = begin_long_work(self.tools, self.doors, record, terms, AcceptedOutcome())
            else:
                held = extend_long_work(self.tools, self.doors, record, terms, now)
            return None if held is None else Accepted(held)

        return self._heard(team, identity, fence, beat)

    def complete(self, team: str, identity: ExecutionId, fence: int, result: str, now: datetime) -> Answer:
        """The work is done. Accepted after the lease's end too, until somebody else made a move (D6)."""

        def done(record: Execution, owner: Team) -> Answer | None:
            outcome = Delivered(excerpt=clip(result, EXCERPT_BYTES))
            job = self.tools.reads.job(identity.uid)
            moved = succeeded(record, outcome, now=now, team=owner, job=job)
            if not self.tools.commit(record, moved):
                return None
            self.finish.run(moved.record, owner, job)
            return Accepted(moved.record)

        answer = self._heard(team, identity, fence, done)
        if isinstance(answer, LeaseLost) and answer.state is ExecutionState.SUCCEEDED:
            return self._repeated(identity, answer)
        self._note_refusal(
            identity, fence, answer, f"completion with fence {fence} was refused at {to_wire(now)}"
        )
        return answer

    def fail(
        self,
        team: str,
        identity: ExecutionId,
        fence: int,
        error: str,
        now: datetime,
        *,
        retryable: bool = True,
    ) -> Answer:
        """The work failed: retried by the job's policy, or, not `retryable`, dead. Heard as long as a completion."""
        outcome = Failed(error=clip(error)) if retryable else Refused(error=clip(error))

        def failed(record: Execution, owner: Team) -> Answer | None:
            job = self.tools.reads.job(identity.uid)
            result = self.retries.failed(record, outcome, owner, job, in_hand=False)
            after = None if isinstance(result, Raced) else self.tools.reads.record(identity)
            return None if after is None else Accepted(after)

        answer = self._heard(team, identity, fence, failed)
        if isinstance(answer, LeaseLost) and answer.state in {ExecutionState.RETRY_WAIT, ExecutionState.DEAD}:
            answer = self._repeated(identity, answer)
        self._note_refusal(
            identity, fence, answer, f"failure with fence {fence} was refused at {to_wire(now)}"
        )
        return answer

    def _heard(
        self,
        team: str,
        identity: ExecutionId,
        fence: int,
        act: Callable[[Execution, Team], Answer | None],
    ) -> Answer:
        """Lets `act` write under the fence, again where others wrote in between (it answers None)."""
        for _ in range(ROUNDS):
            record = self.tools.reads.record(identity)
            owner = self.tools.reads.team(team, self.tools.clock.now())
            if record is None or owner is None or record.team != team:
                return NotFound()
            if record.fence != fence:
                return StaleFence(record.fence)
            if record.state is not ExecutionState.RUNNING:
                return LeaseLost(record.state)
            answer = act(record, owner)
            if answer is not None:
                return answer
        raise StoreBusyError(f"{identity}: others keep moving it")

    def _terms(self, record: Execution) -> LongWork:
        job = self.tools.reads.job(record.id.uid)
        return LongWork() if job is None else job.long_work

    def _repeated(self, identity: ExecutionId, answer: LeaseLost) -> Answer:
        """Whether what the caller says is what the record says already, by its own report."""
        record = self.tools.reads.record(identity)
        if record is None or record.state is not answer.state or not record.attempts:
            return answer
        reported = record.attempts[-1].outcome in REPORTED_FAILURES
        return Accepted(record) if record.state is ExecutionState.SUCCEEDED or reported else answer

    def _note_refusal(self, identity: ExecutionId, fence: int, answer: Answer, note: str) -> None:
        """The record shows that somebody came too late, where the fence was ever the record's."""
        if isinstance(answer, Accepted | NotFound):
            return
        record = self.tools.reads.record(identity)
        known = record is not None and any(attempt.fence == fence for attempt in record.attempts)
        if record is not None and known and record.note != note:
            self.tools.commit(record, rewritten(record, note=note))
