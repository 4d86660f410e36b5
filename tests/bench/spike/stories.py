"""Five loads, and what becomes of them."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from fencepost.domain.sizing import Load, advise
from tests.bench.spike.claims import ALL_STANDARD, Claims, Sent, claimed
from tests.bench.spike.fleet import Fleet, Outcome, percentile
from tests.bench.spike.parameters import Settings, Target

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TEAMS = 200
DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)
SHARDS = advise(DESIGN_POINT).shards
TIMER_WRITES = float(advise(DESIGN_POINT).timer_writes)
TIERS = {"critical": 0.1, "standard": 0.7, "bulk": 0.2}
"""What a load of all tiers is made of."""
OTHERS: Mapping[str, Mapping[str, Any]] = {
    "critical": {"pollers": 20, "concurrency": 400},
    "bulk": {"pollers": None, "concurrency": 200},
    "recovery": {"pollers": None, "concurrency": 50},
}
"""How the stage of the design point feeds the tiers beside `standard` (infra/stages.py; a test compares)."""


@dataclass
class Told:
    """One story told: who it happened to, and what it took."""

    name: str
    settings: Settings
    outcome: Outcome
    claim_writes: Counter[int] = field(default_factory=Counter)
    groups: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def rows(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Lateness of each group in seconds."""
        for name, values in self.groups.items():
            yield (
                name,
                {
                    "firings": float(len(values)),
                    "p50": percentile(values, 0.5),
                    "p99": percentile(values, 0.99),
                    "max": max(values),
                },
            )

    @property
    def peaks(self) -> dict[str, float]:
        """The most of everything in any second."""
        out = self.outcome
        return {
            "begun": max(out.begun.values()),
            "executions": max(out.writes["executions"].values()),
            "control": max(out.writes["control"].values()),
            "claims": max(self.claim_writes.values(), default=0),
            "invocations": out.most_invocations,
            "cold": out.cold,
            "fill": len(out.begun) and sum(out.begun.values()) / out.batches,
            "waiting": max(out.waiting.values(), default=0),
        }


def advised(**changes: object) -> Settings:
    """What `fencepost size` says of the design point."""
    advice = advise(DESIGN_POINT)
    values: dict[str, object] = {
        "pollers": advice.pollers,
        "concurrency": advice.delivery_concurrency,
        "table_writes": float(min(advice.record_writes, advice.slot_writes)),
    }
    return Settings(**{**values, **changes})  # type: ignore[arg-type]  # the values are of the right kinds


def steady(rate: float, seconds: int, *, full_minutes: float = 0.0, begin: datetime = NOON) -> Claims:
    """`rate` firings a second of many teams; of each minute's that share is due at its first second."""
    rng = random.Random(int(rate))
    dues = []
    for second in range(seconds):
        for _ in range(round(rate)):
            full = rng.random() < full_minutes
            dues.append(begin + timedelta(seconds=second // 60 * 60 if full else second))
    return claimed(
        sorted(dues),
        first_pass=begin - timedelta(seconds=175),
        shards=SHARDS,
        teams=_many,
        timer_writes=TIMER_WRITES,
        tiers=TIERS,
    )


def _many(number: int) -> int:
    """Any team but team 0."""
    return 1 + number % (TEAMS - 1)


def mean_rate() -> Told:
    """The mean, half of each minute's firings at its first second."""
    claims = steady(116, 240, full_minutes=0.5)
    return _told("116 a second, half of them at full minutes", advised(warm=300), claims)


def sustained() -> Told:
    """Seven times the mean, every second alike."""
    return _told("812 a second, for three minutes", advised(warm=300), steady(812, 180))


@cache
def _crowd(*, tiers: bool) -> Claims:
    """Claimed by the real scan from three minutes before on."""
    return claimed(
        [NOON] * DESIGN_POINT.spike,
        first_pass=NOON - timedelta(seconds=175),
        shards=SHARDS,
        teams=_many,
        timer_writes=TIMER_WRITES,
        tiers=TIERS if tiers else ALL_STANDARD,
    )


def crowded(
    settings: Settings | None = None, name: str = "48,720 in one second", *, tiers: bool = False
) -> Told:
    """The crowd, all in `standard`, or of all tiers."""
    return _told(name, settings or advised(), _crowd(tiers=tiers))


def outage() -> Told:
    """Nothing ran for an hour at the mean rate; then every shard is scanned, while the mean rate goes on."""
    rng = random.Random(11)
    back = NOON + timedelta(hours=1)
    dues = [NOON + timedelta(seconds=rng.randrange(3600 + 300)) for _ in range(116 * (3600 + 300))]
    both = claimed(
        sorted(dues),
        first_pass=back,
        shards=SHARDS,
        teams=_many,
        sample=2,
        timer_writes=TIMER_WRITES,
        tiers=TIERS,
        after_outage=True,
    )
    limit = (back - both.begin) / timedelta(seconds=1)
    sent = tuple(replace(each, team=each.team + TEAMS * (each.due >= limit)) for each in both.sent)
    told = _told("an hour's outage, then recovery", advised(), replace(both, sent=sent))
    told.groups = {
        f"{tier}, {when}": values
        for when, whose in (("missed", TEAMS.__gt__), ("due after it", TEAMS.__le__))
        for tier, values in _by_tier(told, whose).items()
    }
    return told


def one_team(*, fair: bool = True) -> Told:
    """A hundred thousand of one team of fifty slots come due in one second, beside the mean rate of all others."""
    rng = random.Random(13)
    storm = tuple(Sent(0.0, 60 - rng.random() * 0.4, 60.0, 60.0, "standard", 0) for _ in range(100_000))
    claims = steady(116, 240).beside(Claims(NOON, storm, Counter()))
    name = "one team's 100,000, a cap of 50" + ("" if fair else ", without fair queues")
    told = _told(name, advised(fair=fair, warm=300), claims, caps=lambda team: 50 if team == 0 else 500)
    others = _by_tier(told, lambda team: team != 0)
    told.groups = {
        "that team": told.outcome.lateness["standard", 0],
        **{f"all others, {tier}": values for tier, values in others.items()},
    }
    return told


def _told(
    name: str, settings: Settings, claims: Claims, caps: Callable[[int], int] = lambda team: 500
) -> Told:
    """Each tier has a queue, pollers and functions of its own, and its share of what the tables take."""
    outcome = Outcome()
    for tier in dict.fromkeys(each.tier for each in claims.sent):
        mine = [each for each in claims.sent if each.tier == tier]
        share = len(mine) / len(claims.sent)
        own = replace(
            settings,
            table_writes=settings.table_writes * max(share, 0.1),
            warm=math.ceil(settings.warm * share),
            **OTHERS.get(tier, {}),
        )
        outcome = outcome.beside(Fleet(own, Target(), caps).run(mine))
    told = Told(name, settings, outcome, claims.writes)
    told.groups = {**_by_tier(told), **_by_team(told)}
    return told


def _by_tier(told: Told, whose: Callable[[int], bool] = lambda team: True) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for (tier, team), values in told.outcome.lateness.items():
        if whose(team):
            groups.setdefault(tier, []).extend(values)
    return {tier: groups[tier] for tier in sorted(groups, key=_ORDER.index)}


def _by_team(told: Told) -> dict[str, list[float]]:
    """The team in the middle, and the one that had it worst, by the 99th percentile of what is not bulk."""
    teams: dict[int, list[float]] = {}
    for (tier, team), values in told.outcome.lateness.items():
        if tier != "bulk":
            teams.setdefault(team, []).extend(values)
    ranked = sorted(teams.values(), key=lambda values: (percentile(values, 0.99), len(values)))
    return {"a team in the middle": ranked[len(ranked) // 2], "the worst team": ranked[-1]}


_ORDER = ("critical", "standard", "bulk", "recovery")
