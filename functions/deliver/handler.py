"""Holds firings until due and delivers them: all messages of a batch at once, each for itself."""

from __future__ import annotations

from functools import partial
from typing import Any

from fencepost.application.messages import read_wake
from fencepost.application.ports import Received
from fencepost.runtime import delivering
from fencepost.runtime.batches import Batches, Verdict
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`. Executions that took workers down before run alone, after the others."""
    advance = delivering.deliveries(stage).advance
    batches = Batches(stage, parallel=delivering.MAX_BATCH)

    def one(message: Received, *, alone: bool = False) -> Verdict:
        disposition = advance.run(read_wake(message.body), message, alone=alone)
        delivering.measure(disposition, stage.observed.telemetry)
        return delivering.verdict_of(disposition)

    def handle(event: Event, context: object) -> dict[str, Any]:
        return batches.run(event, one, partial(one, alone=True), before=partial(delivering.expect, advance))

    return handle


handler = on_lambda(build)
