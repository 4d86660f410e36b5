"""Woken every minute, at an unknown second, sometimes twice, sometimes not: asks for scans and pumps, ends pauses."""

from __future__ import annotations

from typing import Any

from fencepost.runtime import keeping, restored, scanning
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.observability import Metric
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`. When it was woken counts, not when the event says it should have been."""
    tick, expiry = scanning.tick(stage), keeping.expiry(stage)

    def handle(event: Event, context: object) -> dict[str, Any]:
        if restored.waits(stage):
            stage.observed.telemetry.add(Metric.TICK_RAN)
            stage.observed.logger.warning("nothing fires: the restored copy is not opened")
            return {"held": stage.settings.restored}
        report = tick.run(stage.clock.now())
        scanning.measure_tick(report, stage.observed)
        expiry.run(stage.clock.now())
        return {"leased": report.leased, "scans": report.scans, "pumps": report.pumps}

    return handle


handler = on_lambda(build)
