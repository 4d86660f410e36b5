"""A clock that tests set and move; sleeping moves it, so that no test ever waits."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from fencepost.domain.instants import aware, from_wire


class SettableClock:
    """`Clock` whose time is what the test says. `slept` collects what sleepers asked for."""

    def __init__(self, start: datetime | str) -> None:
        self._now = from_wire(start) if isinstance(start, str) else aware(start)
        self._lock = threading.Lock()
        self.slept: list[timedelta] = []

    def now(self) -> datetime:
        """The present instant of this test."""
        with self._lock:
            return self._now

    def sleep(self, duration: timedelta) -> None:
        """Moves the clock on by `duration`; at once."""
        with self._lock:
            self.slept.append(duration)
            self._now += max(duration, timedelta(0))

    def set(self, instant: datetime | str) -> None:
        """Puts the clock to `instant`, backwards too."""
        with self._lock:
            self._now = from_wire(instant) if isinstance(instant, str) else aware(instant)

    def advance(self, **parts: float) -> None:
        """Moves the clock by `timedelta(**parts)`."""
        with self._lock:
            self._now += timedelta(**parts)


class CountingEntropy:
    """`Entropy` that draws the same tokens and fractions in every run."""

    _ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"

    def __init__(self, fraction: float = 0.5) -> None:
        self._count = 0
        self._fraction = fraction
        self._lock = threading.Lock()

    def token(self) -> str:
        """The next token of this test."""
        with self._lock:
            self._count += 1
            number, text = self._count, ""
        for _ in range(20):
            number, digit = divmod(number, 32)
            text = self._ALPHABET[digit] + text
        return text

    def fraction(self) -> float:
        """The fraction that the test chose."""
        return self._fraction
