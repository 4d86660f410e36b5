"""Hands a team's free slots to those of its firings that wait."""

from __future__ import annotations

from typing import Any

from fencepost.application.messages import read_pump
from fencepost.application.ports import Received
from fencepost.runtime import delivering
from fencepost.runtime.batches import Batches, Done, Verdict
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    backlog, batches = delivering.doors(stage).backlog, Batches(stage)

    def one(message: Received) -> Verdict:
        team = read_pump(message.body)
        report = backlog.pump(team, stage.clock.now())
        delivering.measure_pump(report, team, stage.observed.telemetry)
        return Done()

    def handle(event: Event, context: object) -> dict[str, Any]:
        return batches.run(event, one)

    return handle


handler = on_lambda(build)
