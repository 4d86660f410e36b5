"""Faults at the seam: one call of a port fails, before or after it took effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import TypeVar

from fencepost.adapters.seam import PortCall
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import OutcomeUnknownError, StoreBusyError

T = TypeVar("T")


class Killed(BaseException):
    """The process is gone in this very moment."""


class Fault(StrEnum):
    """What happens to the call."""

    KILLED_BEFORE = "killed before"
    KILLED_AFTER = "killed after"
    NO_ANSWER_LOST = "no answer, and no effect"
    NO_ANSWER_DONE = "no answer, but the effect"
    BUSY = "busy"


KILLS = (Fault.KILLED_BEFORE, Fault.KILLED_AFTER)


@dataclass
class FaultAt:
    """Counts every call through the seam, and lets call number `at` (from 0) fail, once."""

    at: int | None = None
    fault: Fault = Fault.KILLED_BEFORE
    calls: list[str] = field(default_factory=list)
    killed: bool = False

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`."""
        self.calls.append(f"{call.port}.{call.method}")
        if len(self.calls) - 1 != self.at:
            return proceed()
        if self.fault in {Fault.KILLED_AFTER, Fault.NO_ANSWER_DONE}:
            proceed()
        raise self._error(call.port)

    def _error(self, port: str) -> BaseException:
        if self.fault in KILLS or port not in {"store", "queues"}:
            self.killed = True
            return Killed()
        if port == "queues":
            return QueueUnavailableError("no answer")
        return StoreBusyError("busy") if self.fault is Fault.BUSY else OutcomeUnknownError("no answer")


@dataclass
class Trouble:
    """Every call of store and queues fails with probability `chance`, in any way; reproducible by its seed."""

    seed: int
    chance: float = 0.03
    kills: int = 0
    _draw: Random = field(init=False)

    def __post_init__(self) -> None:
        self._draw = Random(self.seed)

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`."""
        if call.port not in {"store", "queues"} or self._draw.random() >= self.chance:
            return proceed()
        fault = self._draw.choice(list(Fault))
        one = FaultAt(0, fault)
        try:
            return one(call, proceed)
        finally:
            self.kills += one.killed
