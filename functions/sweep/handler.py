"""Woken all day, each time for a share of the day's work: finds and heals what no wake-up would find any more.

Its finds should be none.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fencepost.runtime import keeping, restored, scanning
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    sweep = scanning.sweep(stage, keeping.refresher(stage))

    def handle(event: Event, context: object) -> dict[str, Any]:
        if restored.waits(stage):
            return {"held": stage.settings.restored}
        now = stage.clock.now()
        report = sweep.run(now, *scanning.share(event, now))
        scanning.measure_sweep(report, stage.observed.telemetry, now)
        found = asdict(report)
        if report.finds or report.unreadable:
            stage.observed.logger.error("the second net caught something", extra=found)
        return found

    return handle


handler = on_lambda(build)
