"""Carrying out a job write: once, all of it or nothing, within the time in which its timer may still be planted.

A write that loses a race (to another writer, to the shard's watermark) is computed anew with a new now: `until` and
the next occurrence move along (protocol C2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar

from fencepost.application.idempotency import RequestKey, mark
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.registry.job_changes import Change
from fencepost.application.registry.job_writes import Stamp, actions
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.results import Conflict
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Check,
    Committed,
    InvalidWriteError,
    OutcomeUnknownError,
    StoreBusyError,
    StoreError,
)
from fencepost.domain.instants import floor_ms
from fencepost.domain.model import Caller

T = TypeVar("T")
Plan: TypeAlias = Callable[[datetime], Change | T]

TRIES = 20
SAME_AGAIN = 3
_STEP = timedelta(milliseconds=20)
_LONGEST_STEP = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The change took effect at `at`."""

    change: Change
    at: datetime


def commit(
    ports: RegistryPorts, caller: Caller, note: str | None, plan: Plan[T], key: RequestKey | None = None
) -> Done | T | Conflict:
    """Reads, decides and writes by `plan` until it holds; whatever else `plan` returns is the answer. The write marks
    `key`, the request's, as done.

    Conflict if others kept winning, or did it under the same key. Raises StoreBusyError where the store itself was the
    obstacle to the end.
    """
    deadline = ports.clock.now() + ports.limits.writer_gives_up
    raced = False
    for tried in range(TRIES):
        now = floor_ms(ports.clock.now())
        if now >= deadline:
            break
        change = plan(now)
        if not isinstance(change, Change):
            return change
        marks = () if key is None else (mark(key, effect_of(change)),)
        batch = (*marks, *actions(change, Stamp(caller=caller, now=now, note=note), ports.limits))
        outcome = _transact(ports, batch)
        if isinstance(outcome, Committed):
            _claim(ports, change)
            return Done(change=change, at=now)
        raced = _overtaken(batch, outcome)
        if marks and outcome.reasons and outcome.reasons[0].cause is Cause.CONDITION:
            break
        ports.clock.sleep(ports.entropy.fraction() * min(_STEP * 2**tried, _LONGEST_STEP))
    if raced:
        return Conflict(revision=None)
    raise StoreBusyError("the store did not take the write in time")


def effect_of(change: Change) -> dict[str, Any]:
    """What a repeat of the request has to know of what the first one did."""
    return {"uid": change.job.uid, "rev": change.job.revision, "new": change.before is None}


def _transact(ports: RegistryPorts, batch: Sequence[Action]) -> Committed | Cancelled:
    """An answer that did not come is asked for again: with the same token nothing happens twice."""
    token = ports.entropy.token()
    for left in reversed(range(SAME_AGAIN)):
        try:
            return ports.store.transact(batch, token)
        except StoreBusyError:
            return Cancelled(())
        except OutcomeUnknownError:
            if not left:
                raise
    raise AssertionError("the loop returns or raises")


def _overtaken(batch: Sequence[Action], outcome: Cancelled) -> bool:
    """Whether another writer was first (not the proof pass, nor a throttle). Raises InvalidWriteError."""
    if any(reason.cause is Cause.INVALID for reason in outcome.reasons):
        raise InvalidWriteError(f"the store refuses the write of a job: {outcome.reasons}")
    failed = zip(batch, outcome.reasons, strict=False)
    return any(r.cause is Cause.CONDITION and not isinstance(action, Check) for action, r in failed)


def _claim(ports: RegistryPorts, change: Change) -> None:
    """Protocol B9. The write stands whatever happens here: the next scan finds the timer."""
    timer, now = change.timer, ports.clock.now()
    if timer is None or timer.due - now > ports.limits.horizon:
        return
    try:
        ports.claim_now([timer], now)
    except (StoreError, QueueUnavailableError):
        return
