"""The stage's queues, as values: the engines on one machine obey them and the infrastructure is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from fencepost.application.ports import Outgoing, QueueName, dead_queue, tier_queue
from fencepost.domain.model import Tier

MAX_DELAY_SECONDS = 900
MAX_VISIBILITY_SECONDS = 43_200
MAX_MESSAGE_BYTES = 1024 * 1024
MAX_GROUP_CHARACTERS = 128
BATCH_ENTRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """How long a received message is hidden, how often it may be received before it moves to `dead`, and its life."""

    visibility: timedelta
    retention: timedelta
    max_receives: int | None = None
    dead: QueueName | None = None


# Six receives are spent by crashes alone: whatever is put back on purpose is sent anew before.
_TIERS = {
    tier_queue(tier): QueueSettings(
        visibility=timedelta(seconds=300),
        retention=timedelta(days=14),
        max_receives=6,
        dead=dead_queue(tier),
    )
    for tier in Tier
}
_DEAD = {
    dead_queue(tier): QueueSettings(visibility=timedelta(seconds=300), retention=timedelta(days=14))
    for tier in Tier
}
# A scan or pump that was lost is sent again by the next tick, so an old one is worth nothing.
_PASSES = {
    name: QueueSettings(visibility=timedelta(seconds=360), retention=timedelta(minutes=15))
    for name in (QueueName.SCAN, QueueName.PUMP)
}

QUEUE_SETTINGS: Mapping[QueueName, QueueSettings] = _TIERS | _DEAD | _PASSES


def acceptable(message: Outgoing) -> bool:
    """Whether a queue takes the message at all."""
    return (
        0 <= message.delay <= MAX_DELAY_SECONDS
        and 1 <= len(message.body.encode()) <= MAX_MESSAGE_BYTES
        and (message.group is None or 1 <= len(message.group) <= MAX_GROUP_CHARACTERS)
    )


def check_visibility(seconds: int) -> None:
    """Raises ValueError outside of 0..43,200."""
    if not 0 <= seconds <= MAX_VISIBILITY_SECONDS:
        raise ValueError(f"visibility is {seconds}; it must be 0..{MAX_VISIBILITY_SECONDS} seconds")
