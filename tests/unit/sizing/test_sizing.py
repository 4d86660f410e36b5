"""How large a stage is advised to be, and its bill: held to what was counted, and to arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.scanning.pace import Pace
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Timer, TimerKind
from fencepost.domain.sizing import Load, advise, bill, prices, rivals
from fencepost.domain.sizing.advice import INVOKES_PER_POLLER, PER_POLLER
from fencepost.domain.sizing.bill import pass_seconds
from fencepost.domain.sizing.usage import (
    AUDIT_CALLS,
    AUDIT_READS,
    DELIVERY_MB,
    FIRING,
    NET_CALLS,
    NET_READS,
    PASS_QUEUE_REQUESTS,
    PASS_READS,
    PASS_WRITES,
    SCAN_MB,
    UPKEEP_MB,
)
from infra.names import Fn
from infra.stages import prod
from tests.support.clock import SettableClock

COUNTED = json.loads((Path(__file__).resolve().parents[2] / "bench" / "expected.json").read_text())
DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)
LOADS = st.builds(
    Load,
    jobs=st.integers(1, 10**8),
    rate=st.floats(0.01, 10_000),
    spike=st.integers(0, 10**6),
    target_seconds=st.floats(0.001, 30),
)


@pytest.mark.parametrize(
    ("fill", "path"), [(10, "success, full batches of one team"), (1, "success, alone in its batch")]
)
def test_what_a_firing_uses_is_what_was_counted(fill, path) -> None:
    counted = COUNTED[path]
    assert counted["write_units"] == FIRING.writes == 9
    assert counted["read_units"] == pytest.approx(FIRING.reads(fill))
    assert counted["sqs_requests"] == pytest.approx(FIRING.requests(fill))


def test_what_an_idle_shard_uses_is_what_was_counted() -> None:
    one, tick = COUNTED["a shard's pass with nothing due"], COUNTED["a minute's tick of 64 shards"]
    assert one["write_units"] + tick["write_units"] / 64 == PASS_WRITES
    assert one["read_units"] + tick["read_units"] / 64 == PASS_READS
    assert tick["sqs_requests"] / 64 == PASS_QUEUE_REQUESTS


def test_what_the_daily_passes_use_is_what_was_counted() -> None:
    for path, reads, calls in (
        ("a month-old daily job in the daily second net", NET_READS, NET_CALLS),
        ("a month-old daily job in the daily audit", AUDIT_READS, AUDIT_CALLS),
    ):
        assert (COUNTED[path]["read_units"], COUNTED[path]["calls"]) == (reads, calls), path


def test_functions_have_the_memory_that_is_priced() -> None:
    sizes = {name: size.memory for name, size in prod().functions.items()}
    assert {sizes[name] for name in sizes if name.value.startswith("deliver")} == {DELIVERY_MB}
    assert sizes[Fn.SCAN] == SCAN_MB
    assert sizes[Fn.SWEEP] == sizes[Fn.AUDIT] == UPKEEP_MB


@pytest.mark.parametrize("claims", [1, 33, 109, 330])
def test_a_pass_takes_as_long_as_it_is_priced(claims) -> None:
    limits, clock = Limits(), SettableClock("2026-03-02T10:00:00.300Z")
    begun = clock.now()
    due = from_wire("2026-03-02T10:02:30Z")
    key: dict[str, Any] = {
        "bucket": Bucket.at(due, 0),
        "kind": TimerKind.FIRE,
        "instant": due,
        "due": due,
        "sequence": 1,
    }
    left = [Timer(uid=f"{number:020d}", **key) for number in range(claims)]
    pace = Pace.begin(clock, limits, limits.scan_budget)
    while left:
        group, rest = left[: limits.claim_group], left[limits.claim_group :]
        assert pace.wait(group, len(left))
        clock.advance(seconds=0.07)
        left = rest
    paced = (clock.now() - begun).total_seconds()
    assert pass_seconds(claims) == pytest.approx(paced, abs=1.5)


def test_the_hold_before_due_is_paid_by_whoever_holds() -> None:
    ours = bill(DESIGN_POINT, advise(DESIGN_POINT))
    shared = {line.what for line in ours.lines if line.shared}
    assert "delivery functions" in shared
    assert shared.isdisjoint({"the hold before due", "scan functions", "slots", "the daily audit"})


def test_the_design_point() -> None:
    advice = advise(DESIGN_POINT)
    assert advice.shards == 64
    assert advice.pollers * PER_POLLER * 5 >= DESIGN_POINT.spike
    assert advice.delivery_concurrency == advice.pollers * INVOKES_PER_POLLER


def test_each_write_unit_is_188_dollars_a_month_at_the_design_point() -> None:
    lines = {line.what: line.dollars for line in bill(DESIGN_POINT, advise(DESIGN_POINT)).lines}
    written = sum(lines[name] for name in ("claims: timers", "claims: records", "lease and outcome", "slots"))
    assert written / 9 == pytest.approx(188, abs=0.5)


def test_only_timers_are_priced_as_spread() -> None:
    advice = advise(DESIGN_POINT)
    on_demand, bought = bill(DESIGN_POINT, advice), bill(DESIGN_POINT, advice, provisioned=True)
    differing = [a.what for a, b in zip(on_demand.lines, bought.lines, strict=True) if a.dollars != b.dollars]
    assert differing == ["claims: timers"]
    assert bought.dollars < on_demand.dollars


def test_the_same_delivery_costs_the_same_whoever_schedules() -> None:
    ours = bill(DESIGN_POINT, advise(DESIGN_POINT), provisioned=True)
    scheduler = rivals(DESIGN_POINT, ours)[0]
    fired = (DESIGN_POINT.firings - prices.SCHEDULER_INVOCATIONS_FREE) * prices.SCHEDULER_INVOCATION
    assert scheduler.dollars == pytest.approx(
        ours.shared + fired + DESIGN_POINT.firings * prices.QUEUE_REQUEST
    )


def test_tiers_of_a_price_are_paid_one_after_the_other() -> None:
    small = Load(jobs=1, rate=11_250_000 / 4 / prices.SECONDS_A_MONTH, spike=0)
    temporal = rivals(small, bill(small, advise(small)))[-1]
    assert temporal.dollars == pytest.approx(250 + 225 + 50)  # the example of the vendor's own page


@given(load=LOADS, more=st.integers(1, 10**6))
def test_more_load_never_takes_less(load: Load, more: int) -> None:
    larger = Load(jobs=load.jobs, rate=load.rate, spike=load.spike + more, target_seconds=load.target_seconds)
    less, other = advise(load), advise(larger)
    for name in ("shards", "pollers", "account_concurrency", "record_writes", "slot_writes", "largest_team"):
        assert getattr(less, name) <= getattr(other, name)
    assert bill(load, less).dollars <= bill(larger, other).dollars


@given(load=LOADS)
def test_advice_keeps_to_what_aws_and_a_scan_allow(load: Load) -> None:
    advice = advise(load)
    assert advice.pollers >= 2
    assert advice.account_concurrency >= advice.delivery_concurrency + advice.scan_concurrency + 100
    assert advice.shards & (advice.shards - 1) == 0
    busiest = max(load.sustained * 60, load.crowded_second) / advice.shards
    limits = Limits()
    assert busiest <= limits.claim_rate_max * limits.scan_budget.total_seconds()
    for line in bill(load, advice).lines:
        assert line.dollars >= 0


@pytest.mark.parametrize(
    "wrong",
    [{"jobs": 0}, {"rate": 0}, {"rate": float("nan")}, {"spike": -1}, {"target_seconds": float("inf")}],
)
def test_what_is_no_load_is_refused(wrong) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        Load(**{"jobs": 1, "rate": 1.0, "spike": 0, **wrong})
