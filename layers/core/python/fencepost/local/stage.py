"""A stage on one machine: its store and queues on one of three grounds, targets called for real."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fencepost.adapters.seam import Around, seamed
from fencepost.adapters.secrets import FileWrapper, Secrets
from fencepost.application.delivery.reads import Reads
from fencepost.application.ports import Clock, Entropy, Notifier, QueueName, Queues, Targets
from fencepost.application.store import Store
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import ZERO
from fencepost.domain.limits import Limits
from fencepost.local.aws import LocalClients
from fencepost.local.calls import CallLog, InFlight
from fencepost.local.files import DataDir, DataDirError, Journal, LogFile
from fencepost.local.gateway.credentials import role_arn
from fencepost.local.gateway.policy import ACCOUNT
from fencepost.local.grounds import Ground, LocalQueues, ground
from fencepost.local.options import LocalOptions, StoreKind
from fencepost.local.refusals import Refusals
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.entropy import SystemEntropy, token_bytes
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.outward import Outward, outward
from fencepost.runtime.settings import Settings
from fencepost.runtime.stage import Stage

STAGE = "local"
REGION = "us-east-1"
SHARDS = 4
ADMIN_ROLE = "fencepost-admin"


class Reclocked:
    """A stage that is another in everything but its clock."""

    def __init__(self, stage: Stage, clock: Clock) -> None:
        self._stage = stage
        self.clock = clock
        self.settings = stage.settings
        self.observed = stage.observed
        self.entropy = stage.entropy
        self.store = stage.store
        self.quick_store = stage.quick_store
        self.queues = stage.queues

    @property
    def targets(self) -> Targets:
        """The other's."""
        return self._stage.targets

    @property
    def notifier(self) -> Notifier:
        """The other's."""
        return self._stage.notifier


def settings(options: LocalOptions) -> Settings:
    """What the stage of one machine sets."""
    return Settings(
        stage=STAGE,
        limits=Limits(shards=SHARDS, scan_stagger=ZERO),
        queues={name: f"http://127.0.0.1/{ACCOUNT}/fencepost-{STAGE}-{name}" for name in QueueName},
        admins=frozenset({role_arn(ADMIN_ROLE)}),
        egress=EgressPolicy.local() if options.private_targets else EgressPolicy(),
        region=REGION,
    )


@dataclass(frozen=True, kw_only=True)
class LocalStage:
    """`Stage` for one machine. `consumer` is what pollers receive from; `mark`, if set, a file that names the
    executions whose targets are being called."""

    settings: Settings
    observed: Observability
    clock: Clock
    entropy: Entropy
    data: DataDir
    kind: StoreKind
    mark: Path | None = None

    @classmethod
    def open(cls, options: LocalOptions, data: DataDir, mark: Path | None = None) -> LocalStage:
        """Over the data directory; what the functions say goes to its log."""
        return cls(
            settings=settings(options),
            observed=observability(STAGE, LogFile(data.service_log)),
            clock=SystemClock(),
            entropy=SystemEntropy(),
            data=data,
            kind=options.store,
            mark=mark,
        )

    @cached_property
    def store(self) -> Store:
        """Everything that is true."""
        return seamed(self._ground.store, "store", self.refusals, self.observed.telemetry.around)

    @cached_property
    def refusals(self) -> Refusals:
        """What the store refused to write, as far as this process knows."""
        return Refusals(self.clock.now, self.data.path if self.kind is StoreKind.SQLITE else None)

    @property
    def quick_store(self) -> Store:
        """The same: on one machine every answer is quick."""
        return self.store

    @cached_property
    def queues(self) -> Queues:
        """The stage's queues, to send to."""
        return seamed(self.consumer, "queues", self.refusals, self.observed.telemetry.around)

    @cached_property
    def consumer(self) -> LocalQueues:
        """The stage's queues, to receive from."""
        return self._ground.queues

    @cached_property
    def targets(self) -> Targets:
        """Webhooks for real, AWS written down; every call leaves a line."""
        arounds: list[Around] = [CallLog(self._calls.write, self.clock.now)]
        if self.mark is not None:
            arounds.append(InFlight(self.mark))
        return seamed(self.outward.targets, "targets", *arounds, self.observed.telemetry.around)

    @cached_property
    def notifier(self) -> Notifier:
        """Webhooks for real, topics and buses written down."""
        return seamed(self.outward.notifier, "notifier", self.observed.telemetry.around)

    @cached_property
    def secrets(self) -> Secrets:
        """Seals the teams' secrets with the key in the data directory. Raises DataDirError where that is none."""
        try:
            return Secrets(FileWrapper(self.data.secrets_key, token_bytes), token_bytes)
        except ValueError as error:
            raise DataDirError(f"{self.data.secrets_key}: {error}") from error

    @property
    def replaced(self) -> Store | None:
        """One's own machine has no point in time to restore to."""
        return None

    @cached_property
    def outward(self) -> Outward:
        """Whatever leaves this machine's service."""
        clients = LocalClients(self._aws.write, self.entropy.token)
        return outward(clients, self.secrets.open, self.settings.egress, Reads(self.store), self.clock)

    @cached_property
    def _ground(self) -> Ground:
        return ground(
            self.kind,
            self.data,
            self.settings.region,
            self.settings.stage,
            clock=self.clock,
            entropy=self.entropy,
        )

    @cached_property
    def _calls(self) -> Journal:
        return Journal(self.data.calls)

    @cached_property
    def _aws(self) -> Journal:
        return Journal(self.data.aws)

    def release_held(self) -> None:
        """Lets every message surface that a process held when it was killed. Nobody else may have this stage."""
        self._ground.release_held()

    def log(self, event: str, **facts: Any) -> None:
        """One line in the service's log."""
        self.observed.logger.info(event, extra=facts)

    def close(self) -> None:
        """Lets go what lies under it; no call may follow."""
        if "_ground" in self.__dict__:
            self._ground.close()
