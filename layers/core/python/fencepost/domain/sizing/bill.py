"""What a month costs, line by line, each with what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.domain.limits import Limits
from fencepost.domain.sizing import prices
from fencepost.domain.sizing.advice import OVERHEAD_SECONDS, PER_POLLER, Advice
from fencepost.domain.sizing.load import Load
from fencepost.domain.sizing.usage import (
    AUDIT_CALLS,
    AUDIT_READS,
    CALL_SECONDS,
    CLAIM_CPU,
    DELIVERY_MB,
    FIRING,
    FULL_CORE_MB,
    NET_CALLS,
    NET_READS,
    PASS_QUEUE_REQUESTS,
    PASS_READS,
    PASS_WRITES,
    SCAN_MB,
    UPKEEP_MB,
    Units,
)

UTILISATION = 0.7
"""Of provisioned capacity: as much as auto scaling keeps in use."""
SURFACES_LATE = 0.07
"""Of the time before due at which a message is sent to surface: the queue's and the poller's part (assumed)."""
HOLD_SECONDS = Limits().surface_early.total_seconds() - SURFACES_LATE
"""From a batch's arrival, shortly before its firings are due, until they are. It is in Lambda's bill."""
PASS_SECONDS = 0.15
"""A pass that finds nothing: fifteen calls, one after the other."""
ROUND_MINUTES = 0.5
"""The share of all firings that is due at the first second of a minute."""
SPREAD_OUT = 0.55
"""Messages that surface together reach idle pollers so much thinner than evenly (simulated, tests/bench/spike)."""
FULL_BATCH = 10.0
RECORD_KB = 0.5
RETENTION_DAYS = 30
JOB_KB = 1.2
LOG_BYTES = 200
METRICS, ALARMS = 60, 45
MINUTES_A_MONTH = 30 * 1440


@dataclass(frozen=True, slots=True)
class Line:
    """Dollars a month for one thing. `shared`: whoever schedules with EventBridge pays it as well."""

    what: str
    dollars: float
    basis: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Bill:
    """A month."""

    lines: tuple[Line, ...]
    firings: float

    @property
    def dollars(self) -> float:
        """A month."""
        return sum(line.dollars for line in self.lines)

    @property
    def per_million(self) -> float:
        """Dollars for a million firings."""
        return self.dollars / self.firings * 1e6

    @property
    def shared(self) -> float:
        """The part that does not depend on who schedules."""
        return sum(line.dollars for line in self.lines if line.shared)


def bill(load: Load, advice: Advice, *, provisioned: bool = False, units: Units = FIRING) -> Bill:
    """A month of `load` on a stage as advised.

    `provisioned`: the timers' table is bought by the hour, at the mean rate, since claims are spread over the minutes
    before they are due. Leases, outcomes and slots come when firings are due: they are always paid on demand.
    """
    lines = [
        *_dynamodb(load, advice, units, provisioned=provisioned),
        *_lambda(load, advice),
        *_rest(load, advice, units),
    ]
    return Bill(tuple(lines), load.firings)


def mean_fill(load: Load, advice: Advice) -> float:
    """Messages in a batch on average. Pollers that are there for a crowd take what trickles in one by one."""
    trickle = load.rate * (1 - ROUND_MINUTES)
    crowd = load.rate * 60 * ROUND_MINUTES
    thin = min(FULL_BATCH, max(1.0, SPREAD_OUT * trickle / advice.pollers))
    thick = min(FULL_BATCH, max(1.0, crowd / advice.pollers))
    return 1 / (ROUND_MINUTES / thick + (1 - ROUND_MINUTES) / thin)


def _dynamodb(load: Load, advice: Advice, units: Units, *, provisioned: bool) -> Iterator[Line]:
    firings = load.firings
    passes = advice.shards * MINUTES_A_MONTH
    if provisioned:
        capacity = load.rate * units.timer_writes / UTILISATION
        dollars = capacity * prices.WRITE_CAPACITY_HOUR * prices.HOURS_A_MONTH
        yield Line("claims: timers", dollars, f"{capacity:,.0f} write units a second, bought by the hour")
    else:
        dollars = firings * units.timer_writes * prices.WRITE_UNIT
        yield Line("claims: timers", dollars, f"{units.timer_writes:g} write units each")
    yield Line(
        "claims: records",
        firings * units.claim_writes * prices.WRITE_UNIT,
        f"{units.claim_writes:g} write units each",
    )
    yield Line(
        "lease and outcome",
        firings * units.record_writes * prices.WRITE_UNIT,
        f"{units.record_writes:g} write units each",
        shared=True,
    )
    yield Line(
        "slots", firings * units.slot_writes * prices.WRITE_UNIT, f"{units.slot_writes:g} write units each"
    )
    reads = units.reads(mean_fill(load, advice))
    yield Line("reads", firings * reads * prices.READ_UNIT, f"{reads:.1f} read units each")
    idle = passes * (PASS_WRITES * prices.WRITE_UNIT + PASS_READS * prices.READ_UNIT)
    yield Line("passes over shards", idle, f"{advice.shards} shards, every minute")
    gigabytes = _stored(load)
    stored = max(0.0, gigabytes - prices.STORED_GIGABYTES_FREE) * prices.STORED_GIGABYTE_MONTH
    yield Line(
        "storage and recovery",
        stored + gigabytes * prices.RECOVERY_GIGABYTE_MONTH,
        f"{gigabytes:,.0f} GB: records of {RETENTION_DAYS} days",
        shared=True,
    )


def _stored(load: Load) -> float:
    """Gigabytes of jobs, and of records for as long as they are kept."""
    return load.jobs * JOB_KB / 1e6 + load.firings * RECORD_KB / 1e6 / 30 * RETENTION_DAYS


def _daily(load: Load) -> Iterator[Line]:
    """Once a day both tables are read as a whole, weakly, and each job's newest records and timer are looked up; and
    each job's day is audited.
    """
    everything, jobs = (kilobytes * 1e6 / 4 for kilobytes in (_stored(load), load.jobs * JOB_KB / 1e6))
    for what, units, calls in (
        ("the daily second net", everything * 0.5 + load.jobs * NET_READS, NET_CALLS),
        ("the daily audit", jobs * 0.5 + load.jobs * AUDIT_READS, AUDIT_CALLS),
    ):
        seconds = load.jobs * calls * CALL_SECONDS
        dollars = units * prices.READ_UNIT + seconds * UPKEEP_MB / 1024 * prices.GIGABYTE_SECOND
        basis = f"{units / 1e6:,.0f} million read units a day, {calls * CALL_SECONDS * 1000:g} ms a job"
        yield Line(what, 30 * dollars, basis)


def pass_seconds(claims: float) -> float:
    """How long a shard's pass takes that claims so many: a group a second, and each waits for its moment."""
    groups = math.ceil(claims / Limits().claim_group)
    waits = 0.5 + (groups - 1) * Limits().claim_group / Limits().claim_rate_min if groups else 0.0
    return PASS_SECONDS + claims * CLAIM_CPU * FULL_CORE_MB / SCAN_MB + waits


def _lambda(load: Load, advice: Advice) -> Iterator[Line]:
    fill = mean_fill(load, advice)
    batches = load.firings / fill
    seconds = load.target_seconds + OVERHEAD_SECONDS
    yield Line(
        "delivery functions",
        _invoked(batches, seconds, DELIVERY_MB),
        f"{seconds:.2g} s for {fill:.1f} at a time, {DELIVERY_MB} MB",
        shared=True,
    )
    held = batches * HOLD_SECONDS * DELIVERY_MB / 1024 * prices.GIGABYTE_SECOND
    yield Line("the hold before due", held, f"{HOLD_SECONDS:.2g} s of each batch, in the same functions")
    passes = advice.shards * MINUTES_A_MONTH
    each = pass_seconds(load.firings / passes)
    basis = f"a pass of a shard each minute: {each:.2g} s, {SCAN_MB} MB"
    yield Line("scan functions", _invoked(passes, each, SCAN_MB), basis)
    yield from _daily(load)
    dollars = advice.pollers * prices.POLLER_MONTH
    yield Line(
        "pollers",
        dollars,
        f"{advice.pollers} provisioned, of {PER_POLLER} messages a second each",
        shared=True,
    )


def _rest(load: Load, advice: Advice, units: Units) -> Iterator[Line]:
    firings = load.firings
    fill = mean_fill(load, advice)
    requests = units.requests(fill)
    passes = advice.shards * MINUTES_A_MONTH * PASS_QUEUE_REQUESTS
    asked = firings * requests
    dollars = max(0.0, asked + passes - prices.QUEUE_REQUESTS_FREE) * prices.QUEUE_REQUEST
    yield Line(
        "queues", dollars + asked * prices.FAIR_QUEUE_REQUEST, f"{requests:.2f} requests each", shared=True
    )
    gigabytes = firings * (load.payload_kb + 0.5) / 1e6
    egress = max(0.0, gigabytes - prices.EGRESS_GIGABYTES_FREE) * prices.EGRESS_GIGABYTE
    yield Line("traffic to targets", egress, f"{gigabytes:,.0f} GB", shared=True)
    logged = firings / fill * LOG_BYTES / 1e9
    yield Line(
        "logs", logged * prices.LOGGED_GIGABYTE, f"{logged:,.0f} GB, a line for each batch", shared=True
    )
    watched = (
        METRICS * prices.METRIC_MONTH
        + ALARMS * prices.ALARM_MONTH
        + prices.DASHBOARD_MONTH
        + prices.KEY_MONTH
    )
    yield Line(
        "metrics, alarms, key", watched, f"{METRICS} metrics, {ALARMS} alarms, a dashboard", shared=True
    )


def _invoked(times: float, seconds: float, megabytes: int) -> float:
    return times * (prices.INVOCATION + seconds * megabytes / 1024 * prices.GIGABYTE_SECOND)
