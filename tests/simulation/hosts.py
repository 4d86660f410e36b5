"""The execution environments of a history: so many of each kind, and a new one for each that dies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tests.simulation.dice import Die
from tests.simulation.kernel import Host, Kernel
from tests.simulation.stage import SimStage

COUNTS = {"tick": 2, "scan": 2, "deliver": 3, "dead": 2, "pump": 2, "api": 2}


class Hosts:
    """`stage_for` composes what runs on a host; `skews`: by how much a clock may be wrong, in microseconds."""

    def __init__(self, kernel: Kernel, skews: int, stage_for: Callable[[Host], SimStage]) -> None:
        self._kernel = kernel
        self._skews = skews
        self._stage_for = stage_for
        self._die = Die(f"{kernel.seed}/hosts")
        self._serial = 0
        self._alive: dict[str, list[Host]] = defaultdict(list)
        self._all: list[Host] = []
        for kind, count in COUNTS.items():
            for _ in range(count):
                self._add(kind)

    def one(self, kind: str, fraction: float) -> Host:
        """One of the hosts of a kind that does not stand still."""
        awake = [host for host in self._alive[kind] if host.frozen_until <= self._kernel.now]
        return awake[int(fraction * len(awake))] if awake else self._add(kind)

    def stage(self, host: Host) -> SimStage:
        """The host's stage, made when it is first needed."""
        stage: SimStage | None = host.memory.get("stage")
        if stage is None:
            stage = host.memory["stage"] = self._stage_for(host)
        return stage

    def killed(self, host: Host) -> None:
        """Another one takes the place of a host that died."""
        if host in self._alive[host.kind]:
            self._alive[host.kind].remove(host)
        self._add(host.kind)

    def replaced(self) -> None:
        """A deployment: whatever runs ends, and new ones take over."""
        for host in [host for hosts in self._alive.values() for host in hosts]:
            self._kernel.crash(host)
            self.killed(host)

    def forget(self) -> None:
        """Lets go of what ran on them, once all is over."""
        for host in self._all:
            host.memory.clear()
            host.parked.clear()
            host.reads.clear()

    def _add(self, kind: str) -> Host:
        self._serial += 1
        skew = self._die.below(2 * self._skews + 1) - self._skews
        host = Host(f"{kind}-{self._serial}", kind, skew)
        self._alive[kind].append(host)
        self._all.append(host)
        return host
