"""Five loads, and what becomes of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from fencepost.domain.sizing import Load, advise
from tests.bench.spike.claims import Claims, Sent, claimed
from tests.bench.spike.fleet import Fleet, Outcome, percentile
from tests.bench.spike.parameters import Settings, Target

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TEAMS = 200
DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)
SHARDS = advise(DESIGN_POINT).shards
TIMER_WRITES = float(advise(DESIGN_POINT).timer_writes)


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


def crowded(settings: Settings | None = None, name: str = "48,720 in one second") -> Told:
    """The crowd, claimed by the real scan from three minutes before on."""
    claims = claimed(
        [NOON] * DESIGN_POINT.spike,
        first_pass=NOON - timedelta(seconds=175),
        shards=SHARDS,
        teams=_many,
        timer_writes=TIMER_WRITES,
    )
    return _told(name, settings or advised(), claims)


def outage() -> Told:
    """Nothing ran for an hour at the mean rate; then every shard is scanned, while the mean rate goes on."""
    rng = random.Random(11)
    back = NOON + timedelta(hours=1)
    dues = [NOON + timedelta(seconds=rng.randrange(3600 + 300)) for _ in range(116 * (3600 + 300))]
    both = claimed(
        sorted(dues), first_pass=back, shards=SHARDS, teams=_many, sample=2, timer_writes=TIMER_WRITES
    )
    limit = (back - both.begin) / timedelta(seconds=1)
    sent = tuple(replace(each, team=each.team + TEAMS * (each.due >= limit)) for each in both.sent)
    told = _told("an hour's outage, then recovery", advised(), replace(both, sent=sent))
    told.groups = _split(told, lambda team: "due after it" if team >= TEAMS else "missed")
    return told


def one_team(*, fair: bool = True) -> Told:
    """A hundred thousand of one team of fifty slots come due in one second, beside the mean rate of all others."""
    rng = random.Random(13)
    storm = tuple(Sent(0.0, 60 - rng.random() * 0.4, 60.0, 60.0, "standard", 0) for _ in range(100_000))
    claims = steady(116, 240).beside(Claims(NOON, storm, Counter()))
    name = "one team's 100,000, a cap of 50" + ("" if fair else ", without fair queues")
    told = _told(name, advised(fair=fair, warm=300), claims, caps=lambda team: 50 if team == 0 else 500)
    told.groups = _split(told, lambda team: "that team" if team == 0 else "all others")
    return told


def _told(
    name: str, settings: Settings, claims: Claims, caps: Callable[[int], int] = lambda team: 500
) -> Told:
    outcome = Fleet(settings, Target(), caps).run(claims.sent)
    everybody = [value for values in outcome.lateness.values() for value in values]
    return Told(name, settings, outcome, claims.writes, {"all": everybody})


def _split(told: Told, by: Callable[[int], str]) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for (_, team), values in told.outcome.lateness.items():
        groups.setdefault(by(team), []).extend(values)
    return dict(sorted(groups.items(), reverse=True))
