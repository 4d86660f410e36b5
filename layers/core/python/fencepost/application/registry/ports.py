"""What the registry's use cases need, in one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from fencepost.application.delivery.cancel import CancelAnswer, Unknown
from fencepost.application.ports import Clock, Entropy
from fencepost.application.store import Store
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.identity import ExecutionId
from fencepost.domain.limits import Limits
from fencepost.domain.model import Timer
from fencepost.domain.states import Reason


class ClaimNow(Protocol):
    """Claims and sends timers that were just planted inside the horizon (protocol B9).

    Obligation: whatever it could not claim stays in its bucket for the next scan. It may raise StoreError or
    QueueUnavailableError: the write that planted the timers stands nevertheless.
    """

    def __call__(self, timers: Sequence[Timer], now: datetime) -> None: ...


class CancelNow(Protocol):
    """Ends an execution that is not running, with all that hangs on it. It may raise StoreError."""

    def execution(
        self,
        identity: ExecutionId,
        reason: Reason,
        now: datetime,
        *,
        begun_too: bool = False,
        below: int | None = None,
    ) -> CancelAnswer: ...


class LeftToDelivery:
    """Cancels nothing at once: delivery asks the job before it starts anything."""

    def execution(
        self,
        identity: ExecutionId,
        reason: Reason,
        now: datetime,
        *,
        begun_too: bool = False,
        below: int | None = None,
    ) -> CancelAnswer:
        """See `CancelNow`."""
        del identity, reason, now, begun_too, below
        return Unknown()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryPorts:
    """`clock` because a write that lost a race starts again with a new now, and gives up in time (protocol C2)."""

    store: Store
    clock: Clock
    entropy: Entropy
    claim_now: ClaimNow
    cancel: CancelNow
    limits: Limits = field(default_factory=Limits)
    egress: EgressPolicy = field(default_factory=EgressPolicy)
