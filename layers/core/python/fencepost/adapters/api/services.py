"""What the API needs from the rest of the service, in one value that the composition root fills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from fencepost.adapters.api.cursors import Cursors
from fencepost.adapters.api.upkeep import Upkeep
from fencepost.application.delivery.wiring import Delivery
from fencepost.application.ports import Secrets
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.signing_keys import KeyMaker
from fencepost.application.store import Store
from fencepost.domain.model import Caller

Trouble = Callable[[], str | None]
"""What keeps the stage from writing, in words that anybody may read; None where nothing is known to."""


def no_trouble() -> None:
    """Where nobody looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """`admins`: principals that administer the stage. `anonymous`: who an unsigned call is, on one's own machine only;
    None refuses it. `trouble`: asked by whoever asks how the service is.
    """

    registry: RegistryPorts
    delivery: Delivery
    cursors: Cursors
    keys: KeyMaker
    secrets: Secrets
    upkeep: Upkeep
    admins: frozenset[str] = frozenset()
    anonymous: Caller | None = None
    trouble: Trouble = no_trouble

    @property
    def store(self) -> Store:
        """The registry's store."""
        return self.registry.store

    def now(self) -> datetime:
        """When a request came in."""
        return self.registry.clock.now()
