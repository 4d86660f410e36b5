"""One host's view of the simulated stage: its own clock and memory, everything else shared, composed as on AWS."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, cast

from fencepost.application.delivery.wiring import Delivery
from fencepost.application.ports import Clock, Entropy, Notifier, Queues, QueueUnavailableError, Targets
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.store import Store, StoreError
from fencepost.runtime import batches, delivering, keeping, scanning
from fencepost.runtime.observability import Observability
from fencepost.runtime.settings import Settings
from tests.simulation.boundary import Boundary
from tests.simulation.dice import Die
from tests.simulation.journal import BROKEN, Journal
from tests.simulation.kernel import Guard, Host, Kernel, Pool

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class HostClock:
    """`Clock` of one host: true time, askew. A sleep may end a little early or late, as sleeps do."""

    def __init__(self, kernel: Kernel, host: Host, begin: datetime) -> None:
        self._kernel = kernel
        self._host = host
        self._begin = begin
        self._shown = (0, begin)

    def now(self) -> datetime:
        """What the host believes."""
        at = self._kernel.now + self._host.skew
        if self._shown[0] != at:
            self._shown = (at, self._begin + timedelta(microseconds=at))
        return self._shown[1]

    def sleep(self, duration: timedelta) -> None:
        """Lets others run."""
        wanted = duration // timedelta(microseconds=1)
        task = self._kernel.current
        if wanted > 0 and task is not None:
            off = task.die.roll()
            self._kernel.pause(max(1, wanted + int((off - 0.1) * 2_000)))


class TaskEntropy:
    """`Entropy` from the die of whoever draws."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._spare = Die(f"{kernel.seed}/spare")

    def token(self) -> str:
        """See `Entropy.token`."""
        return self._die().token()

    def fraction(self) -> float:
        """See `Entropy.fraction`."""
        return self._die().roll()

    def _die(self) -> Die:
        task = self._kernel.current
        return self._spare if task is None else task.die


class _Log:
    """Stands for logger and telemetry; an exception that nobody foresaw goes into the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def exception(self, *_: object, **__: object) -> None:
        """A use case may let out that a port failed, and nothing else."""
        error = sys.exc_info()[1]
        if not isinstance(error, StoreError | QueueUnavailableError):
            self._journal.note(BROKEN, f"{type(error).__name__}: {error}")

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


@dataclass(frozen=True, slots=True)
class _Observed:
    logger: Any
    telemetry: Any


class _Threads:
    """Stands for `threading` where use cases are composed: the threads of a host are tasks."""

    Lock = Guard


def _tasks_for_threads() -> None:
    """The composed functions of this process use tasks from here on."""
    stands_in: dict[str, object] = {"threading": _Threads, "ThreadPoolExecutor": Pool}
    for module in (delivering, batches):
        for name, value in stands_in.items():
            if hasattr(module, name):
                setattr(module, name, value)


_tasks_for_threads()


@dataclass(frozen=True, kw_only=True)
class Ports:
    """What all hosts share."""

    store: Store
    queues: Queues
    targets: Targets
    notifier: Notifier
    boundary: Boundary
    entropy: Entropy
    settings: Settings
    journal: Journal


class SimStage:
    """`runtime.stage.Stage` of one host, and what its functions are composed of."""

    def __init__(self, ports: Ports, clock: Clock) -> None:
        self._ports = ports
        log = _Log(ports.journal)
        self.observed = cast("Observability", _Observed(log, log))
        self.clock = clock
        self.entropy = ports.entropy
        self.settings = ports.settings

    @cached_property
    def store(self) -> Store:
        """Behind the seam."""
        return self._ports.boundary.around(self._ports.store, "store")

    @property
    def quick_store(self) -> Store:
        """The same: faults strike it alike."""
        return self.store

    @cached_property
    def queues(self) -> Queues:
        """Behind the seam."""
        return self._ports.boundary.around(self._ports.queues, "queues")

    @cached_property
    def targets(self) -> Targets:
        """Behind the seam."""
        return self._ports.boundary.around(self._ports.targets, "targets")

    @cached_property
    def notifier(self) -> Notifier:
        """Behind the seam."""
        return self._ports.boundary.around(self._ports.notifier, "notifier")

    @cached_property
    def delivery(self) -> Delivery:
        """What advances executions."""
        return delivering.deliveries(self)

    @cached_property
    def registry(self) -> RegistryPorts:
        """What owners' requests go through."""
        return RegistryPorts(
            store=self.store,
            clock=self.clock,
            entropy=self.entropy,
            claim_now=keeping.ClaimAtOnce(scanning.claimer(self)),
            cancel=self.delivery.cancel,
            limits=self.settings.limits,
            egress=self.settings.egress,
        )


def instant_of(begin: datetime, at: int) -> datetime:
    """True time as an instant."""
    return begin + timedelta(microseconds=at)


def epoch_us(instant: datetime) -> int:
    """Microseconds since the epoch."""
    return (instant - _EPOCH) // timedelta(microseconds=1)
