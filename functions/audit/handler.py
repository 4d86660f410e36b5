"""Woken all day, each time for a share of the jobs: works out what should have happened, and reports where it did not.

It changes nothing. Its findings should be none.
"""

from __future__ import annotations

from typing import Any

from fencepost.runtime import auditing, scanning
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler, on_lambda
from fencepost.runtime.stage import Stage


def build(stage: Stage) -> Handler:
    """The handler over `stage`."""
    auditor = auditing.auditor(stage)

    def handle(event: Event, context: object) -> dict[str, Any]:
        now = stage.clock.now()
        report = auditing.run(auditor, stage, now, *scanning.share(event, now))
        auditing.measure(report, stage.observed.telemetry)
        auditing.say(report, stage.observed.logger)
        return auditing.told(report)

    return handle


handler = on_lambda(build)
