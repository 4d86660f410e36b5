"""Hands a team's free slots to those of its firings that wait, and takes the next step of errands."""

from __future__ import annotations

from typing import Any

from fencepost.application.errands.errand import Errand
from fencepost.application.messages import read_upkeep
from fencepost.application.ports import Received
from fencepost.runtime import delivering, upkeep
from fencepost.runtime.batches import Batches, Done, Verdict
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    backlog, batches = delivering.doors(stage).backlog, Batches(stage)
    errands = upkeep.errands(stage)

    def one(message: Received) -> Verdict:
        wanted = read_upkeep(message.body)
        if isinstance(wanted, Errand):
            errands.run(wanted, stage.clock.now())
            return Done()
        report = backlog.pump(wanted, stage.clock.now())
        delivering.measure_pump(report, wanted, stage.observed.telemetry)
        return Done()

    def handle(event: Event, context: object) -> dict[str, Any]:
        return batches.run(event, one)

    return handle


handler = on_lambda(build)
