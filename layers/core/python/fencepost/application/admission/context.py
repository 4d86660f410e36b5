"""What every part of admission works with: the ports and the limits, and a short, bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from fencepost.application.ports import Clock, Entropy, Queues
from fencepost.application.store import Store
from fencepost.domain.instants import ZERO
from fencepost.domain.limits import Limits

T = TypeVar("T")
REMEMBERED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The ports of admission. The store behind it answers within 300 ms or raises: its client's timeouts see to it,
    since a slot is not worth waiting for longer than the message takes to come back.

    `lock` makes what is held while one thread reads for the others: a lock, where threads share these parts.
    """

    store: Store
    queues: Queues
    clock: Clock
    entropy: Entropy
    limits: Limits
    lock: Callable[[], AbstractContextManager[object]] = nullcontext


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
