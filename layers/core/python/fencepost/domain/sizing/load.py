"""What a stage is asked to bear."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fencepost.domain.sizing.prices import SECONDS_A_MONTH

BUSY = 7
"""How much more than the mean a busy minute holds, where nobody says otherwise: most schedules name round times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """`jobs` registered; `rate` firings a second on average; `spike` due in one and the same second; `target_seconds`
    until a target answers; `payload_kb` what a firing sends. Raises ValueError for what is no load.
    """

    jobs: int
    rate: float
    spike: int
    target_seconds: float = 0.2
    payload_kb: float = 1.0

    def __post_init__(self) -> None:
        """Finite, and more than nothing."""
        numbers = (self.jobs, self.rate, self.target_seconds, self.payload_kb)
        if not all(math.isfinite(number) and number > 0 for number in numbers) or self.spike < 0:
            raise ValueError("jobs, rate, target and payload are more than 0, the spike is no less")

    @property
    def firings(self) -> float:
        """In a month of thirty days."""
        return self.rate * SECONDS_A_MONTH

    @property
    def sustained(self) -> float:
        """Firings a second for as long as a busy minute lasts."""
        return BUSY * self.rate

    @property
    def crowded_second(self) -> float:
        """The most that come due in one second: the spike, or what a busy minute has at its first second."""
        return max(float(self.spike), self.sustained)
