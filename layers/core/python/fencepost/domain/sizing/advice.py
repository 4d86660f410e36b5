"""The settings of a stage that bears a load. Why each is as it is, is written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fencepost.domain.limits import Limits
from fencepost.domain.sizing.load import Load

PER_POLLER = 100
"""Messages a second that one poller takes off a queue: ten polls of ten, with ten invocations of its own at most."""
INVOKES_PER_POLLER = 10
BATCH = 10
OVERHEAD_SECONDS = 0.08
"""Reads, slot, lease and outcome around a call."""
DRAIN_SECONDS = 4.0
"""In which a crowded second shall have begun: the promise less what a start takes."""
PER_SHARD_MINUTE = 1_000
"""Claims that one shard is asked for in its busiest minute; a pass could do four times that."""
RECOVERY_FACTOR = 24
"""How much faster than the mean timers can be claimed, so that an hour's outage is claimed within three minutes."""
FEWEST_POLLERS = 2
MOST_MINIMUM_POLLERS = 200
UNRESERVED = 100
SPREAD_SECONDS = 150
"""Over which claims of a crowded minute are spread: the horizon less half a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to set. Write and read units are of the crowded second, a second; concurrency is of Lambda."""

    shards: int
    pollers: int
    delivery_concurrency: int
    scan_concurrency: int
    account_concurrency: int
    timer_writes: int
    record_writes: int
    slot_writes: int
    job_reads: int
    largest_team: int


def advise(load: Load) -> Advice:
    """Settings for `load`, all tiers together: `standard` is reckoned to carry it."""
    limits = Limits()
    crowd = load.crowded_second
    busiest_minute = max(load.sustained * 60, crowd)
    shards = _power_of_two(max(4, math.ceil(busiest_minute / PER_SHARD_MINUTE)))
    pollers = max(FEWEST_POLLERS, math.ceil(crowd / (PER_POLLER * DRAIN_SECONDS)))
    concurrency = pollers * INVOKES_PER_POLLER
    begun = crowd / DRAIN_SECONDS
    claims = max(load.sustained, crowd / SPREAD_SECONDS)
    claims = min(claims, float(shards * limits.claim_rate_max))
    return Advice(
        shards=shards,
        pollers=pollers,
        delivery_concurrency=concurrency,
        scan_concurrency=shards,
        account_concurrency=_hundreds(concurrency + shards + UNRESERVED + 100),
        timer_writes=_hundreds(3 * max(claims, RECOVERY_FACTOR * load.rate)),
        record_writes=_hundreds(2 * claims + 2 * begun),
        slot_writes=_hundreds(2 * begun),
        job_reads=_hundreds(2.2 * begun + claims),
        largest_team=math.ceil(begun * (load.target_seconds + OVERHEAD_SECONDS)),
    )


def _power_of_two(least: int) -> int:
    return int(2 ** math.ceil(math.log2(least)))


def _hundreds(amount: float) -> int:
    return math.ceil(amount / 100) * 100
