"""The named writers of an execution's state: each computes the next record and the compare-and-set that writes it.

`moved` is the only way in: it takes the destination from the transition table, sends what differs, and names the
state, generation and fence that it read. A writer that finds the record otherwise has lost, and learns what won.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import differing, encode_execution
from fencepost.application.store import Absent, Condition, Lacks, Put, Update, equals, every
from fencepost.domain.instants import to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution
from fencepost.domain.states import FINAL, ExecutionState, Move, Reason, destination


@dataclass(frozen=True, slots=True)
class Moved:
    """What the record becomes if `write` wins."""

    record: Execution
    write: Update


def created(record: Execution, move: Move) -> Put:
    """The first write of a record: claim, skip at claim, or settle. Lost means that somebody was first."""
    if destination(move, None) is not record.state:
        raise ValueError(f"{move} does not create {record.state}")
    return Put(key=keys.execution(record.id), item=encode_execution(record), condition=Absent())


def brought(record: Execution, before: Execution | None) -> Put:
    """A record as the ledger has it that a restored copy replaces; over nothing but what the copy was read to hold."""
    condition = Absent() if before is None else unchanged(before)
    return Put(key=keys.execution(record.id), item=encode_execution(record), condition=condition)


def unchanged(record: Execution) -> Condition:
    """The record still has the state, generation, fence and count of attempts that were read: an attempt that was put
    off without a call changes none but the last.
    """
    return every(
        equals("state", record.state.value),
        equals("gen", record.generation),
        equals("fence", record.fence),
        equals("attempt", record.attempt),
    )


def while_leased(before: Execution, change: Moved) -> Moved:
    """`change`, only while the lease ends when it did as `before` was read: a heartbeat may have made it longer.

    For whoever judges a lease or sets its end. An outcome needs no more than the fence (protocol D6).
    """
    if before.lease_until is None:
        return change
    same = equals("lease", to_ms(before.lease_until))
    return replace(change, write=replace(change.write, condition=every(unchanged(before), same)))


def while_put_off(before: Execution, change: Moved) -> Moved:
    """`change`, only while the record waits for the instant that was read: one that is put off further, or by another
    wake-up already, differs in nothing else.
    """
    if before.state is not ExecutionState.RETRY_WAIT:
        return change
    same = Lacks("retry") if before.retry_at is None else equals("retry", to_ms(before.retry_at))
    return replace(change, write=replace(change.write, condition=every(change.write.condition, same)))


def moved(before: Execution, move: Move, **changes: Any) -> Moved:
    """`before` after `move`, with `changes`. A move out of a final state takes the expiry away, one out of WAITING
    the lane."""
    state = destination(move, before.state)
    cleared: dict[str, Any] = {}
    if before.state in FINAL:
        cleared = {"expires_at": None, "ended_at": None, "reason": None}
    elif before.state is ExecutionState.WAITING:
        cleared = {"lane": None}
    return rewritten(before, **{**cleared, **changes, "state": state})


def rewritten(before: Execution, **changes: Any) -> Moved:
    """`before` with `changes` that are no move (a heartbeat, a note), under the same conditions."""
    after = replace(before, **changes)
    changed, gone = differing(encode_execution(before), encode_execution(after))
    write = Update(key=keys.execution(before.id), set=changed, remove=gone, condition=unchanged(before))
    return Moved(after, write)


def finished(before: Execution, move: Move, *, now: datetime, retention: timedelta, **changes: Any) -> Moved:
    """A move into a final state: it alone writes the expiry."""
    return moved(
        before, move, **{"ended_at": now, "expires_at": expiry(before.due, now, retention), **changes}
    )


def expiry(due: datetime, ended: datetime, retention: timedelta) -> datetime:
    """When a final record may be deleted: its retention after its end, never before due + 48 h."""
    return max(ended + retention, due + Limits().record_min_life)


def cancelled(before: Execution, reason: Reason, *, now: datetime, retention: timedelta) -> Moved:
    """Superseded, paused, deleted: an execution that has no running attempt ends without one."""
    return finished(before, Move.CANCEL, now=now, retention=retention, reason=reason, retry_at=None)


def adopted(before: Execution, by: Execution) -> Moved:
    """Protocol B5: one instant of two generations is one occurrence, and the newer one takes it over.

    `by` is the record that the newer one would have made: the run stands for all that it missed up to `until`, and is its
    firing. What was cancelled or skipped returns to the queue by its rules; what still is to begin stays where it is.
    """
    taken = _fields(by, "generation", "planted_generation", "until", "ordinal", "tzdata", "offset")
    if before.state in FINAL:
        anew = _fields(by, "due", "not_before", "tier", "overlap", "hint")
        return moved(before, Move.ADOPT, note=None, **taken, **anew)
    return rewritten(before, **taken)


def succession_noted(before: Execution, by: Execution) -> Moved:
    """The record stands as it is; that `by`'s generation planted its successor, and where in its own schedule, is noted."""
    return rewritten(before, **_fields(by, "planted_generation", "ordinal", "offset"))


def _fields(record: Execution, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
