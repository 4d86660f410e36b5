"""Chance that belongs to whoever draws it: what one task draws never depends on what another one drew.

That keeps a history stable while parts of it are taken away, which is what shrinking does. A die walks over one
shared table of fractions from a place, and with a stride, that its name gives.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from zlib import crc32

SIZE = 1 << 16
MASK = SIZE - 1
_RANDOM = random.Random(20260301)
TABLE = [_RANDOM.random() for _ in range(SIZE)]
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_TENS = [
    "".join([_ALPHABET[(number >> shift) & 31] for shift in range(0, 50, 5)])
    for number in (_RANDOM.getrandbits(50) for _ in range(SIZE))
]


@lru_cache(maxsize=64)
def spread(low: int, high: int) -> tuple[int, ...]:
    """Whole numbers in low..high for `Die.pick`, the orders of magnitude equally likely."""
    width = math.log((high + 1) / low)
    return tuple(int(low * math.exp(fraction * width)) for fraction in TABLE)


class Die:
    """Draws fractions in [0, 1)."""

    __slots__ = ("_place", "_stride")

    def __init__(self, name: str) -> None:
        hashed = crc32(name.encode())
        self._place = hashed & MASK
        self._stride = (hashed >> 15) | 1

    def roll(self) -> float:
        """The next fraction."""
        self._place = place = (self._place + self._stride) & MASK
        return TABLE[place]

    def pick(self, numbers: tuple[int, ...]) -> int:
        """The next of `numbers`, of which there are as many as the table has fractions."""
        self._place = place = (self._place + self._stride) & MASK
        return numbers[place]

    def below(self, bound: int) -> int:
        """A whole number in 0..bound-1."""
        return int(self.roll() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number in low..high, the orders of magnitude equally likely."""
        return int(low * math.exp(self.roll() * math.log((high + 1) / low)))

    def token(self) -> str:
        """Twenty characters that nobody else draws (but for a chance that does not count here)."""
        first = (self._place + self._stride) & MASK
        self._place = second = (first + self._stride) & MASK
        return _TENS[first] + _TENS[second]
