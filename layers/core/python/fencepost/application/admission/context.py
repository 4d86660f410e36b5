"""What every part of admission works with: the ports and the limits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from fencepost.application.ports import Clock, Entropy, Queues
from fencepost.application.store import Store
from fencepost.domain.limits import Limits


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
