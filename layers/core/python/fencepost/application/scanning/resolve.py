"""What a lost claim means: mine after all, somebody else's, or an occurrence that a newer generation takes over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fencepost.application import keys, moves
from fencepost.application.codec import decode_execution
from fencepost.application.scanning.handover import HandOver
from fencepost.application.scanning.plan import Claim, Stamp, beside, never_claimed
from fencepost.application.scanning.report import ScanReport
from fencepost.application.store import (
    Action,
    Cancelled,
    Check,
    Item,
    Lost,
    Present,
    Store,
    StoreError,
    equals,
    every,
)
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job, Origin, Timer
from fencepost.domain.states import ExecutionState, Move, Reason

ADOPTABLE = frozenset({ExecutionState.QUEUED, ExecutionState.WAITING, ExecutionState.RETRY_WAIT})
"""The last one: put off by its host's limits before it began."""
REOPENED = frozenset(
    {
        (ExecutionState.CANCELLED, Reason.SUPERSEDED),
        (ExecutionState.CANCELLED, Reason.PAUSED),
        (ExecutionState.SKIPPED, Reason.EXCLUDED),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Settles what the group's transaction could not. Everything it writes is a compare-and-set of its own."""

    store: Store
    handover: HandOver
    limits: Limits
    next_pass: timedelta = timedelta(seconds=60)

    def resolve(self, claim: Claim, item: Item | None, now: datetime, report: ScanReport) -> Claim | None:
        """The claim to hand over, if this lost one turns out to be ours; None where it was settled or left."""
        if item is None:
            report.left += 1
            return None
        there = decode_execution(item)
        if there.claim_id == claim.record.claim_id and there.planted_generation == claim.timer.generation:
            return replace(claim, record=there)
        if there.planted_generation < claim.timer.generation:
            return self._succeed(claim, there, report)
        report.lost += 1
        self._second(there, claim.timer, now, report)
        return None

    def _second(self, there: Execution, timer: Timer, now: datetime, report: ScanReport) -> None:
        """Somebody else claimed it. Their hand-over is repeated only where they seem to have died (protocol F2)."""
        if there.state is not ExecutionState.QUEUED or there.attempt:
            self.handover.records([(_as_final(there), timer)], report)
        elif now - there.claimed_at > self.limits.resend_after or there.wake_at - now < self.next_pass:
            self.handover.records([(there, timer)], report)

    def _succeed(self, claim: Claim, there: Execution, report: ScanReport) -> Claim | None:
        """Protocol B5: old and new schedule share this instant. Adopt what has not begun; plant, once.

        A record that is not adopted says nothing of what else the claim had missed: that is the next one's to decide.
        """
        runs = claim.record.state is ExecutionState.QUEUED
        adopts = runs and _adoptable(there)
        if adopts:
            moved = moves.adopted(there, claim.record)
        else:
            moved = moves.succession_noted(there, claim.record)
            claim = claim if claim.record.until is None else beside(claim, there)
        once = every(moved.write.condition, equals("planted", there.planted_generation))
        # A pass that stood still may find that the timer was settled with its job, and the record left as it was.
        waits = Check(key=keys.timer(claim.timer), condition=Present())
        actions: list[Action] = [replace(moved.write, condition=once), waits]
        if claim.succession is not None:
            actions.append(claim.succession)
        try:
            outcome = self.store.transact(actions)
        except StoreError:
            outcome = None
        if outcome is None or isinstance(outcome, Cancelled):
            report.left += 1
            return None
        report.adopted += 1
        record = moved.record if adopts else _as_final(moved.record)
        return replace(claim, record=record)

    def supersede(self, timer: Timer, job: Job, reason: Reason, stamp: Stamp, report: ScanReport) -> None:
        """Protocol B6: settle the execution of a superseded timer, then drop the timer."""
        record = never_claimed(timer, job, reason, stamp)
        try:
            outcome = self.store.write(moves.created(record, Move.SETTLE))
            if isinstance(outcome, Lost) and outcome.item is not None:
                settled = self._cancel(decode_execution(outcome.item), timer, reason, stamp)
            else:
                settled = not isinstance(outcome, Lost)
        except StoreError:
            settled = False
        if not settled:
            report.left += 1
            return
        report.superseded += 1
        self.handover.records([(record, timer)], report)

    def _cancel(self, there: Execution, timer: Timer, reason: Reason, stamp: Stamp) -> bool:
        """Cancels a queued record of the timer's generation; true when the timer may go."""
        mine = there.generation == timer.generation and there.origin is Origin.SCHEDULE
        if not mine or there.state is not ExecutionState.QUEUED or there.attempt:
            return True
        moved = moves.cancelled(there, reason, now=stamp.now, retention=stamp.retention())
        return not isinstance(self.store.write(moved.write), Lost)


def _adoptable(there: Execution) -> bool:
    if there.attempt or there.fence:
        return False
    return there.state in ADOPTABLE or (there.state, there.reason) in REOPENED


def _as_final(record: Execution) -> Execution:
    """A stand-in that needs no message: only its timer is left to delete. What was skipped may still have to be told."""
    skipped = record.state is ExecutionState.SKIPPED
    return record if skipped else replace(record, state=ExecutionState.CANCELLED)
