"""The faults that strike at the boundary of a call, each where and when the plan of its history says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tests.simulation.kernel import MINUTE
from tests.simulation.labels import table_of


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
    """Runs `spring` beside the first call at or after `at` that is `on` a move: an owner at the worst moment.

    It is told whose job moves, where that can be told.
    """

    number: int
    at: int
    on: str
    what: str
    spring: Callable[[str | None], None] = field(repr=False)


Part = Fault | Trap
PATIENCE = 20 * MINUTE
"""How long a part waits for its move; after that a fault strikes any call, and an owner acts without one."""


class Armed:
    """Faults and traps whose time has come, in the order of their time."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._pending = sorted(parts, key=lambda part: (part.at, part.number), reverse=True)
        self._impatient: list[Part] = []
        self.aimed: dict[str, list[Part]] = {}
        self.anywhere: list[Fault] = []
        self.tables: frozenset[str] = frozenset()

    @property
    def next_at(self) -> int:
        """When something changes by itself."""
        coming = [part.at for part in self._pending[-1:]]
        return min(coming + [part.at + PATIENCE for part in self._impatient[:1]], default=1 << 62)

    def arm(self, now: int) -> int:
        """Arms what is due; when something is to be armed next."""
        while self._pending and self._pending[-1].at <= now:
            part = self._pending.pop()
            if part.on is None:
                assert isinstance(part, Fault)
                self.anywhere.append(part)
            else:
                self.aimed.setdefault(part.on, []).append(part)
                self._impatient.append(part)
                self._look()
        while self._impatient and self._impatient[0].at + PATIENCE <= now:
            part = self._impatient[0]
            self.disarm(part)
            if isinstance(part, Trap):
                part.spring(None)
            else:
                part.on = None
                self.anywhere.append(part)
        return self.next_at

    def on(self, words: frozenset[str]) -> list[Part]:
        """What waits for one of `words`."""
        return [part for word in sorted(words) for part in self.aimed.get(word, ())]

    def disarm(self, part: Part) -> None:
        """It has struck for the last time."""
        if part.on is None:
            assert isinstance(part, Fault)
            self.anywhere.remove(part)
            return
        self._impatient.remove(part)
        self.aimed[part.on].remove(part)
        if not self.aimed[part.on]:
            del self.aimed[part.on]
            self._look()

    def _look(self) -> None:
        """Which tables are worth a look: those whose writes may be what is waited for."""
        self.tables = frozenset(table_of(word) for word in self.aimed)
