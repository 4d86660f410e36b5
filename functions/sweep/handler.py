"""Woken all day, each time for a share of the day's work: finds and heals what no wake-up would find any more.

Its finds should be none.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from fencepost.runtime import keeping, scanning
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage

NONE = timedelta(0)


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    sweep = scanning.sweep(stage, keeping.refresher(stage))
    recovery = replace(sweep, overdue=NONE)

    def handle(event: Event, context: object) -> dict[str, Any]:
        now = stage.clock.now()
        chosen = recovery if scanning.recovers(event) else sweep
        report = chosen.run(now, *scanning.share(event, now))
        scanning.measure_sweep(report, stage.observed.telemetry, now)
        found = asdict(report)
        if report.finds or report.unreadable:
            stage.observed.logger.error("the second net caught something", extra=found)
        return found

    return handle


handler = on_lambda(build)
