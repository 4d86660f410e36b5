"""Into WAITING and out of it: the record and its entry in a lane change in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fencepost.application.admission.context import Context
from fencepost.application.admission.lanes import at, encode_entry, place
from fencepost.application.moves import Moved, moved, rewritten
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Committed,
    Delete,
    InvalidWriteError,
    Lost,
    OutcomeUnknownError,
    Put,
    StoreBusyError,
    StoreError,
    Update,
    Won,
    equals,
    every,
)
from fencepost.domain.judgement import started
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState, Move

TRANSIENT = (StoreBusyError, OutcomeUnknownError)


def commit(context: Context, before: Execution, after: Moved, *extra: Action) -> Won | Lost:
    """Writes a change of `before` together with its place in a lane, and `extra`, all or nothing.

    Every write that finds or makes a record WAITING goes through here. `Lost.item` is the record as it is. A
    conflict or a throttle is tried again, with jitter; then StoreBusyError (nothing was written), or
    OutcomeUnknownError where one of the tries got no answer.
    """
    write = _where_it_waits(before, after.write)
    actions = (write, *_places(before, after.record), *extra)
    if len(actions) == 1:
        return context.store.write(write)
    match _transact(context, actions):
        case Committed():
            return Won()
        case Cancelled(reasons) if reasons[0].cause is Cause.CONDITION:
            return Lost(reasons[0].item)
        case Cancelled():
            return Lost(context.store.get(after.write.key))


def _where_it_waits(before: Execution, write: Update) -> Update:
    """A WAITING record must still wait in the lane whose entry goes with it."""
    if place(before) is None or before.lane is None:
        return write
    return replace(write, condition=every(write.condition, equals("lane", before.lane)))


def _places(before: Execution, after: Execution) -> tuple[Action, ...]:
    """Where the old place is given up and where the new one is taken."""
    old, new = place(before), place(after)
    if old == new:
        return ()
    given_up = () if old is None else (Delete(key=old),)
    return given_up if new is None else (*given_up, Put(key=new, item=encode_entry(after)))


def _transact(context: Context, actions: Sequence[Action]) -> Committed | Cancelled:
    token = context.entropy.token()  # so that a repeat after no answer is the same transaction
    failure: StoreError = StoreBusyError("the transaction was in conflict or throttled each time")
    for attempt in range(context.limits.conflict_tries):
        _pause(context, attempt)
        try:
            outcome = context.store.transact(actions, token)
        except OutcomeUnknownError as error:
            failure = error
            continue
        except StoreBusyError:
            continue
        if isinstance(outcome, Committed) or not outcome.transient:
            return _understood(outcome)
    raise failure


def _understood(outcome: Committed | Cancelled) -> Committed | Cancelled:
    if isinstance(outcome, Cancelled) and all(r.cause is not Cause.CONDITION for r in outcome.reasons):
        raise InvalidWriteError(
            f"the store refuses the transaction: {[str(r.cause) for r in outcome.reasons]}"
        )
    return outcome


def _pause(context: Context, attempt: int) -> None:
    """Full jitter under a doubling bound; none before the first try."""
    if attempt:
        bound = context.limits.conflict_wait * 2 ** (attempt - 1)
        context.clock.sleep(bound * context.entropy.fraction())


def enter(
    context: Context, record: Execution, lane: str, *beside: Action, note: str | None = None
) -> Execution | None:
    """`record` waiting in `lane`, moved there with `beside` if it has to be; None where the race for it is lost."""
    if record.state is ExecutionState.WAITING and record.lane == lane:
        return record
    waits = record.state is ExecutionState.WAITING
    changes: dict[str, Any] = {"lane": lane} | ({} if note is None else {"note": note})
    if record.waited_from is None and not started(record):
        changes["waited_from"] = context.clock.now()
    change = rewritten(record, **changes) if waits else moved(record, Move.JOIN, **changes)
    return change.record if isinstance(commit(context, record, change, *beside), Won) else None


def reserved_slot(context: Context, record: Execution) -> str | None:
    """The slot that waits for a WAITING record, by its entry; it may be somebody else's by now."""
    key = place(record)
    entry = None if key is None else at(context, key)
    return None if entry is None else entry.slot
