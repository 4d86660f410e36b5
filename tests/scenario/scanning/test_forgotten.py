"""Jobs that fire so seldom that nothing is left on record of their last firing: retention is as short as two days."""

from __future__ import annotations

from datetime import timedelta

from fencepost.application import keys
from fencepost.application.planting import WATERMARK
from fencepost.application.scanning.sweep import Sweep, SweepReport
from fencepost.application.store import Delete, Put
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.model import Job, Misfire
from tests.support.shard import Shard

MONTHLY = {"cron": "0 2 1 * *", "timezone": "UTC"}


def sweep(shard: Shard) -> SweepReport:
    return Sweep(store=shard.store, scan=shard.scanner(), limits=shard.limits).run(shard.clock.now())


def fired_long_ago() -> tuple[Shard, Job]:
    """It fired on the first of the month, and of that the ledger knows nothing any more."""
    shard = Shard("2026-03-12T02:00:30Z")
    window = Misfire(window=timedelta(days=30))
    job = shard.register("monthly", MONTHLY, misfire=window, created_at=from_wire("2026-01-10T00:00:00Z"))
    return shard, job


def test_C2_P3_a_job_whose_records_have_gone_has_its_timer_and_fires_nothing_again() -> None:
    shard, job = fired_long_ago()
    assert sweep(shard).finds == 0
    shard.scan()
    assert shard.records(job) == []


def test_M07_where_its_timer_is_lost_too_it_fires_next_when_it_is_due_next() -> None:
    shard, job = fired_long_ago()
    planted = shard.plant(job, shard.clock.now())
    assert planted is not None
    shard.store.write(Delete(key=keys.timer(planted)))
    assert sweep(shard).timerless_jobs == 1
    assert shard.store.get(keys.timer(planted)) is not None
    assert sweep(shard).finds == 0
    shard.scan()
    assert shard.records(job) == []


def test_C2_while_the_scan_is_days_behind_nobody_knows_where_the_timer_lies() -> None:
    shard, job = fired_long_ago()
    planted = shard.plant(job, shard.clock.now())
    assert planted is not None
    shard.store.write(Delete(key=keys.timer(planted)))
    behind = to_ms(shard.clock.now() - timedelta(days=3))
    shard.store.write(Put(key=keys.watermark(0), item={"v": 1, WATERMARK: behind}))
    assert sweep(shard).timerless_jobs == 0
