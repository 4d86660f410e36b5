"""The moves that only delivery makes, each with exactly the facts that it changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application.moves import Moved, expiry, finished, moved, while_put_off
from fencepost.application.store import Lacks, equals, every
from fencepost.domain.attempts import begun, closed
from fencepost.domain.keeping import success_kept_until
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job, Team, Tier
from fencepost.domain.outcome import Outcome
from fencepost.domain.states import ExecutionState, Move

WITHOUT_LEASE = {"lease_until": None, "run_until": None, "watch": None, "lane": None}
"""What ends with a lease. `slot` stays: it says what may still have to be given back, and where to look next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to act: computed once, before lock and slot are taken, and written unchanged (protocol E3)."""

    fence: int
    until: datetime
    begun: datetime


def leased(before: Execution, lease: Lease, *, slot: str, detail: str, limits: Limits) -> Moved:
    """One more attempt begins. The first one pins what is sent and where: no edit reaches the second (D5).

    A lease out of WAITING has a watch, as a message and as a timer: what is in hand may be one that another hand, which
    saw it wait, has acknowledged.
    """
    kept = begun(before, fence=lease.fence, at=lease.begun, keep=limits.attempts_kept)
    lease_taken = moved(
        before,
        Move.LEASE,
        **{
            **WITHOUT_LEASE,
            "fence": lease.fence,
            "lease_until": lease.until,
            "watch": lease.fence if before.state is ExecutionState.WAITING else None,
            "slot": slot,
            "detail": before.detail or detail,
            "hint": None,
            "attempt": before.attempt + 1,
            "attempts": kept.attempts,
            "attempts_dropped": kept.dropped,
            "started_at": before.started_at or lease.begun,
            "retry_at": None,
            "host_wait": None,
            "replants": 0,
        },
    )
    return while_put_off(before, lease_taken)


def succeeded(before: Execution, outcome: Outcome, *, now: datetime, team: Team, job: Job | None) -> Moved:
    """The target took it, or reported that its work is done. The record of a success may be kept for less than the
    team's retention; of a job that is not there any more it is not.
    """
    attempts = closed(before, outcome, at=now)
    until = expiry(before.due, now, team.retention)
    if job is not None:
        until = success_kept_until(before, now, until, team, job)
    ending = {**WITHOUT_LEASE, "attempts": attempts, "expires_at": until}
    return finished(before, Move.SUCCEED, now=now, retention=team.retention, **ending)


def redriven(before: Execution, actor: str) -> Moved:
    """Back to the queue, on the recovery tier, with its budget anew; what was pinned stays pinned.

    Only while `told` is as it was read: a death that is noted as told in this moment would be taken for the next one.
    """
    again = moved(
        before,
        Move.REDRIVE,
        tier=Tier.RECOVERY,
        attempt=0,
        losses=0,
        replants=0,
        told=False,
        note=None,
        host_wait=None,
        not_before=None,
        actor=actor,
    )
    as_read = equals("told", True) if before.told else Lacks("told")  # noqa: FBT003 - a value to compare with
    return replace(again, write=replace(again.write, condition=every(again.write.condition, as_read)))
