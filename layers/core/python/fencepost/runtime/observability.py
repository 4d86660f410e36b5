"""Log lines and metrics: structured lines to one stream, metrics as embedded metric format among them.

`docs/metrics.md` is the contract with the dashboards and alarms; a test holds `SPECS` to it.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import TextIO, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from fencepost.adapters.seam import PortCall
from fencepost.application.store import Cancelled, Cause, StoreBusyError
from fencepost.domain.model import Tier

T = TypeVar("T")
NAMESPACE = "Fencepost"
SERVICE = "fencepost"
_serial = count(1)
_VALUES_A_LINE = 99  # at a hundred the format's line is full


class Metric(StrEnum):
    """Everything that Fencepost counts about itself."""

    FIRED = "Fired"
    ON_TIME = "OnTime"
    LATENESS = "LatenessMs"
    RETRIES = "Retries"
    THROTTLED = "Throttled"
    DEAD_LETTERS = "DeadLetters"
    LAPSED_LEASES = "LapsedLeases"
    TICK_RAN = "TickRan"
    UNSENT = "Unsent"
    CLAIMED = "Claimed"
    CLAIM_LAG = "ClaimLagMs"
    WATERMARK_AGE = "WatermarkAgeSeconds"
    QUARANTINED = "Quarantined"
    NEWER_SHAPES = "NewerShapes"
    ABSENT_JOBS = "AbsentJobs"
    BACKLOG = "Backlog"
    SLOTS_IN_USE = "SlotsInUse"
    TIMERLESS_JOBS = "TimerlessJobs"
    TZDATA_AGE = "TzdataAgeDays"
    AUDIT_FINDINGS = "AuditFindings"


@dataclass(frozen=True, slots=True)
class Spec:
    """A metric's unit, and whether it is published by tier as well."""

    unit: MetricUnit
    by_tier: bool = False


_COUNT, _MS, _SECONDS = MetricUnit.Count, MetricUnit.Milliseconds, MetricUnit.Seconds
SPECS: Mapping[Metric, Spec] = {
    Metric.FIRED: Spec(_COUNT, by_tier=True),
    Metric.ON_TIME: Spec(_COUNT, by_tier=True),
    Metric.LATENESS: Spec(_MS, by_tier=True),
    Metric.RETRIES: Spec(_COUNT, by_tier=True),
    Metric.THROTTLED: Spec(_COUNT),
    Metric.DEAD_LETTERS: Spec(_COUNT, by_tier=True),
    Metric.LAPSED_LEASES: Spec(_COUNT),
    Metric.TICK_RAN: Spec(_COUNT),
    Metric.UNSENT: Spec(_COUNT),
    Metric.CLAIMED: Spec(_COUNT, by_tier=True),
    Metric.CLAIM_LAG: Spec(_MS),
    Metric.WATERMARK_AGE: Spec(_SECONDS),
    Metric.QUARANTINED: Spec(_COUNT),
    Metric.NEWER_SHAPES: Spec(_COUNT),
    Metric.ABSENT_JOBS: Spec(_COUNT),
    Metric.BACKLOG: Spec(_COUNT),
    Metric.SLOTS_IN_USE: Spec(_COUNT),
    Metric.TIMERLESS_JOBS: Spec(_COUNT),
    Metric.TZDATA_AGE: Spec(_COUNT),
    Metric.AUDIT_FINDINGS: Spec(_COUNT),
}

_Group = tuple[Tier | None, tuple[tuple[str, str], ...]]
_Values = dict[Metric, list[float]]


class Telemetry:
    """Collects samples and writes them as embedded metric format, one line per tier and set of fields. Thread-safe.

    Nothing is written before `flush`: the end of an invocation.
    """

    def __init__(self, stage: str, write: Callable[[str], object]) -> None:
        self._stage = stage
        self._write = write
        self._lock = threading.Lock()
        self._groups: dict[_Group, _Values] = {}

    def add(self, metric: Metric, value: float = 1, *, tier: Tier | None = None, **fields: str) -> None:
        """One sample. `fields` travel in the same line for log queries and are no dimensions."""
        group = (tier if SPECS[metric].by_tier else None, tuple(sorted(fields.items())))
        with self._lock:
            values = self._groups.setdefault(group, defaultdict(list))
            values[metric].append(value)

    def around(self, call: PortCall, proceed: Callable[[], T]) -> T:
        """The seam's `Around`: counts what the store or the queues throttled."""
        del call
        try:
            result = proceed()
        except StoreBusyError:
            self.add(Metric.THROTTLED)
            raise
        if isinstance(result, Cancelled):
            throttled = sum(reason.cause is Cause.THROTTLED for reason in result.reasons)
            if throttled:
                self.add(Metric.THROTTLED, throttled)
        return result

    def flush(self) -> None:
        """Writes and forgets all samples."""
        with self._lock:
            groups, self._groups = self._groups, {}
        for (tier, fields), values in groups.items():
            longest = max(len(each) for each in values.values())
            for start in range(0, longest, _VALUES_A_LINE):
                part = {name: each[start : start + _VALUES_A_LINE] for name, each in values.items()}
                self._write(self._line(tier, dict(fields), part))

    def _line(
        self, tier: Tier | None, fields: Mapping[str, str], values: Mapping[Metric, list[float]]
    ) -> str:
        # An empty service: the format's default would add a dimension, and each distinct set of them is paid for.
        line = EphemeralMetrics(namespace=NAMESPACE, service="")
        line.add_dimension("Stage", self._stage)
        if tier is not None:
            line.add_dimensions(Stage=self._stage, Tier=tier.value)
        for name, value in fields.items():
            line.add_metadata(name, value)
        for metric, samples in values.items():
            for sample in samples:
                line.add_metric(metric.value, SPECS[metric].unit, sample)
        return json.dumps(line.serialize_metric_set(), separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Observability:
    """What a process says about itself."""

    logger: Logger
    telemetry: Telemetry


def observability(
    stage: str, stream: TextIO | None = None, *, level: str | int | None = None
) -> Observability:
    """Lines to `stream`, standard output by default: on Lambda that is the function's log."""
    stream = sys.stdout if stream is None else stream
    # Loggers of one name share a stream, and each stage has its own.
    logger = Logger(
        service=f"{SERVICE}-{next(_serial)}",
        level=level,
        logger_handler=logging.StreamHandler(stream),
        use_rfc3339=True,
        utc=True,
    )
    logger.append_keys(service=SERVICE, stage=stage)
    return Observability(logger, Telemetry(stage, lambda line: print(line, file=stream, flush=True)))
