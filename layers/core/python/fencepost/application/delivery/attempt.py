"""One attempt under a lease: the call, and what is recorded of it under the fence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import assert_never

from fencepost.application.admission import Admission
from fencepost.application.delivery.circuit import Circuits, Permit
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.long_work import begin_long_work
from fencepost.application.delivery.records import succeeded
from fencepost.application.delivery.results import Acknowledge, Disposition, Facts, Raced, facts_of
from fencepost.application.delivery.retry import Retries
from fencepost.application.delivery.tools import Tools
from fencepost.application.ports import Targets
from fencepost.domain.delivery import Delivery, DeliveryFacts, Sender, render_body
from fencepost.domain.instants import ZERO
from fencepost.domain.model import Detail, Execution, Job, Team
from fencepost.domain.outcome import (
    NOBODY_CALLED,
    Accepted,
    Blocked,
    CircuitOpen,
    Delivered,
    Failed,
    Outcome,
    Refused,
    TimedOut,
    WorkerLost,
)
from fencepost.domain.targets import target_host, target_timeout

TOO_LATE = Failed(error=NOBODY_CALLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that one attempt needs; `record` is the one that was read, later the one that holds the lease. `waited`: for
    a slot or for the job's turn."""

    record: Execution
    job: Job
    team: Team
    detail: Detail
    permit: Permit
    waited: bool = False

    @property
    def host(self) -> str:
        """What shares a circuit."""
        return target_host(self.detail.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """One per process."""

    tools: Tools
    doors: Admission
    targets: Targets
    circuits: Circuits
    finish: Finish
    retries: Retries

    def run(self, case: Case) -> Disposition | Raced:
        """Calls the target of a leased record and records what became of it."""
        left = self.time_left(case.record)
        outcome = TOO_LATE if left <= ZERO else self._call(case, left)
        if left > ZERO:
            self.circuits.note(case.team, case.host, case.permit, outcome, self.tools.clock.now())
        first = case.record.attempts[-1].number == 1
        facts = facts_of(case.record, outcome=outcome.kind.value, first=first)
        return self._record(case, outcome, replace(facts, waited=case.waited))

    def time_left(self, record: Execution) -> timedelta:
        """What the holder may use of its lease: it stops before the end, by the margin that clocks need."""
        until = record.lease_until or record.due
        return until - self.tools.limits.holder_stops - self.tools.clock.now()

    def _call(self, case: Case, left: timedelta) -> Outcome:
        record, sent_at = case.record, self.tools.clock.now()
        identity = str(record.id)
        body = render_body(case.detail.payload, execution_id=identity, due=record.due)
        facts = DeliveryFacts(
            execution_id=identity,
            team=record.team,
            job=record.job,
            due=record.due,
            attempt=record.attempts[-1].number,
            fence=record.fence,
            body=body,
        )
        target = case.detail.target
        delivery = Delivery(facts=facts, target=target, sender=Sender.of(case.team), sent_at=sent_at)
        return self.targets.call(delivery, timeout=min(target_timeout(target), left))

    def _record(self, case: Case, outcome: Outcome, facts: Facts) -> Disposition | Raced:
        match outcome:
            case Delivered():
                return self._succeeded(case, outcome, facts)
            case Accepted():
                return self._accepted(case, outcome, facts)
            case Failed() | Refused() | TimedOut() | Blocked() | CircuitOpen() | WorkerLost():
                return self.retries.failed(case.record, outcome, case.team, case.job, facts)
            case _:
                assert_never(outcome)

    def _succeeded(self, case: Case, outcome: Outcome, facts: Facts) -> Disposition | Raced:
        now = self.tools.clock.now()
        moved = succeeded(case.record, outcome, now=now, team=case.team, job=case.job)
        if not self.tools.commit(case.record, moved, insist=True):
            return Raced("the outcome came too late for its fence")
        return self.finish.run(moved.record, case.team, case.job, facts)

    def _accepted(self, case: Case, outcome: Outcome, facts: Facts) -> Disposition | Raced:
        held = begin_long_work(self.tools, self.doors, case.record, case.job.long_work, outcome)
        if held is None:
            return Raced("the outcome came too late for its fence")
        return Acknowledge(why="the target works on, and its lease is watched", facts=facts)
