"""A stage on AWS: its tables, queues and keys by the names in its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from fencepost.adapters.aws import Patience
from fencepost.adapters.clients import Clients
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.seam import seamed
from fencepost.adapters.sqs import SqsQueues
from fencepost.application.delivery.reads import Reads
from fencepost.application.ports import Clock, Entropy, Notifier, Queues, Targets
from fencepost.application.store import Store, Table
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.entropy import SystemEntropy, token_bytes
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.restored import Held
from fencepost.runtime.settings import Settings, SettingsError

if TYPE_CHECKING:
    from fencepost.adapters.secrets import Secrets
    from fencepost.runtime.outward import Outward

QUICK = Patience(connect_seconds=0.1, read_seconds=0.2, attempts=1)


@dataclass(frozen=True, kw_only=True)
class AwsStage:
    """`Stage` for a deployed function."""

    settings: Settings
    observed: Observability
    clock: Clock
    entropy: Entropy

    @classmethod
    def from_env(cls) -> AwsStage:
        """Reads the function's environment. Raises SettingsError."""
        settings = Settings.from_env()
        return cls(
            settings=settings,
            observed=observability(settings.stage),
            clock=SystemClock(),
            entropy=SystemEntropy(),
        )

    @cached_property
    def _clients(self) -> Clients:
        return Clients(region=self.settings.region, clock=self.clock, entropy=self.entropy)

    @cached_property
    def store(self) -> Store:
        """With the usual patience."""
        return self._store(Patience())

    @cached_property
    def quick_store(self) -> Store:
        """Within 300 ms or not at all."""
        return self._store(QUICK)

    @cached_property
    def queues(self) -> Queues:
        """The stage's queues."""
        queues = SqsQueues(self._clients.sqs(Patience()), self.settings.queues)
        return seamed(queues, "queues", self.observed.telemetry.around)

    @cached_property
    def targets(self) -> Targets:
        """Everything that a job may call."""
        return seamed(self._outward.targets, "targets", self.observed.telemetry.around)

    @cached_property
    def notifier(self) -> Notifier:
        """Everything by which a team is told."""
        return seamed(self._outward.notifier, "notifier", self.observed.telemetry.around)

    @cached_property
    def secrets(self) -> Secrets:
        """Seals and opens the teams' secrets with the stage's key. Raises SettingsError where it has none."""
        from fencepost.adapters.secrets import KmsWrapper, Secrets  # noqa: PLC0415 - few functions handle secrets

        if self.settings.kms_key_id is None:
            raise SettingsError({"FENCEPOST_KMS_KEY_ID": "is not set"})
        return Secrets(KmsWrapper(self._clients.kms(), self.settings.kms_key_id), token_bytes)

    @cached_property
    def _outward(self) -> Outward:
        from fencepost.adapters.targets.clients import (  # noqa: PLC0415 - few functions call out
            TeamClients,
            boto_clients,
        )
        from fencepost.adapters.targets.credentials import BotoSts, RoleCredentials  # noqa: PLC0415 - the same
        from fencepost.runtime.outward import outward  # noqa: PLC0415 - the same

        roles = RoleCredentials(sts=BotoSts(cache(self._clients.sts)), now=self.clock.now)
        clients = TeamClients(build=boto_clients(), roles=roles, now=self.clock.now)
        reads = Reads(self.store)
        return outward(clients, self.secrets.open, self.settings.egress, reads, self.clock)

    @cached_property
    def replaced(self) -> Store | None:
        """See `SecretiveStage`: one table of it, the ledger."""
        name = self.settings.replaced
        return None if name is None else self._store(Patience(), {Table.EXECUTIONS: name})

    def _store(self, patience: Patience, tables: Mapping[Table, str] | None = None) -> Store:
        store = DynamoDbStore(
            self._clients.dynamodb(patience),
            tables or self.settings.tables,
            clock=self.clock,
            entropy=self.entropy,
            attempts=patience.attempts,
        )
        restored = self.settings.restored
        held = () if restored is None else (Held(restored),)
        return seamed(store, "store", *held, self.observed.telemetry.around)
