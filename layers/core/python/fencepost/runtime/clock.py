"""The one place that reads the clock or waits on it; everything else takes instants as arguments."""

from __future__ import annotations

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
