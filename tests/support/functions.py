"""The handlers over a world in memory, fed with the events that AWS sends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from fencepost.application.ports import Clock, Entropy, Notifier, QueueName, Queues, Received, Targets
from fencepost.application.store import Store
from fencepost.runtime.function import Build, instrumented
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.settings import Settings
from tests.support.grants import held
from tests.support.world import World

EVENTS = Path(__file__).resolve().parents[2] / "events"
QUEUES = {
    name: f"https://sqs.eu-central-1.amazonaws.com/111122223333/fencepost-test-{name}" for name in QueueName
}


def event(name: str) -> dict[str, Any]:
    """The event `events/{name}.json`."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return loaded


class NotingQueues:
    """Queues that remember whose visibility was changed: events of AWS name messages that they never held."""

    def __init__(self, queues: Queues) -> None:
        self._queues = queues
        self.put_back: dict[str, int] = {}
        self.send = queues.send

    def set_visibility(self, message: Received, seconds: int) -> None:
        """Notes it."""
        self.put_back[message.message_id[-4:]] = seconds


class WorldStage:
    """`Stage` over a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.said = io.StringIO()
        self.settings = Settings(stage="test", limits=world.limits, queues=QUEUES)
        self.observed: Observability = observability("test", self.said)
        self.clock: Clock = world.clock
        self.entropy: Entropy = world.entropy
        self.store: Store = world.store
        self.quick_store: Store = world.store
        self.noting = NotingQueues(world.queues)
        self.queues: Queues = self.noting
        self.targets: Targets = world.targets
        self.notifier: Notifier = world.notifier

    def feed(self, build: Build, name: str) -> Any:
        """The answer of a function to `events/{name}.json`."""
        return instrumented(build(held(self, build.__module__)), self.observed)(event(name), None)

    def lines(self) -> list[dict[str, Any]]:
        """Everything that was said, log lines and metrics."""
        return [json.loads(line) for line in self.said.getvalue().splitlines()]

    def metric(self, name: str) -> list[float]:
        """All samples of a metric."""
        return [value for line in self.lines() if "_aws" in line for value in line.get(name, [])]


def refused(answer: dict[str, Any]) -> list[str]:
    """The last digits of the messages that the answer keeps in the queue."""
    return [each["itemIdentifier"][-4:] for each in answer["batchItemFailures"]]
