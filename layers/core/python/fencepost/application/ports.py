"""The other ports: queues, clock, entropy, targets, notifications, secrets. Narrow, with their obligations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from fencepost.domain.model import Tier

if TYPE_CHECKING:
    from fencepost.domain.delivery import Delivery
    from fencepost.domain.model import NotifyTargets
    from fencepost.domain.notification import Notification
    from fencepost.domain.outcome import Outcome


class QueueName(StrEnum):
    """The stage's queues. A dead-letter queue belongs to each tier."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BULK = "bulk"
    RECOVERY = "recovery"
    SCAN = "scan"
    PUMP = "pump"
    DEAD_CRITICAL = "dead-critical"
    DEAD_STANDARD = "dead-standard"
    DEAD_BULK = "dead-bulk"
    DEAD_RECOVERY = "dead-recovery"


def tier_queue(tier: Tier) -> QueueName:
    """The queue that feeds the tier's delivery function."""
    return QueueName(tier.value)


def dead_queue(tier: Tier) -> QueueName:
    """The tier's dead-letter queue."""
    return QueueName(f"dead-{tier.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message to send. `delay` is 0..900 whole seconds; `group` is the team, for fair queues."""

    queue: QueueName
    body: str
    delay: int = 0
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message in hand: it comes back unless it is deleted before its visibility runs out."""

    queue: QueueName
    body: str
    receipt: str
    receive_count: int
    message_id: str = ""


class QueueUnavailableError(Exception):
    """The queue did not answer: what was sent may or may not have been accepted."""


class Queues(Protocol):
    """At least once, in no order. Obligation: `send` reports exactly which messages the queue accepted."""

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """Sends any number (batched by ten within a queue); per message, whether it was accepted."""

    def set_visibility(self, message: Received, seconds: int) -> None:
        """Lets the message in hand surface again in `seconds` (0..43,200)."""


class QueueConsumer(Protocol):
    """What an engine that polls needs besides `Queues`; on AWS the event source mapping does this."""

    def receive(self, queue: QueueName, limit: int, wait: timedelta) -> Sequence[Received]:
        """Up to `limit` (<= 10) messages; waits up to `wait` for the first."""

    def delete(self, messages: Sequence[Received]) -> None:
        """Acknowledges."""


class Clock(Protocol):
    """The process's own clock. Only use cases that hold, pace or call targets take it; others take `now`."""

    def now(self) -> datetime:
        """The present instant: aware, UTC."""

    def sleep(self, duration: timedelta) -> None:
        """Returns after `duration`; at once where it is not positive."""


class Entropy(Protocol):
    """Randomness that no other process shares."""

    def token(self) -> str:
        """A fresh lower-case token of 20 characters of [a-z2-7]."""

    def fraction(self) -> float:
        """Uniform in [0, 1)."""


class Targets(Protocol):
    """Calls a job's target. Obligation: returns an Outcome for whatever happens within `timeout`, never raises."""

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """One attempt."""


class KeyUnavailableError(Exception):
    """A key cannot be opened or made now. Nothing is sent unsigned in its place."""


class Secrets(Protocol):
    """Keeps secrets under the stage's key. Raises KeyUnavailableError, never with any part of a secret."""

    def seal(self, secret: str, team: str) -> str:
        """The secret in an envelope that opens under this team's name only."""

    def open(self, sealed: str) -> str:
        """The secret in an envelope."""


class Notifier(Protocol):
    """Tells a team. Obligation: true only if every target that is set accepted it."""

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """At least once; a repeat carries the same id."""
