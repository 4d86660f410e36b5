"""Who goes next when a team's tiers compete for its slots: by weight, among those that wait."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from fencepost.domain.model import Tier

WEIGHTS: Mapping[Tier, int] = MappingProxyType(
    {Tier.CRITICAL: 8, Tier.STANDARD: 3, Tier.BULK: 1, Tier.RECOVERY: 1}
)


def draw(waiting: Collection[Tier], fraction: float) -> Tier:
    """The tier whose share of [0, 1) holds `fraction`, in proportion to the weights of the tiers that wait.

    A tier that waits always has a share, however full a heavier one is. Raises ValueError where nobody waits or
    `fraction` lies outside [0, 1).
    """
    if not waiting or not 0 <= fraction < 1:
        raise ValueError(f"cannot draw among {len(waiting)} tiers with {fraction}; it takes one and [0, 1)")
    tiers = [tier for tier in WEIGHTS if tier in waiting]
    left = fraction * sum(WEIGHTS[tier] for tier in tiers)
    for tier in tiers[:-1]:
        left -= WEIGHTS[tier]
        if left < 0:
            return tier
    return tiers[-1]
