"""Draws a plan from a seed."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.simulation.draw_jobs import Drawing, Jobs, Teams
from tests.simulation.draw_ops import Ops
from tests.simulation.faults import Fault, Kind
from tests.simulation.kernel import MINUTE, MS, SECOND
from tests.simulation.mix import Profile
from tests.simulation.plan import FAULTS_END, Plan, Trouble
from tests.simulation.profiles import PROFILES

DAYS = (datetime(2026, 3, 2, 10, tzinfo=UTC), datetime(2026, 7, 14, 21, tzinfo=UTC))
CHANGES = (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC))


def plan_of(seed: int, profile: str = "mixed") -> Plan:
    """The plan of a seed; the same for ever."""
    chance, mix = random.Random(f"{profile}/{seed}"), PROFILES[profile]
    changes = chance.random() < 0.1
    begin = chance.choice(CHANGES) if changes else chance.choice(DAYS)
    begin += timedelta(0) if changes else timedelta(minutes=chance.randrange(60))
    drawn = (chance, mix, begin, changes)
    teams = tuple(Teams(*drawn).team(number) for number in range(chance.randint(*mix.teams)))
    jobs = Jobs(*drawn).jobs(teams)
    ops = Ops(*drawn)
    plan = Plan(
        seed=seed,
        profile=profile,
        begin=begin,
        shards=chance.choice((1, 1, 1, 2)),
        latency=_latency(chance, mix),
        page_size=chance.choice(mix.pages),
        slowest=chance.randint(*mix.slowest),
        skews=chance.choice((0, mix.skews // 4, mix.skews)),
        strict=seed % 20 == 0,
        teams=teams,
        jobs=jobs,
        ops=ops.ops(jobs, teams),
        faults=tuple(_fault(ops, number) for number in range(chance.randint(*mix.faults))),
        troubles=_troubles(ops),
        asleep=_asleep(ops),
        sweeps=_sweeps(ops),
        odds={kind: odds for kind, odds in mix.mail.items() if chance.random() < 0.6},
        deaf=chance.choice((0.0, mix.deaf)),
        zones_at=chance.randint(15 * MINUTE, FAULTS_END - 10 * MINUTE) if mix.zones else None,
        asks=mix.asks,
        lanes=mix.lanes,
    )
    return replace(plan, ops=(*plan.ops, *ops.refreshes(plan))) if mix.prompt else plan


def _latency(chance: random.Random, mix: Profile) -> tuple[int, int]:
    """From a quick network to one where calls of neighbours lie beside each other for seconds."""
    low, high = mix.latency
    slow = chance.choice((low, low, high // 5, high))
    return (2 * MS, max(slow, 4 * MS))


def _fault(ops: Ops, number: int) -> Fault:
    chance, mix = ops.chance, ops.profile
    kind = Kind(ops.weighed(mix.fault_weights))
    aimed = number >= 5 and chance.random() < mix.aimed_faults
    in_a_row = mix.partly if kind is Kind.UNPROCESSED else 0
    aimed = aimed and not in_a_row
    low, high = _amounts(kind, mix)
    return Fault(
        number=number,
        kind=kind,
        at=chance.randint(MINUTE, FAULTS_END - 10 * MINUTE),
        on=ops.aim() if aimed else None,
        skip=0 if aimed else chance.randint(0, 30),
        amount=int(low * (high / low) ** chance.random()),
        repeat=chance.choice((0, 0, 1, 2, 6)) if kind in {Kind.THROTTLE, Kind.CONFLICT} else in_a_row,
    )


def _amounts(kind: Kind, mix: Profile) -> tuple[int, int]:
    match kind:
        case Kind.LATE_EFFECT:
            return 10 * MS, 5 * SECOND
        case Kind.PAUSE_BEFORE | Kind.PAUSE_AFTER:
            return mix.pauses
        case _:
            return 1, 1


def _asleep(drawing: Drawing) -> tuple[Trouble, ...]:
    chance, mix = drawing.chance, drawing.profile
    if mix.asleep == (0, 0):
        return ()
    found = []
    for _ in range(drawing.number(mix.asleep)):
        begins = chance.randint(4 * MINUTE, FAULTS_END - 10 * MINUTE)
        lasts = chance.randint(MINUTE, 6 * MINUTE)
        found.append(Trouble(kind=chance.choice(mix.tiers), begins=begins, ends=begins + lasts))
    return tuple(found)


def _sweeps(drawing: Drawing) -> tuple[int, ...]:
    chance, mix = drawing.chance, drawing.profile
    if mix.sweeps == (0, 0):
        return ()
    return tuple(chance.randint(5 * MINUTE, FAULTS_END) for _ in range(drawing.number(mix.sweeps)))


def _troubles(drawing: Drawing) -> tuple[Trouble, ...]:
    chance, mix = drawing.chance, drawing.profile
    found = []
    for _ in range(drawing.number(mix.troubles)):
        begins = chance.randint(4 * MINUTE, FAULTS_END - 10 * MINUTE)
        longest = min(mix.longest_gap, FAULTS_END - begins)
        lasts = int(MINUTE * (longest / MINUTE) ** chance.random())
        found.append(Trouble(kind=drawing.weighed(mix.trouble_weights), begins=begins, ends=begins + lasts))
    return tuple(found)
