"""What is wrong with one record, whatever stands beside it: times, fences, budget, duties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from fencepost.domain.auditing.findings import FindingKind, Findings, about
from fencepost.domain.auditing.history import JobHistory
from fencepost.domain.instants import to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution
from fencepost.domain.outcome import OutcomeKind
from fencepost.domain.states import ExecutionState, Reason

SKEW = timedelta(seconds=2)
"""How far a clock may be off: the published bound."""
LAPSE = timedelta(minutes=10)
"""How long past its lease an execution may still be shown running before that is a finding: whoever judges leases had
every chance."""
OVERDUE = timedelta(hours=1)
"""The same for what should have begun, and for a dead letter that should have been told."""
_AT_REST = frozenset({ExecutionState.QUEUED, ExecutionState.RETRY_WAIT})
UNCALLED = frozenset({OutcomeKind.CIRCUIT_OPEN.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When the audit looks, and by which constants."""

    now: datetime
    limits: Limits


def alone(record: Execution, history: JobHistory, moment: Moment) -> Findings:
    """Everything that the record itself shows."""
    yield from _times(record, moment)
    yield from _fences(record)
    yield from _ending(record)
    yield from _budget(record, history, moment)
    yield from _duties(record, moment)


def by_hand(records: Iterable[Execution], history: JobHistory, moment: Moment) -> Findings:
    """Runs by hand and backfills: nobody expects them, but they keep their word like the others."""
    for record in records:
        yield from alone(record, history, moment)


def _times(record: Execution, moment: Moment) -> Findings:
    if record.started_at is not None and record.started_at < record.due - SKEW:
        says = f"began at {to_wire(record.started_at)}, before it was due at {to_wire(record.due)}"
        yield about(record, FindingKind.EARLY, says)
    lease = record.lease_until
    if record.state is ExecutionState.RUNNING and lease is not None and moment.now - lease > LAPSE:
        says = f"is still running on a lease that ended at {to_wire(lease)}"
        yield about(record, FindingKind.LAPSED, says)
    if record.state in _AT_REST and moment.now - record.wake_at > OVERDUE:
        says = f"has been {record.state} since {to_wire(record.wake_at)}, and nobody came for it"
        yield about(record, FindingKind.STALLED, says)


def _fences(record: Execution) -> Findings:
    """Every holder's fence is larger than the one before; an attempt that called nobody repeats the last."""
    for earlier, later in pairwise(record.attempts):
        repeats = later.outcome in UNCALLED and later.fence == earlier.fence
        if later.fence <= earlier.fence and not repeats:
            says = f"attempt {later.number} had fence {later.fence}, after {earlier.fence}"
            yield about(record, FindingKind.FENCE_FELL, says)
    last = record.attempts[-1].fence if record.attempts else 0
    if record.fence < last:
        yield about(
            record, FindingKind.FENCE_FELL, f"its fence is {record.fence}, below that of an attempt, {last}"
        )


def _ending(record: Execution) -> Findings:
    """Exactly one attempt was accepted, and it is the last: then, and only then, the execution succeeded."""
    accepted = [attempt for attempt in record.attempts if attempt.outcome == OutcomeKind.DELIVERED.value]
    if len(accepted) > 1:
        yield about(record, FindingKind.DOUBLED, f"{len(accepted)} of its attempts were accepted")
    succeeded = record.state is ExecutionState.SUCCEEDED
    if succeeded and (not record.attempts or record.attempts[-1] not in accepted):
        yield about(record, FindingKind.NOT_ALLOWED, "succeeded without an attempt that was accepted")
    if accepted and not succeeded:
        yield about(record, FindingKind.NOT_ALLOWED, f"is {record.state}, though an attempt was accepted")


def _budget(record: Execution, history: JobHistory, moment: Moment) -> Findings:
    known = history.terms_between(record.claimed_at - SKEW, record.ended_at or moment.now)
    most, least = (choose(terms.max_attempts for terms in known) for choose in (max, min))
    if record.attempt > most:
        says = f"made {record.attempt} attempts; the job allows {most}"
        yield about(record, FindingKind.OVER_BUDGET, says)
    if record.reason is Reason.BUDGET_SPENT and record.attempt < least:
        says = f"is dead for want of a budget after {record.attempt} attempts; the job allows {least}"
        yield about(record, FindingKind.NOT_ALLOWED, says)


def _duties(record: Execution, moment: Moment) -> Findings:
    dead, ended = record.state is ExecutionState.DEAD, record.ended_at
    if dead and not record.told and ended is not None and moment.now - ended > OVERDUE:
        says = f"died at {to_wire(ended)}, and no dead-letter queue has heard of it"
        yield about(record, FindingKind.UNTOLD, says)
    if record.final and record.expires_at is None:
        yield about(record, FindingKind.WRONG_EXPIRY, "is over and will never be deleted")
    if not record.final and record.expires_at is not None:
        says = f"is not over, and will be deleted at {to_wire(record.expires_at)}"
        yield about(record, FindingKind.WRONG_EXPIRY, says)
