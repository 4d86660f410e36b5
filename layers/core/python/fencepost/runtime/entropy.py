"""The one place that draws random values; whatever can be derived is derived instead."""

from __future__ import annotations

import base64
import random
import secrets

_SYSTEM = random.SystemRandom()
_TOKEN_CHARACTERS = 20
_TOKEN_BYTES = 13  # 104 bits, of which 20 characters of 5 bits hold 100


class SystemEntropy:
    """`application.ports.Entropy` on the operating system's generator."""

    def token(self) -> str:
        """See `Entropy.token`."""
        return base64.b32encode(token_bytes(_TOKEN_BYTES)).decode().lower()[:_TOKEN_CHARACTERS]

    def fraction(self) -> float:
        """See `Entropy.fraction`."""
        return uniform()


def token_hex(num_bytes: int = 16) -> str:
    """An unguessable token of twice as many hexadecimal digits, safe in URLs and keys."""
    return secrets.token_hex(num_bytes)


def token_bytes(num_bytes: int) -> bytes:
    """Unguessable bytes, fit for keys."""
    return secrets.token_bytes(num_bytes)


def uniform() -> float:
    """A number from [0, 1), for jitter."""
    return _SYSTEM.random()
