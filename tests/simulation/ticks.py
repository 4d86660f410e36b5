"""The schedule that wakes the service: a tick a minute at an unknown second, but where the plan says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.simulation.dice import Die
from tests.simulation.kernel import MINUTE, MS, SECOND, Kernel
from tests.simulation.plan import Trouble


class Ticks:
    """`wake` is called for each. `came`: when which kind of tick came."""

    def __init__(self, kernel: Kernel, troubles: Sequence[Trouble], wake: Callable[[], None]) -> None:
        self._kernel = kernel
        self._troubles = troubles
        self._wake = wake
        self._die = Die(f"{kernel.seed}/ticks")
        self._next = 0
        self.came: list[tuple[int, str]] = []

    def until(self, end: int) -> None:
        """Draws the ticks up to `end`."""
        while self._next < end:
            self._minute(self._next)
            self._next += MINUTE

    def _minute(self, minute: int) -> None:
        at = minute + self._die.below(MINUTE // 2)
        trouble = next((each for each in self._troubles if each.begins <= minute < each.ends), None)
        match None if trouble is None else trouble.kind:
            case "missing":
                return
            case "late":
                self._at(at + self._die.between(SECOND, 4 * MINUTE), "late")
            case "doubled":
                self._at(at, "normal")
                self._at(at + self._die.between(MS, 20 * SECOND), "doubled")
            case "bunched":
                together = minute - minute % (3 * MINUTE) + 3 * MINUTE
                for _ in range(3):
                    self._at(together + self._die.below(SECOND), "bunched")
            case _:
                self._at(at, "normal")

    def _at(self, at: int, kind: str) -> None:
        def tick(_: Any) -> None:
            self.came.append((self._kernel.now, kind))
            self._wake()

        self._kernel.at(at, tick)
