"""The one place that draws random values; whatever can be derived is derived instead."""

from __future__ import annotations

import random
import secrets

_SYSTEM = random.SystemRandom()


def token_hex(num_bytes: int = 16) -> str:
    """An unguessable token of twice as many hexadecimal digits, safe in URLs and keys."""
    return secrets.token_hex(num_bytes)


def token_bytes(num_bytes: int) -> bytes:
    """Unguessable bytes, fit for keys."""
    return secrets.token_bytes(num_bytes)


def uniform() -> float:
    """A number from [0, 1), for jitter."""
    return _SYSTEM.random()
