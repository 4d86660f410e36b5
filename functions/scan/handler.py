"""Claims a shard's due timers and hands the firings to their queues."""

from __future__ import annotations

from typing import Any

from fencepost.application.messages import read_scan
from fencepost.application.ports import Received
from fencepost.runtime import scanning
from fencepost.runtime.batches import Batches, Done, Verdict
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`. A pass that fails is not repeated: the next tick asks for another."""
    scan, batches = scanning.scan(stage), Batches(stage)

    def one(message: Received) -> Verdict:
        request = read_scan(message.body)
        report = scan.run(request)
        scanning.measure_scan(report, stage.observed.telemetry, stage.clock.now(), request.shard)
        return Done()

    def handle(event: Event, context: object) -> dict[str, Any]:
        return batches.run(event, one)

    return handle


handler = on_lambda(build)
