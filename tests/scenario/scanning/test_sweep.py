"""The second net: it finds nothing on a healthy stage, and whatever nothing points at on a broken one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from fencepost.application import keys
from fencepost.application.codec import encode_execution, encode_timer
from fencepost.application.planting import WATERMARK
from fencepost.application.scanning.sweep import Sweep, SweepReport
from fencepost.application.store import Delete, Item, Put, Share, Store
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Bucket, Misfire, MisfirePolicy
from fencepost.domain.states import ExecutionState
from tests.support.registry import Beside
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
HOURLY = {"cron": "0 * * * *", "timezone": "UTC"}


def sweep(shard: Shard) -> SweepReport:
    return Sweep(store=shard.store, scan=shard.scanner(), limits=shard.limits).run(shard.clock.now())


def test_a_healthy_stage_has_no_finds() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    shard.register("often", EVERY_MINUTE)
    shard.register("hourly", HOURLY)
    shard.register("later", {"at": "2026-03-05T00:00:00Z"})
    shard.register("jittered", {**HOURLY, "jitter_seconds": 900})
    edited = shard.register("edited", EVERY_MINUTE)
    for _ in range(5):
        shard.scan()
        shard.clock.advance(seconds=60)
    shard.edit(edited, HOURLY)
    shard.scan()
    report = sweep(shard)
    assert (report.finds, report.unreadable) == (0, [])
    assert report.jobs_seen == 5


def test_M07_an_active_job_whose_timer_was_lost_gets_it_back() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("hourly", HOURLY)
    shard.scan()
    [timer] = shard.timers()
    shard.store.write(Delete(key=keys.timer(timer)))
    assert sweep(shard).timerless_jobs == 1
    [back] = shard.timers()
    assert replace(back, tzdata="") == timer
    assert sweep(shard).finds == 0
    shard.scan("2026-03-01T02:58:30Z")
    assert len(shard.records(job)) == 1


def test_C2_a_timer_behind_the_watermark_is_claimed_after_all() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.scan()
    shard.scan("2026-03-01T02:20:30Z")
    behind = replace(timer, bucket=Bucket(timer.bucket.minute - timedelta(hours=5), 0))
    shard.store.write(Put(key=keys.timer(behind), item=encode_timer(behind)))
    before = len(shard.records(job))
    assert sweep(shard).stray_buckets == 1
    assert len(shard.records(job)) == before
    assert sweep(shard).stray_buckets == 0


def test_an_unfinished_execution_that_nobody_woke_for_an_hour_is_woken() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:02:00Z"})
    shard.scan()
    shard.clock.set("2026-03-01T02:50:00Z")
    assert sweep(shard).forgotten_executions == 0
    shard.clock.set("2026-03-01T03:03:00Z")
    assert sweep(shard).forgotten_executions == 1
    [timer] = shard.timers()
    assert timer.execution == shard.records(job)[0].id


def test_a_running_one_with_a_live_lease_is_left_alone() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:02:00Z"})
    shard.scan()
    [record] = shard.records(job)
    shard.clock.set("2026-03-01T05:00:00Z")
    leased = replace(
        record, state=ExecutionState.RUNNING, fence=9, lease_until=shard.clock.now() + timedelta(minutes=5)
    )
    shard.store.write(Put(key=keys.execution(record.id), item=encode_execution(leased)))
    assert sweep(shard).finds == 0


def test_a_long_wait_under_a_cap_is_no_find_unless_its_lane_lost_its_mark() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:02:00Z"})
    shard.scan()
    [record] = shard.records(job)
    waiting = replace(record, state=ExecutionState.WAITING, lane=keys.backlog_lane(record, 8))
    shard.store.write(Put(key=keys.execution(record.id), item=encode_execution(waiting)))
    shard.clock.set("2026-03-01T05:00:00Z")
    assert sweep(shard).unmarked_lanes == 1
    assert sweep(shard).finds == 0


def test_R10_what_cannot_be_read_is_listed_and_holds_up_nobody() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("hourly", HOURLY)
    shard.store.write(Delete(key=keys.timer(shard.timers()[0])))
    shard.store.write(Put(key=keys.job("zzzzzzzzzzzzzzzzzzzz"), item={"v": 1, "state": "ACTIVE"}))
    shard.store.write(
        Put(
            key=keys.execution(ExecutionId.run_now(job.uid, "broken")),
            item={"v": 1, "state": "QUEUED", "team": 3},
        )
    )
    report = sweep(shard)
    assert len(report.unreadable) == 2
    assert report.timerless_jobs == 1


def test_a_chain_that_catches_up_long_after_its_instants_is_not_timerless() -> None:
    """Its next link lies near now, more than half a day behind which its own instant is."""
    shard = Shard("2026-03-01T00:00:30Z")
    missed = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=900)
    shard.register("report", {"cron": "*/2 * * * *", "timezone": "UTC"}, misfire=missed)
    shard.clock.set("2026-03-02T05:00:30Z")
    shard.scan()

    assert min(timer.instant for timer in shard.timers()) < shard.clock.now() - timedelta(hours=16)
    assert sweep(shard).timerless_jobs == 0


class Slow(Beside):
    """A table takes ten minutes to read; meanwhile the scan goes on."""

    def __init__(self, store: Store, shard: Shard) -> None:
        super().__init__(store)
        self._shard = shard

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        for page in self.store.scan(share):
            self._shard.clock.advance(minutes=10)
            minute = self._shard.clock.now() - self._shard.limits.watermark_lag - timedelta(minutes=1)
            proven = {"v": 1, WATERMARK: to_ms(minute)}
            self.store.write(Put(key=keys.watermark(0), item=proven))
            yield page


def test_C2_a_share_that_takes_long_mends_what_it_finds_at_its_end() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    lost = shard.register("often", EVERY_MINUTE)
    once = shard.register("once", {"at": "2026-03-01T02:02:00Z"})
    shard.scan()
    for timer in shard.timers():
        if timer.uid == lost.uid:
            shard.store.write(Delete(key=keys.timer(timer)))
    shard.clock.set("2026-03-01T03:10:00Z")
    slow = Slow(shard.store, shard)
    report = Sweep(store=slow, scan=shard.scanner(), limits=shard.limits).run(shard.clock.now())
    assert report.forgotten_executions > 0
    planted = shard.timers()
    assert {timer.uid for timer in planted if timer.execution is None} == {lost.uid}
    assert shard.records(once)[0].id in {timer.execution for timer in planted}


def test_F5_after_a_restore_what_is_yet_to_come_is_woken_as_well() -> None:
    """Its message went with the queues, be it due already or in two minutes."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:03:00Z"})
    shard.scan()
    Sweep(store=shard.store, scan=shard.scanner(), limits=shard.limits, overdue=timedelta(0)).run(
        shard.clock.now()
    )
    [timer] = shard.timers()
    assert timer.execution == shard.records(job)[0].id
