"""Switches for tests: whole teams and single tiers, held since now."""

from __future__ import annotations

from datetime import datetime

from fencepost.domain.policies import Tier
from fencepost.domain.switches import Halt

OPERATOR = "arn:aws:iam::123456789012:role/operator"


def halts(
    since: datetime, *tiers: Tier, note: str | None = None, whose: str | None = "payments"
) -> tuple[Halt, ...]:
    """Nothing of `tiers` (none: of all) starts from `since` on."""
    return tuple(
        Halt(tier=tier, since=since, by=OPERATOR, note=note, whose=whose) for tier in tiers or tuple(Tier)
    )
