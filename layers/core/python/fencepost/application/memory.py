"""A short, bounded memory of one process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from fencepost.domain.instants import ZERO

T = TypeVar("T")
REMEMBERED = 1_000


class Memory(Generic[T]):
    """Remembers at most `size` values, each for `life`, the newest ones; safe in several threads."""

    def __init__(
        self,
        life: timedelta,
        size: int = REMEMBERED,
        lock: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._life = life
        self._size = size
        self._lock = lock
        self._kept: OrderedDict[str, tuple[datetime, T]] = OrderedDict()
        self._reading: dict[str, AbstractContextManager[object]] = {}

    def keep(self, name: str, value: T, now: datetime) -> T:
        """Remembers `value` as of `now`, and returns it."""
        self._kept[name] = (now, value)
        self._kept.move_to_end(name)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return value

    def once(self, name: str, now: datetime, read: Callable[[], T]) -> T:
        """What is remembered, or else what `read` brings: of threads that ask at once, one reads for all."""
        known = self.recall(name, now)
        if known is not None:
            return known
        if len(self._reading) >= self._size:
            self._reading.clear()
        with self._reading.setdefault(name, self._lock()):
            at, value = self._kept.get(name, (None, None))
            # Whoever was first looked at a clock that may have read a moment more than ours.
            fresh = at is not None and abs(now - at) < self._life
            return value if fresh and value is not None else self.keep(name, read(), now)

    def recall(self, name: str, now: datetime) -> T | None:
        """What was kept under `name` less than `life` ago."""
        at, value = self._kept.get(name, (None, None))
        return value if at is not None and ZERO <= now - at < self._life else None

    def forget(self, name: str) -> None:
        """As if it had never been kept."""
        self._kept.pop(name, None)
