"""The deployed functions on simulated hosts, and the event sources and the schedule that invoke them.

An event source deletes the acknowledged messages of a batch when the whole batch is over, and none of them where the
host crashed before that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.application.ports import QueueName, QueueUnavailableError, Received
from fencepost.application.store import StoreError
from fencepost.runtime.events import Event
from fencepost.runtime.function import Build, Handler
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.sweep import handler as sweep
from functions.tick import handler as tick
from tests.simulation.dice import Die
from tests.simulation.journal import BROKEN, Journal
from tests.simulation.kernel import MS, Host, Kernel
from tests.simulation.mail import Mail
from tests.simulation.stage import SimStage

KIND_OF = {
    QueueName.SCAN: "scan",
    QueueName.PUMP: "pump",
    QueueName.CRITICAL: "deliver",
    QueueName.STANDARD: "deliver",
    QueueName.BULK: "deliver",
    QueueName.RECOVERY: "deliver",
    QueueName.DEAD_CRITICAL: "dead",
    QueueName.DEAD_STANDARD: "dead",
    QueueName.DEAD_BULK: "dead",
    QueueName.DEAD_RECOVERY: "dead",
}
MOST = {"scan": 1, "pump": 1, "deliver": 10, "dead": 5}
BUILDS: Mapping[str, Build] = {
    "tick": tick.build,
    "scan": scan.build,
    "pump": pump.build,
    "deliver": deliver.build,
    "dead": dead_letter.build,
    "sweep": sweep.build,
}
QUEUES = {name: f"https://sqs.example.com/111122223333/sim-{name}" for name in QueueName}

Taken = tuple[Received, tuple[str, ...]]


class Functions:
    """Invokes functions: batches of messages, and at instants."""

    def __init__(
        self,
        kernel: Kernel,
        journal: Journal,
        *,
        host_for: Callable[[str, float], Host],
        stage_of: Callable[[Host], SimStage],
    ) -> None:
        self._kernel = kernel
        self._journal = journal
        self._host_for = host_for
        self._stage_of = stage_of
        self._die = Die(f"{kernel.seed}/polls")
        self._polling: set[QueueName] = set()
        self._serial = 0
        self.mail: Mail | None = None

    def ready(self, queue: QueueName) -> None:
        """Something surfaced: a poll follows soon."""
        if queue not in self._polling:
            self._polling.add(queue)
            self._kernel.at(self._kernel.now + self._die.between(MS, 100 * MS), self._poll, queue)

    def invoke(
        self, kind: str, event: Event | None = None, done: Callable[[Any], None] | None = None
    ) -> None:
        """One invocation of a function on one of its hosts; `done` is told of its answer."""
        self._invoke(kind, event or {}, done, ())

    def _poll(self, queue: QueueName) -> None:
        assert self.mail is not None
        self._polling.discard(queue)
        kind = KIND_OF[queue]
        while taken := self.mail.take(queue, 1 + self._die.below(MOST[kind])):
            tags = tuple(dict.fromkeys(tag for _, found in taken for tag in found))
            self._invoke(kind, event_of(taken), self._deleting(taken), tags)

    def _invoke(
        self, kind: str, event: Event, done: Callable[[Any], None] | None, tags: tuple[str, ...]
    ) -> None:
        host = self._host_for(kind, self._die.roll())
        self._serial += 1

        def begin() -> None:
            try:
                answer = self._handler(host)(event, None)
            except (StoreError, QueueUnavailableError):
                return
            except Exception as error:  # noqa: BLE001 - a function lets out nothing else; the history judges it
                self._journal.note(BROKEN, f"{type(error).__name__}: {error}")
                return
            if done is not None:
                done(answer)

        self._kernel.spawn(f"{host.name}/{self._serial}", host, begin, tags=tags)

    def _handler(self, host: Host) -> Handler:
        handler: Handler | None = host.memory.get("handler")
        if handler is None:
            handler = host.memory["handler"] = BUILDS[host.kind](self._stage_of(host))
        return handler

    def _deleting(self, taken: list[Taken]) -> Callable[[Any], None]:
        """What the event source does with the answer of a batch."""

        def delete(answer: Any) -> None:
            assert self.mail is not None
            failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
            for message, _ in taken:
                if message.message_id not in failed:
                    self.mail.delete(message)

        return delete


def event_of(taken: list[Taken]) -> Event:
    """A batch as AWS sends it."""
    return {"Records": [_record(message) for message, _ in taken]}


def _record(message: Received) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {"ApproximateReceiveCount": str(message.receive_count)},
        "eventSourceARN": f"arn:aws:sqs:eu-central-1:111122223333:sim-{message.queue}",
    }
