"""Claims in time: one record per occurrence, the chain inside the horizon, the bucket as its own outbox."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.messages import ScanRequest, read_scan
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError
from fencepost.application.scanning.tick import stagger
from fencepost.application.store import Delete
from fencepost.domain.instants import SECOND, ZERO, from_wire, to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Job
from fencepost.domain.states import ExecutionState, Reason
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
DAILY = {"cron": "30 2 * * *", "timezone": "UTC"}


def instants(shard: Shard, job: Job) -> list[str]:
    return [to_wire(record.due)[11:19] for record in shard.records(job)]


def test_a_firing_is_claimed_a_horizon_ahead_and_its_successor_planted() -> None:
    shard = Shard("2026-03-01T02:00:00Z")
    job = shard.register("report", DAILY)
    assert shard.scan().claimed == 0
    report = shard.scan("2026-03-01T02:28:10Z")
    assert report.claimed == 1
    record = shard.record(job, "2026-03-01T02:30:00Z")
    assert record is not None
    assert record.state is ExecutionState.QUEUED
    assert [to_wire(timer.instant) for timer in shard.timers()] == ["2026-03-02T02:30:00.000Z"]
    assert shard.sent() == [str(record.id)]


def test_D8_the_message_surfaces_within_the_second_before_due_and_shortly_before_it() -> None:
    shard = Shard("2026-03-01T02:28:10.400Z")
    shard.register("report", DAILY)
    shard.scan()
    assert to_wire(shard.memory_queues.next_visible()) == "2026-03-01T02:29:59.730Z"  # type: ignore[arg-type]  # one message waits


def test_B7_the_chain_is_followed_inside_the_horizon_link_by_link() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", {"every": "PT15S", "anchor": "2026-03-01T00:00:00Z"})
    report = shard.scan()
    assert report.claimed == len(shard.records(job)) == len(set(shard.sent()))
    assert instants(shard, job)[:3] == ["02:00:45", "02:01:00", "02:01:15"]
    [timer] = shard.timers()
    assert timer.bucket.minute > from_wire("2026-03-01T02:03:30Z").replace(second=0)
    assert timer.ordinal == report.claimed + 1


@pytest.mark.parametrize("passes", [2, 5])
def test_D07_repeated_scans_add_nothing(passes: int) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    shard.scan()
    before, sent = shard.records(job), shard.sent()
    for _ in range(passes):
        shard.scan()
    assert shard.records(job) == before
    assert shard.sent() == sent


def test_D07_three_ticks_in_a_minute_fan_out_once_within_the_lease() -> None:
    shard = Shard("2026-03-01T02:00:05Z", shards=4)
    reports = [shard.tick().run(shard.clock.now()) for _ in range(3)]
    assert [report.scans for report in reports] == [4, 0, 0]
    shard.clock.advance(seconds=21)
    assert shard.tick().run(shard.clock.now()).scans == 4


@pytest.mark.parametrize("shards", [1, 4, 64, 256])
def test_D07_shards_follow_each_other_over_most_of_the_minute_and_each_keeps_its_place(shards: int) -> None:
    limits = Limits(shards=shards)
    begun = [stagger(shard, limits) for shard in range(shards)]
    assert begun == sorted(begun)
    assert begun[0] == 0
    assert begun[-1] <= min(shards, 52), "the last one is through before the minute's next tick"
    assert max(Counter(begun).values()) <= -(-shards // 50) + 1, "claims of a minute are even"


def asked(shard: Shard) -> list[timedelta]:
    """By shard: how long after the last tick its pass shall begin."""
    waiting = [
        (read_scan(each.body), each.visible_at) for each in shard.memory_queues.waiting(QueueName.SCAN)
    ]
    last = max(request.now for request, _ in waiting)
    begins = {request.shard: at - request.now for request, at in waiting if request.now == last}
    return [begins[number] for number in range(shard.limits.shards)]


def test_D07_where_ticks_follow_each_other_each_shard_has_its_own_second() -> None:
    shard = Shard("2026-03-01T02:00:05Z", shards=64)
    shard.tick().run(shard.clock.now())
    assert set(asked(shard)) == {ZERO}, "the first one has none before it"
    shard.clock.advance(minutes=1)
    shard.tick().run(shard.clock.now())
    assert asked(shard) == [stagger(number, shard.limits) * SECOND for number in range(64)]


def test_H09_after_a_minute_without_a_tick_no_shard_waits_for_its_turn() -> None:
    shard = Shard("2026-03-01T02:00:05Z", shards=64)
    for minutes in (1, 2):
        shard.tick().run(shard.clock.now())
        shard.clock.advance(minutes=minutes)
    assert max(asked(shard)) > SECOND
    shard.tick().run(shard.clock.now())
    assert set(asked(shard)) == {ZERO}


@pytest.mark.parametrize("minutes", [1, 2, 10, 15])
def test_H09_a_missing_tick_loses_nothing(minutes: int) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    shard.scan()
    shard.clock.advance(minutes=minutes)
    shard.scan()
    covered = {record.due for record in shard.records(job)}
    ranges = [(record.due, record.until) for record in shard.records(job) if record.until is not None]
    moment = from_wire("2026-03-01T02:01:00Z")
    while moment <= shard.clock.now():
        assert moment in covered or any(first <= moment <= last for first, last in ranges), moment
        moment = moment.replace(minute=moment.minute + 1)


def test_M09_a_timer_stays_until_the_queue_accepted_its_message() -> None:
    class Deaf:
        def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
            raise QueueUnavailableError(f"{len(messages)} messages were not taken")

        def set_visibility(self, message: object, seconds: int) -> None:
            raise AssertionError("nothing is in hand")

    shard = Shard("2026-03-01T02:28:10Z")
    job = shard.register("report", DAILY)
    deaf = shard.scanner(queues=Deaf())
    deaf.run(ScanRequest(0, shard.clock.now()))
    assert len(shard.timers()) == 2
    assert shard.sent() == []
    shard.clock.advance(seconds=50)
    shard.scan()
    assert shard.sent() == [str(shard.records(job)[0].id)]
    assert len(shard.timers()) == 1


def test_T11_a_schedule_that_runs_out_exhausts_the_job_and_nothing_else_changes() -> None:
    shard = Shard("2026-03-01T02:00:00Z")
    job = shard.register("once", {"at": "2026-03-01T02:01:00Z"})
    report = shard.scan()
    assert (report.claimed, report.exhausted) == (1, 1)
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["exhausted"] is True
    assert item["state"] == "ACTIVE"
    assert shard.timers() == []


def test_max_firings_is_counted_by_ordinal() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("thrice", {**EVERY_MINUTE, "max_firings": 3})
    shard.scan()
    shard.scan("2026-03-01T02:03:30Z")
    assert [record.ordinal for record in shard.records(job)] == [1, 2, 3]
    assert shard.timers() == []


def test_jitter_moves_the_effective_instant_and_never_the_identity() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("spread", {**EVERY_MINUTE, "jitter_seconds": 30})
    shard.scan()
    for record in shard.records(job):
        assert record.id.nominal is not None
        assert 0 <= (record.due - record.id.nominal).total_seconds() <= 30
        assert record.id.nominal.second == 0


def test_B2_an_absent_job_proves_nothing_and_raises_an_alarm_after_ten_minutes() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("ghost", EVERY_MINUTE)
    shard.store.write(Delete(key=keys.job(job.uid)))
    report = shard.scan()
    assert (report.left, report.absent_jobs, len(shard.timers())) == (1, 0, 1)
    report = shard.scan("2026-03-01T02:11:30Z")
    assert (report.left, report.absent_jobs, len(shard.timers())) == (1, 1, 1)


def test_B2_a_job_older_than_its_timer_leaves_the_timer() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    stale = shard.register("edited", EVERY_MINUTE)
    newer = shard.edit(stale, {"cron": "*/2 * * * *", "timezone": "UTC"})
    shard.put(stale)
    report = shard.scan()
    assert all(record.generation == 1 for record in shard.records(stale))
    assert report.left >= 1
    shard.put(newer)
    shard.scan()
    assert "02:02:00" in instants(shard, newer)


def test_F5_a_restored_stage_skips_what_was_due_before_it_opened() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    scanner = shard.scanner()
    shard.clock.set("2026-03-01T03:00:10Z")
    opened = replace(scanner.claimer, no_fire_before=shard.clock.now())
    replace(scanner, claimer=opened).run(ScanRequest(0, shard.clock.now()))
    first = shard.record(job, "2026-03-01T02:01:00Z")
    assert first is not None
    assert (first.state, first.reason) == (ExecutionState.SKIPPED, Reason.RESTORED)
    assert first.until == from_wire("2026-03-01T03:00:00Z")
    assert first.expires_at is not None
