"""The one place that reads the clock or waits on it; everything else takes instants as arguments."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The present instant by this machine's clock, aware, in UTC."""
    return datetime.now(tz=UTC)


def monotonic_ms() -> int:
    """Milliseconds since some fixed point: only differences mean anything, and they never go back."""
    return time.monotonic_ns() // 1_000_000


def sleep_ms(milliseconds: int) -> None:
    """Wait at least so long; zero or less returns at once."""
    if milliseconds > 0:
        time.sleep(milliseconds / 1_000)
