"""What use cases are composed from: the ports of one stage, as one process sees them."""

from __future__ import annotations

from typing import Protocol

from fencepost.application.ports import Clock, Entropy, Notifier, Queues, Secrets, Targets
from fencepost.application.store import Store
from fencepost.runtime.observability import Observability
from fencepost.runtime.settings import Settings


class Stage(Protocol):
    """Each port is made when it is first asked for, so that a function loads nothing that it does not use.

    `quick_store` is the same store with answers within 300 ms or none, for slots and backlogs.
    """

    @property
    def settings(self) -> Settings: ...
    @property
    def observed(self) -> Observability: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def entropy(self) -> Entropy: ...
    @property
    def store(self) -> Store: ...
    @property
    def quick_store(self) -> Store: ...
    @property
    def queues(self) -> Queues: ...
    @property
    def targets(self) -> Targets: ...
    @property
    def notifier(self) -> Notifier: ...


class SecretiveStage(Stage, Protocol):
    """A stage that keeps its teams' secrets, and may be recovered."""

    @property
    def secrets(self) -> Secrets: ...
    @property
    def replaced(self) -> Store | None:
        """The store whose ledger this one's tables replace after a restore, to be read only; None where none is named."""
