"""The faults that strike at the boundary of a call, each where and when the plan of its history says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What may go wrong with one call."""

    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"
    LOST_ANSWER = "lost_answer"
    LOST_REQUEST = "lost_request"
    LATE_EFFECT = "late_effect"
    THROTTLE = "throttle"
    CONFLICT = "conflict"
    UNPROCESSED = "unprocessed"
    PAUSE_BEFORE = "pause_before"
    PAUSE_AFTER = "pause_after"
    CLOCK_STEP = "clock_step"


BEFORE = frozenset(
    {
        Kind.CRASH_BEFORE,
        Kind.PAUSE_BEFORE,
        Kind.LOST_REQUEST,
        Kind.LATE_EFFECT,
        Kind.THROTTLE,
        Kind.CONFLICT,
        Kind.CLOCK_STEP,
    }
)
WRITES_ONLY = frozenset({Kind.LOST_ANSWER, Kind.LOST_REQUEST, Kind.LATE_EFFECT, Kind.CONFLICT})


@dataclass(slots=True)
class Fault:
    """Strikes the first call at or after `at` that fits: any call but for the first `skip`, or one that is `on` a move.

    `amount` is its size in microseconds, where it has one. `repeat`: how many more calls it strikes.
    """

    number: int
    kind: Kind
    at: int
    on: str | None = None
    skip: int = 0
    amount: int = 0
    repeat: int = 0

    def __str__(self) -> str:
        where = f"the next {self.on}" if self.on else "any call"
        return f"fault {self.number}: {self.kind} at {where}"


@dataclass(slots=True)
class Trap:
    """Runs `spring` beside the first call at or after `at` that is `on` a move: an owner at the worst moment."""

    number: int
    at: int
    on: str
    what: str
    spring: Callable[[], None] = field(repr=False)


@dataclass(slots=True)
class Armed:
    """Faults and traps whose time has come, in the order of their time."""

    pending: list[Fault | Trap]
    armed: list[Fault | Trap] = field(default_factory=list)

    @classmethod
    def of(cls, parts: Sequence[Fault | Trap]) -> Armed:
        """All of them, none armed yet."""
        return cls(sorted(parts, key=lambda part: (part.at, part.number), reverse=True))

    @property
    def next_at(self) -> int:
        """When the next one becomes armed."""
        return self.pending[-1].at if self.pending else 1 << 62

    def arm(self, now: int) -> None:
        """Arms what is due."""
        while self.pending and self.pending[-1].at <= now:
            self.armed.append(self.pending.pop())

    def disarm(self, part: Fault | Trap) -> None:
        """It has struck for the last time."""
        self.armed.remove(part)
