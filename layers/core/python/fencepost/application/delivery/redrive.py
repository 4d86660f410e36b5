"""A dead execution back to the queue, by its owner's wish; and a run now, outside of the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from fencepost.application.delivery.dead_letters import dead_letter_removed
from fencepost.application.delivery.records import redriven
from fencepost.application.delivery.tools import Tools
from fencepost.application.idempotency import RequestKey, mark
from fencepost.application.planting import wake_timer
from fencepost.application.store import Action, StoreBusyError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_ms
from fencepost.domain.judgement import started
from fencepost.domain.model import Caller, Execution, Job, Origin, Tier
from fencepost.domain.states import ExecutionState, JobState

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Redriven:
    """It is on its way again: same identity and body, its budget anew, a larger fence at its next lease."""

    record: Execution


@dataclass(frozen=True, slots=True)
class OnItsWay:
    """The same caller redrove it already, and it has not begun: nothing was changed."""

    record: Execution


@dataclass(frozen=True, slots=True)
class NotDead:
    """Only what is DEAD can be redriven; it is in `state`."""

    state: ExecutionState


@dataclass(frozen=True, slots=True)
class JobDeleted:
    """Nothing of a deleted job begins any more."""


@dataclass(frozen=True, slots=True)
class NoSuchExecution:
    """The team has none of this id."""


RedriveAnswer: TypeAlias = Redriven | OnItsWay | NotDead | JobDeleted | NoSuchExecution


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """One per process."""

    tools: Tools

    def one(
        self,
        caller: Caller,
        team: str,
        identity: ExecutionId,
        now: datetime,
        key: RequestKey | None = None,
    ) -> RedriveAnswer:
        """DEAD to QUEUED, its dead letter gone and a timer planted, in one transaction; then sent (protocol A1). The
        transaction marks `key`, the request's, as done.

        Raises StoreError when a repeat may help.
        """
        marks = () if key is None else (mark(key, {"execution": str(identity)}),)
        for _ in range(ROUNDS):
            record = self.tools.reads.record(identity)
            if record is None or record.team != team:
                return NoSuchExecution()
            if record.state is not ExecutionState.DEAD:
                return OnItsWay(record) if _redriven_by(caller, record) else NotDead(record.state)
            job = self.tools.reads.job(identity.uid)
            if job is None or job.state is JobState.DELETED:
                return JobDeleted()
            again = self._moved(record, caller, now, marks)
            if again is not None:
                return Redriven(again)
        raise StoreBusyError(f"{identity}: others keep moving it")

    def _moved(
        self, record: Execution, caller: Caller, now: datetime, marks: tuple[Action, ...]
    ) -> Execution | None:
        after = redriven(record, caller.principal)
        at, limits = floor_ms(now), self.tools.limits
        timer = self.tools.commit_with_timer(
            record,
            after,
            lambda moment: wake_timer(after.record, at, now=moment, limits=limits),
            dead_letter_removed(record),
            *marks,
        )
        if timer is None:
            return None
        self.tools.hand_over(after.record, timer)
        return after.record


def _redriven_by(caller: Caller, record: Execution) -> bool:
    """Whether the record waits for what this caller's redrive asked for: it was tried before, and has not begun since."""
    waits = record.state in {ExecutionState.QUEUED, ExecutionState.WAITING} and record.attempt == 0
    redriven_so = record.tier is Tier.RECOVERY and started(record)  # or it died without any attempt
    return waits and redriven_so and record.actor == caller.principal


@dataclass(frozen=True, slots=True)
class Started:
    """The run of the request key; `repeated` says that an earlier request had started it."""

    record: Execution
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNow:
    """One per process."""

    tools: Tools

    def start(self, job: Job, request_key: str, caller: Caller, now: datetime) -> Started:
        """Puts the run of `request_key` if it is absent, with a timer, in one transaction; then sends it.

        The same key names the same run, however often it is asked for. Raises StoreError when a repeat may help.
        """
        moment = floor_ms(now)
        record = Execution(
            id=ExecutionId.run_now(job.uid, request_key),
            team=job.team,
            job=job.name,
            state=ExecutionState.QUEUED,
            origin=Origin.RUN_NOW,
            tier=job.tier,
            due=moment,
            generation=job.generation,
            planted_generation=job.generation,
            claim_id=self.tools.entropy.token(),
            claimed_at=moment,
            overlap=job.overlap,
            actor=caller.principal,
        )
        limits = self.tools.limits
        timer = self.tools.create_with_timer(
            record, lambda at: wake_timer(record, moment, now=at, limits=limits)
        )
        if timer is not None:
            self.tools.hand_over(record, timer)
            return Started(record)
        there = self.tools.reads.record(record.id)
        if there is None:
            raise StoreBusyError(f"{record.id}: it was there, and is not")
        return Started(there, repeated=True)
