"""The library's own clock and dice: it stands alone, so it has its own. Tests put others in their place."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Protocol

_SECOND = timedelta(seconds=1)
_KEY_BYTES = 16


def variable(environment: Mapping[str, str], name: str) -> str | None:
    """What an environment variable says; one that is empty or blank says nothing, as if it were not set."""
    return environment.get(name, "").strip() or None


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""

    def sleep(self, duration: timedelta) -> None:
        """Returns after `duration`; at once for zero or less."""


class Entropy(Protocol):
    """Draws what cannot be derived."""

    def token(self) -> str:
        """A new unguessable token, fit for an `Idempotency-Key`."""

    def fraction(self) -> float:
        """A number from [0, 1)."""


class SystemClock:
    """This machine's clock."""

    def now(self) -> datetime:
        """See `Clock.now`."""
        return datetime.now(tz=UTC)

    def sleep(self, duration: timedelta) -> None:
        """See `Clock.sleep`."""
        if duration > timedelta(0):
            time.sleep(duration / _SECOND)


class SystemEntropy:
    """The operating system's generator."""

    def __init__(self) -> None:
        self._dice = random.SystemRandom()

    def token(self) -> str:
        """See `Entropy.token`."""
        return secrets.token_hex(_KEY_BYTES)

    def fraction(self) -> float:
        """See `Entropy.fraction`."""
        return self._dice.random()
