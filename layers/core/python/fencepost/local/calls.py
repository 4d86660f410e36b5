"""What every call of a target leaves behind: a line when it is over, and its name on its worker while it lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

from fencepost.adapters.seam import PortCall
from fencepost.domain.delivery import Delivery
from fencepost.domain.instants import to_wire
from fencepost.domain.outcome import Outcome, error_of, status_of

T = TypeVar("T")


class CallLog:
    """A seam's `Around` for the port of targets."""

    def __init__(self, record: Callable[[Mapping[str, Any]], None], now: Callable[[], datetime]) -> None:
        self._record = record
        self._now = now

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        """Lets the call happen and writes down what came of it; where the disk is full, the outcome still counts."""
        result = proceed()
        with suppress(OSError):
            self._record(line(cast("Delivery", call.args[0]), cast("Outcome", result), self._now()))
        return result


class InFlight:
    """A seam's `Around` for the port of targets: the file names the executions whose targets are being called."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self._calls: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        """Names the execution before the call, and no longer after it."""
        execution = cast("Delivery", call.args[0]).facts.execution_id
        self._write(lambda: self._calls.append(execution))
        try:
            return proceed()
        finally:
            self._write(lambda: self._calls.remove(execution))

    def _write(self, change: Callable[[], None]) -> None:
        with self._lock:
            change()
            self._mark.write_text("\n".join(self._calls))


def line(delivery: Delivery, outcome: Outcome, ended: datetime) -> dict[str, Any]:
    """Who was called, how late, and what came of it."""
    facts = delivery.facts
    return {
        "team": facts.team,
        "job": facts.job,
        "execution": facts.execution_id,
        "due": to_wire(facts.due),
        "attempt": facts.attempt,
        "fence": facts.fence,
        "lateness_ms": (delivery.sent_at - facts.due) // timedelta(milliseconds=1),
        "took_ms": (ended - delivery.sent_at) // timedelta(milliseconds=1),
        "outcome": outcome.kind.value,
        "status": status_of(outcome),
        "error": error_of(outcome),
    }
