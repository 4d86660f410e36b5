"""Health is the age of the oldest minute that is not yet proven empty."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from fencepost.application import keys
from fencepost.application.planting import WATERMARK
from fencepost.application.store import Store
from fencepost.domain.instants import MINUTE, from_ms
from fencepost.domain.limits import Limits

LATE_BY = timedelta(minutes=5)
"""How far behind its usual lag the slowest shard may be before that is called late."""


class Status(StrEnum):
    """`starting`: some shard has never been scanned."""

    OK = "ok"
    STARTING = "starting"
    LATE = "late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`watermark_age`: how long ago the oldest unproven minute began; None while some shard has no watermark."""

    status: Status
    watermark_age: timedelta | None


def health(store: Store, now: datetime, limits: Limits) -> Health:
    """How the slowest shard is."""
    marks = store.batch_get([keys.watermark(shard) for shard in range(limits.shards)])
    if len(marks) < limits.shards:
        return Health(status=Status.STARTING, watermark_age=None)
    oldest = min(from_ms(item[WATERMARK]) for item in marks.values()) + MINUTE
    age = max(now - oldest, timedelta(0))
    late = age > limits.watermark_lag + LATE_BY
    return Health(status=Status.LATE if late else Status.OK, watermark_age=age)
