"""What the deployed functions do with what wakes them, on simulated hosts: batches, each message for itself.

An event source deletes the acknowledged messages of a batch when the whole batch is over, and none of them where the
host crashed before that.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fencepost.application import messages
from fencepost.application.codec import UndecodableError
from fencepost.application.ports import QueueName, QueueUnavailableError, Received
from fencepost.application.set_aside import SetAside
from fencepost.application.store import StoreError
from fencepost.runtime.batches import Again, Done, Last, Verdict, pause
from fencepost.runtime.delivering import expect, verdict_of
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

Work = Callable[[SimStage, Received], Verdict]


def tick(stage: SimStage) -> None:
    """The minute's wake-up: what is missed, the next one makes up for."""
    with suppress(StoreError):
        stage.tick.run(stage.clock.now())
        stage.expiry.run(stage.clock.now())


def scan(stage: SimStage, message: Received) -> Verdict:
    """A pass that fails is not repeated: the next tick asks for another."""
    stage.scan.run(messages.read_scan(message.body))
    return Done()


def pump(stage: SimStage, message: Received) -> Verdict:
    """Hands free slots over."""
    stage.doors.backlog.pump(messages.read_pump(message.body), stage.clock.now())
    return Done()


def deliver(stage: SimStage, message: Received, *, alone: bool = False) -> Verdict:
    """Advances one execution."""
    return verdict_of(stage.delivery.advance.run(messages.read_wake(message.body), message, alone=alone))


def dead(stage: SimStage, message: Received) -> Verdict:
    """Decides by the record."""
    return verdict_of(stage.delivery.dead_letters.handle(messages.read_wake(message.body), stage.clock.now()))


WORK: dict[str, Work] = {"scan": scan, "pump": pump, "deliver": deliver, "dead": dead}


@dataclass(slots=True)
class Batch:
    """The messages that one invocation was given."""

    host: Host
    open: int
    done: list[Received] = field(default_factory=list)
    last: list[Received] = field(default_factory=list)


class Functions:
    """The event sources: they poll queues and invoke hosts."""

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

    def _poll(self, queue: QueueName) -> None:
        assert self.mail is not None
        self._polling.discard(queue)
        kind = KIND_OF[queue]
        while taken := self.mail.take(queue, 1 + self._die.below(MOST[kind])):
            host = self._host_for(kind, self._die.roll())
            self._invoke(Batch(host, len(taken)), taken)

    def _invoke(self, batch: Batch, taken: list[tuple[Received, tuple[str, ...]]]) -> None:
        """One invocation: what is read for the whole batch first, then every message by itself."""

        def begin() -> None:
            if batch.host.kind == "deliver":
                with suppress(StoreError):
                    expect(self._stage_of(batch.host).delivery.advance, [message for message, _ in taken])
            for message, tags in taken:
                self._start(batch, message, tags)

        self._serial += 1
        self._kernel.spawn(f"{batch.host.name}/b{self._serial}", batch.host, begin)

    def _start(self, batch: Batch, message: Received, tags: tuple[str, ...], *, alone: bool = False) -> None:
        self._serial += 1
        name = f"{batch.host.name}/{message.message_id}.{self._serial}"
        self._kernel.spawn(name, batch.host, lambda: self._one(batch, message, alone=alone), tags=tags)

    def _one(self, batch: Batch, message: Received, *, alone: bool) -> None:
        """The verdict on one message, put into effect as `runtime.batches` does it."""
        stage = self._stage_of(batch.host)
        verdict = self._verdict(stage, batch.host.kind, message, alone=alone)
        match verdict:
            case Done():
                batch.done.append(message)
            case Last():
                batch.last.append(message)
            case Again(seconds):
                self._put_back(stage, message, seconds)
        batch.open -= 1
        if batch.open == 0:
            self._over(batch)

    def _verdict(self, stage: SimStage, kind: str, message: Received, *, alone: bool) -> Verdict:
        try:
            return deliver(stage, message, alone=True) if alone else WORK[kind](stage, message)
        except UndecodableError as error:
            SetAside(stage.store).keep(message, str(error), stage.clock.now())
            return Done()
        except (StoreError, QueueUnavailableError):
            return Again(pause(message.receive_count))
        except Exception as error:  # noqa: BLE001 - a use case lets out nothing else; the history judges it
            self._journal.note(BROKEN, f"{type(error).__name__}: {error}")
            return Again(pause(message.receive_count))

    def _put_back(self, stage: SimStage, message: Received, seconds: int) -> None:
        try:
            stage.queues.set_visibility(message, seconds)
        except QueueUnavailableError:
            return

    def _over(self, batch: Batch) -> None:
        """All are through but those that asked to run alone, which now do, one by one; then the source deletes."""
        if batch.last:
            batch.open = 1
            self._start(batch, batch.last.pop(), (), alone=True)
            return
        assert self.mail is not None
        for message in batch.done:
            self.mail.delete(message)
