"""Switches: a tier of a team, or of the whole stage, in which nothing starts for a while. Everything goes on but starts.

What comes due meanwhile waits. Once the switch is back, its owner's misfire policy decides about what the switch held
for longer than the grace: the latest of a job runs for all, all of them run, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fencepost.domain.policies import Tier

KEPT = timedelta(hours=48)
"""How long a switch that is back is remembered, for what it held."""
KEPT_OF_TIER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Nothing of `tier` starts from `since` on, until `until` (None: until somebody resumes it). `whose`: the name of a
    team, or None for the stage.
    """

    tier: Tier
    since: datetime
    by: str
    until: datetime | None = None
    note: str | None = None
    whose: str | None = None

    def active(self, now: datetime) -> bool:
        """Whether it holds at `now`."""
        return self.since <= now and (self.until is None or now < self.until)

    def over(self, now: datetime) -> bool:
        """Whether it has ended. One that began by a clock that is a moment ahead of this one has not, though it is not yet
        active by this one.
        """
        return self.until is not None and self.until <= now

    @property
    def says(self) -> str:
        """Who holds what, for the records that it holds."""
        subject = "the stage" if self.whose is None else f"team {self.whose}"
        return f"{subject} was paused by {self.by}" + (f": {self.note}" if self.note else "")


def shut(halts: Iterable[Halt], now: datetime) -> frozenset[Tier]:
    """The tiers in which nothing may start at `now`."""
    return frozenset(halt.tier for halt in halts if halt.active(now))


def active(halts: Iterable[Halt], tier: Tier, now: datetime) -> Halt | None:
    """What holds `tier` at `now`; None if nothing does."""
    return next((halt for halt in halts if halt.tier is tier and halt.active(now)), None)


def paused(halts: Sequence[Halt], tiers: Iterable[Tier], wanted: Halt, now: datetime) -> tuple[Halt, ...]:
    """`halts` with `tiers` held as `wanted` says; one that is held already keeps its beginning."""
    chosen = frozenset(tiers)
    held = {halt.tier: halt for halt in halts if halt.tier in chosen and not halt.over(now)}
    rest = [halt for halt in halts if halt not in held.values()]
    begun = [
        replace(wanted, tier=tier, since=held[tier].since if tier in held else now)
        for tier in Tier
        if tier in chosen
    ]
    return _remembered([*rest, *begun], now)


def resumed(halts: Sequence[Halt], tiers: Iterable[Tier], now: datetime) -> tuple[Halt, ...]:
    """`halts` with those of `tiers` that hold ended now."""
    chosen = frozenset(tiers)
    return _remembered(
        [replace(halt, until=now) if halt.tier in chosen and not halt.over(now) else halt for halt in halts],
        now,
    )


def _remembered(halts: Sequence[Halt], now: datetime) -> tuple[Halt, ...]:
    """Those that hold, and the latest of each tier that ended lately."""
    kept: list[Halt] = []
    for tier in Tier:
        of_tier = [halt for halt in halts if halt.tier is tier]
        open_ones = [halt for halt in of_tier if not halt.over(now)]
        ended = [halt for halt in of_tier if halt.until is not None and now - KEPT < halt.until <= now]
        kept += [*sorted(ended, key=lambda halt: halt.since)[-KEPT_OF_TIER:], *open_ones]
    return tuple(kept)


def released(
    halts: Iterable[Halt], tier: Tier, due: datetime, grace: timedelta, now: datetime
) -> Halt | None:
    """The latest switch of `tier` that is back, and that held what was due at `due` for longer than `grace`."""
    over = [
        halt
        for halt in halts
        if halt.tier is tier
        and halt.until is not None
        and halt.until <= now
        and halt.until - max(due, halt.since) > grace
    ]
    return max(over, key=lambda halt: halt.until or halt.since, default=None)
