"""Empties the dead-letter queues: the record says what is left to do, and the team is told."""

from __future__ import annotations

from typing import Any

from fencepost.application.messages import read_grave
from fencepost.application.ports import Received
from fencepost.domain.notification import Notification
from fencepost.runtime import delivering
from fencepost.runtime.batches import Batches, Verdict
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    dead_letters = delivering.deliveries(stage).dead_letters
    batches = Batches(stage, parallel=delivering.MAX_BATCH)

    def one(message: Received) -> Verdict:
        wanted, now = read_grave(message.body), stage.clock.now()
        if isinstance(wanted, Notification):
            return delivering.verdict_of(dead_letters.tell(wanted, now, message.receive_count))
        disposition = dead_letters.handle(wanted, now, message.receive_count)
        delivering.measure_death(disposition, stage.observed.telemetry)
        return delivering.verdict_of(disposition)

    def handle(event: Event, context: object) -> dict[str, Any]:
        return batches.run(event, one)

    return handle


handler = on_lambda(build)
