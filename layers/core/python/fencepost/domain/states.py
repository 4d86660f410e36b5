"""The states of executions and jobs, and the only moves between them.

`docs/states.md` draws these tables; a test holds the drawing to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ExecutionState(StrEnum):
    """Where one firing stands. The first four are unfinished: each has a durable wake-up."""

    QUEUED = "QUEUED"
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    RETRY_WAIT = "RETRY_WAIT"
    SUCCEEDED = "SUCCEEDED"
    DEAD = "DEAD"
    SKIPPED = "SKIPPED"
    CANCELLED = "CANCELLED"


FINAL = frozenset(
    {ExecutionState.SUCCEEDED, ExecutionState.DEAD, ExecutionState.SKIPPED, ExecutionState.CANCELLED}
)
NOT_RUNNING = frozenset({ExecutionState.QUEUED, ExecutionState.WAITING, ExecutionState.RETRY_WAIT})


class Reason(StrEnum):
    """Why an execution was skipped, cancelled or declared dead."""

    MISFIRE = "misfire"
    PAUSED = "paused"
    EXCLUDED = "excluded"
    OVERLAP = "overlap"
    RESTORED = "restored"
    SUPERSEDED = "superseded"
    DELETED = "deleted"
    BACKFILL_CANCELLED = "backfill_cancelled"
    BUDGET_SPENT = "budget_spent"
    REFUSED = "refused"
    UNDELIVERABLE = "undeliverable"


class Move(StrEnum):
    """Every change of an execution's state, by name."""

    CLAIM = "claim"
    SKIP_AT_CLAIM = "skip_at_claim"
    SETTLE = "settle"
    JOIN = "join"
    LEASE = "lease"
    DEFER = "defer"
    SKIP_OVERLAP = "skip_overlap"
    SKIP_HELD = "skip_held"
    CANCEL = "cancel"
    GIVE_UP = "give_up"
    SUCCEED = "succeed"
    RETRY = "retry"
    DIE = "die"
    REDRIVE = "redrive"
    ADOPT = "adopt"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table: from which states, to which one. No source means that the record is created."""

    sources: frozenset[ExecutionState]
    destination: ExecutionState


S = ExecutionState
TRANSITIONS: dict[Move, Transition] = {
    Move.CLAIM: Transition(frozenset(), S.QUEUED),
    Move.SKIP_AT_CLAIM: Transition(frozenset(), S.SKIPPED),
    Move.SETTLE: Transition(frozenset(), S.CANCELLED),
    Move.JOIN: Transition(frozenset({S.QUEUED, S.RETRY_WAIT}), S.WAITING),
    Move.LEASE: Transition(NOT_RUNNING, S.RUNNING),
    Move.DEFER: Transition(NOT_RUNNING, S.RETRY_WAIT),
    Move.SKIP_OVERLAP: Transition(NOT_RUNNING, S.SKIPPED),
    Move.SKIP_HELD: Transition(NOT_RUNNING, S.SKIPPED),
    Move.CANCEL: Transition(NOT_RUNNING, S.CANCELLED),
    Move.GIVE_UP: Transition(NOT_RUNNING, S.DEAD),
    Move.SUCCEED: Transition(frozenset({S.RUNNING}), S.SUCCEEDED),
    Move.RETRY: Transition(frozenset({S.RUNNING}), S.RETRY_WAIT),
    Move.DIE: Transition(frozenset({S.RUNNING}), S.DEAD),
    Move.REDRIVE: Transition(frozenset({S.DEAD}), S.QUEUED),
    Move.ADOPT: Transition(frozenset({S.CANCELLED, S.SKIPPED}), S.QUEUED),
}


class IllegalMoveError(Exception):
    """A move that the table does not have was asked for. This is a bug in Fencepost, never a lost race."""


def destination(move: Move, source: ExecutionState | None) -> ExecutionState:
    """The state that `move` leads to from `source` (None: no record yet). Raises IllegalMoveError."""
    row = TRANSITIONS[move]
    if (source is None) != (not row.sources) or (source is not None and source not in row.sources):
        raise IllegalMoveError(f"{move} is not a move from {source or 'nothing'}")
    return row.destination


class JobState(StrEnum):
    """What a standing order is doing. `COMPLETED` is shown for an exhausted job whose last firing is over."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"
    DELETED = "DELETED"


class JobMove(StrEnum):
    """Every change of a job's state, by name."""

    PAUSE = "pause"
    RESUME = "resume"
    FAIL = "fail"
    DELETE = "delete"
    COMPLETE = "complete"
    EDIT = "edit"


J = JobState
JOB_TRANSITIONS: dict[JobMove, dict[JobState, JobState]] = {
    JobMove.PAUSE: {J.ACTIVE: J.PAUSED, J.COMPLETED: J.PAUSED, J.ERROR: J.PAUSED},
    JobMove.RESUME: {J.PAUSED: J.ACTIVE, J.ERROR: J.ACTIVE},
    JobMove.FAIL: {J.ACTIVE: J.ERROR},
    JobMove.COMPLETE: {J.ACTIVE: J.COMPLETED},
    JobMove.EDIT: {J.ACTIVE: J.ACTIVE, J.PAUSED: J.PAUSED, J.COMPLETED: J.ACTIVE, J.ERROR: J.ERROR},
    JobMove.DELETE: {J.ACTIVE: J.DELETED, J.PAUSED: J.DELETED, J.COMPLETED: J.DELETED, J.ERROR: J.DELETED},
}


def job_destination(move: JobMove, source: JobState) -> JobState | None:
    """The state that `move` leads to, or None where a caller asked for a move that this state does not have."""
    return JOB_TRANSITIONS[move].get(source)
