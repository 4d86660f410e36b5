"""What a pass did, for metrics and tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from fencepost.domain.model import Tier


@dataclass(slots=True)
class ScanReport:
    """Counts of one pass over a shard; `finished` is false when the time budget ended it early. `newer`: timers that were
    left to the later version whose items they are or need.
    """

    claimed: int = 0
    skipped: int = 0
    cancelled: int = 0
    adopted: int = 0
    lost: int = 0
    left: int = 0
    superseded: int = 0
    handed_over: int = 0
    quarantined: int = 0
    newer: int = 0
    exhausted: int = 0
    misfired: int = 0
    absent_jobs: int = 0
    claim_lag_ms: list[int] = field(default_factory=list)
    claimed_by_tier: Counter[Tier] = field(default_factory=Counter)
    watermark: datetime | None = None
    leased: bool = True
    finished: bool = True
