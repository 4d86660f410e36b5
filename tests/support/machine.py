"""A stage in memory whose real handlers are woken and fed as AWS wakes and feeds them, minute by minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.seam import Around
from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.planting import fire_timer
from fencepost.application.ports import QueueName, Received
from fencepost.application.store import Put
from fencepost.domain.model import Job, Tier
from fencepost.domain.schedule import next_occurrence, parse_schedule
from fencepost.runtime.function import Handler, instrumented
from functions.audit import handler as audit
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.sweep import handler as sweep
from functions.tick import handler as tick
from tests.support.functions import QUEUES, WorldStage
from tests.support.grants import held
from tests.support.world import World

MINUTE = timedelta(minutes=1)
FEEDS: dict[QueueName, tuple[Any, int]] = {
    QueueName.SCAN: (scan, 1),
    QueueName.PUMP: (pump, 1),
    **{QueueName(tier.value): (deliver, 10) for tier in Tier},
    **{QueueName(f"dead-{tier.value}"): (dead_letter, 10) for tier in Tier},
}


class DiesError(BaseException):
    """What takes a worker away in mid-call."""


class Machine:
    """Ticks, queues and functions over a world. Each function may do what its deployed role may."""

    def __init__(self, world: World, *arounds: Around, no_fire_before: datetime | None = None) -> None:
        self.world = world
        self.stage = WorldStage(world)
        self.stage.settings = replace(self.stage.settings, no_fire_before=no_fire_before)
        world.rewire(self.stage.observed.telemetry.around, *arounds)
        self.stage.store = self.stage.quick_store = world.store
        self.stage.queues = world.queues
        self._feeds = {queue: (self._build(each), most) for queue, (each, most) in FEEDS.items()}
        self.tick = self._build(tick)
        self.sweep = self._build(sweep)
        self.audit = self._build(audit)

    def _build(self, module: Any) -> Handler:
        return instrumented(module.build(held(self.stage, module.__name__)), self.stage.observed)

    def plant(self, name: str, schedule: dict[str, Any], *, ago: int = 0, **facts: Any) -> Job:
        """A job with its first timer; planted so many minutes ago, and nobody looked at it since."""
        now = self.world.clock.now() - ago * MINUTE
        job = self.world.job(name, schedule=parse_schedule(schedule, now=now), **facts)
        first = next_occurrence(job.schedule, now)
        assert first is not None
        timer = fire_timer(job, first, ordinal=1, now=now, limits=self.world.limits)
        self.world.memory.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
        return job

    def minute(self) -> None:
        """A tick, and all that it leads to."""
        end = self.world.clock.now() + MINUTE
        self.tick({}, None)
        self.ticked()
        while True:
            busy = [queue for queue in self._feeds if self._feed(queue)]
            if busy:
                continue
            surfaces = self.world.mail.next_visible()
            if surfaces is None or surfaces >= end:
                break
            self.world.clock.set(max(surfaces, self.world.clock.now()))
        self.world.clock.set(max(end, self.world.clock.now()))

    def minutes(self, number: int) -> None:
        """So many of them."""
        for _ in range(number):
            self.minute()

    def ticked(self) -> None:
        """For tests that want something to happen right after a tick."""

    def _feed(self, queue: QueueName) -> bool:
        """One batch of a queue through its function; a worker that dies acknowledges nothing."""
        handle, most = self._feeds[queue]
        batch = self.world.mail.receive(queue, most, timedelta(0))
        if batch:
            try:
                back = handle(sqs_event(batch), None)["batchItemFailures"]
            except DiesError:
                return True
            kept = {each["itemIdentifier"] for each in back}
            self.world.mail.delete([message for message in batch if message.message_id not in kept])
        return bool(batch)


def sqs_event(batch: Sequence[Received]) -> dict[str, Any]:
    """What Lambda is given for these messages."""
    return {
        "Records": [
            {
                "messageId": message.message_id,
                "receiptHandle": message.receipt,
                "body": message.body,
                "attributes": {"ApproximateReceiveCount": str(message.receive_count)},
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:eu-central-1:111122223333:{QUEUES[message.queue].rpartition('/')[2]}",
            }
            for message in batch
        ]
    }
