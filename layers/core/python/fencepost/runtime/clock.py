"""The one place that reads the clock or waits on it; everything else takes instants as arguments."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

_MILLISECOND = timedelta(milliseconds=1)


class SystemClock:
    """`application.ports.Clock` on this machine's own clock."""

    def now(self) -> datetime:
        """See `Clock.now`."""
        return utc_now()

    def sleep(self, duration: timedelta) -> None:
        """See `Clock.sleep`."""
        sleep_ms(-(-duration // _MILLISECOND))


class StoppedError(Exception):
    """The process is ending: whoever waits, waits no longer, and leaves the rest to whoever comes next."""


class StoppableClock(SystemClock):
    """Until `stopping` is set, the system's clock; then nobody sleeps on it any more."""

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping

    def sleep(self, duration: timedelta) -> None:
        """See `Clock.sleep`. Raises StoppedError."""
        if self._stopping.wait(max(duration, timedelta(0)) / timedelta(seconds=1)):
            raise StoppedError


def utc_now() -> datetime:
    """The present instant by this machine's clock, aware, in UTC."""
    return datetime.now(tz=UTC)


def monotonic_ms() -> int:
    """Milliseconds since some fixed point: only differences mean anything, and they never go back."""
    return time.monotonic_ns() // 1_000_000


def monotonic_seconds() -> float:
    """The same in seconds, with all the precision that the machine has."""
    return time.monotonic()


def sleep_ms(milliseconds: int) -> None:
    """Wait at least so long; zero or less returns at once."""
    if milliseconds > 0:
        time.sleep(milliseconds / 1_000)
