"""What a wake-up finds, judged from the record alone; and whether what is due may still begin.

A wake-up proves nothing: it may be early, late, repeated, or about something long over. So `judge` looks at the
record and the clock, and names the one next step, each with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias, assert_never

from fencepost.domain.instants import ZERO
from fencepost.domain.limits import Limits
from fencepost.domain.model import EndedGeneration, Execution, Job, Origin, Overlap, Tier
from fencepost.domain.states import ExecutionState, JobState, Reason

ENDED_WITH_ITS_FIRINGS = frozenset({Reason.PAUSED, Reason.DELETED})


class Duty(StrEnum):
    """What a final record still owes. Each may be done again without harm."""

    FREE_SLOT = "free_slot"
    RELEASE_LOCK = "release_lock"
    TELL_DEAD_LETTERS = "tell_dead_letters"


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing moves on; `duties` may be left from whoever finished it."""

    duties: tuple[Duty, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Early:
    """Too early to wait in hand: come back after `remaining`."""

    remaining: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Due within a moment: wait `remaining`, then begin."""

    remaining: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class LiveLease:
    """Somebody holds it. Nobody may judge the lease before `until`, `remaining` from now; `watched`: a timer will."""

    until: datetime
    remaining: timedelta
    watched: bool
    why: str


@dataclass(frozen=True, slots=True)
class Lapsed:
    """The holder is lost: its lease and the taker's patience are over."""

    why: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Due, and nobody's."""

    why: str


Step: TypeAlias = Finished | Early | Hold | LiveLease | Lapsed | Ready


def judge(record: Execution, now: datetime, limits: Limits) -> Step:
    """The one next step for `record` at `now`."""
    match record.state:
        case ExecutionState.QUEUED | ExecutionState.WAITING | ExecutionState.RETRY_WAIT:
            return _unstarted(record, record.wake_at - now, limits)
        case ExecutionState.RUNNING:
            return _running(record, now, limits)
        case (
            ExecutionState.SUCCEEDED | ExecutionState.DEAD | ExecutionState.SKIPPED | ExecutionState.CANCELLED
        ):
            return Finished(duties(record), f"it is {record.state}")
        case _:
            assert_never(record.state)


def _unstarted(record: Execution, remaining: timedelta, limits: Limits) -> Step:
    if remaining > limits.hold_at_most:
        return Early(remaining, f"{record.state} until {record.wake_at.isoformat()}")
    if remaining > ZERO:
        return Hold(remaining, f"{record.state} and nearly due")
    return Ready(f"{record.state} and due")


def _running(record: Execution, now: datetime, limits: Limits) -> Step:
    until = judged_at(record, limits)
    if now >= until:
        return Lapsed(f"the lease of fence {record.fence} is over")
    watched = record.watch == record.fence
    return LiveLease(until, until - now, watched, f"fence {record.fence} holds it")


def judged_at(record: Execution, limits: Limits) -> datetime:
    """When a taker may judge the record's lease: past its end, by the patience that clocks need (protocol D4)."""
    return (record.lease_until or record.due) + limits.taker_waits


def duties(record: Execution) -> tuple[Duty, ...]:
    """What a final record may still owe, in the order in which it is paid."""
    owed = (
        (Duty.FREE_SLOT, record.slot is not None),
        (Duty.RELEASE_LOCK, record.overlap is not Overlap.ALLOW),
        (Duty.TELL_DEAD_LETTERS, record.state is ExecutionState.DEAD and not record.told),
    )
    return tuple(duty for duty, due in owed if due)


@dataclass(frozen=True, slots=True)
class Proceed:
    """It may begin."""

    why: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """It may not begin, and the record says why."""

    reason: Reason
    why: str


def started(record: Execution) -> bool:
    """Whether an attempt was ever made, or its owner asked for it after its death: what has started, goes on."""
    return record.fence > 0 or record.attempt > 0 or bool(record.attempts) or _redriven(record)


def _redriven(record: Execution) -> bool:
    """Of the schedule's own firings only those name who asked; of runs now only those travel as recovery."""
    by_hand = record.origin is Origin.RUN_NOW and record.tier is Tier.RECOVERY
    return record.actor is not None and (record.origin is Origin.SCHEDULE or by_hand)


def eligible(record: Execution, job: Job, ended: EndedGeneration | None) -> Proceed | Cancel:
    """Whether an unstarted, waiting or retrying record may go on, by the job as it is now (protocol B3, B4).

    `ended` is the record's own generation where the job has left it behind by more than one; without it the record
    stands, since nobody can show that its generation ended before it was due.
    """
    if job.state is JobState.DELETED:
        return Cancel(Reason.DELETED, "the job was deleted")
    if started(record):
        return Proceed("what has started goes on")
    old = record.generation < job.generation
    scheduled = record.origin is Origin.SCHEDULE
    if job.state is JobState.PAUSED and (scheduled or paused_since(job, record.generation)):
        return Cancel(Reason.PAUSED, "the job was paused before it began")
    if not old or not scheduled:
        return Proceed("its generation is the job's")
    return _by_ended_generation(record, job, ended)


def paused_since(job: Job, generation: int) -> bool:
    """Whether a job was paused after `generation` began. An edit of one that is paused ends a generation, and pauses nothing."""
    if job.state is not JobState.PAUSED or job.generation <= generation:
        return False
    return job.generation - 1 > generation or job.ended_by is not Reason.SUPERSEDED


def _by_ended_generation(record: Execution, job: Job, ended: EndedGeneration | None) -> Proceed | Cancel:
    if record.generation == job.generation - 1:
        until, by = job.ended_until, job.ended_by
    else:
        until, by = (None, None) if ended is None else (ended.until, ended.ended_by)
    nominal = record.id.nominal or record.due
    if by in ENDED_WITH_ITS_FIRINGS:
        return Cancel(by, f"its generation ended ({by}) before it began")
    if until is not None and nominal > until:
        return Cancel(by or Reason.SUPERSEDED, "its generation ended before it was due")
    return Proceed("it was due before its generation ended")
