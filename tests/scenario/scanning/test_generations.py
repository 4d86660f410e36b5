"""Edits, pauses and deletes near due: whose rules an occurrence falls under, and what becomes of the old ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.codec import encode_execution
from fencepost.application.registry.counting import next_ordinal
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.succession import expected_occurrence
from fencepost.application.store import Put
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Execution, Job, Overlap, Tier
from fencepost.domain.schedule import effective_instant
from fencepost.domain.states import ExecutionState, Reason
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
EVERY_TWO = {"cron": "*/2 * * * *", "timezone": "UTC"}


def summary(shard: Shard, job: Job) -> dict[str, str]:
    return {
        to_wire(record.due)[14:19]: f"{record.state}({record.reason})" if record.reason else str(record.state)
        for record in shard.records(job)
    }


def rewrite(shard: Shard, record: Execution) -> None:
    shard.store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))


def fire_timers(shard: Shard, job: Job) -> list[int]:
    return [timer.generation for timer in shard.timers() if timer.uid == job.uid]


def test_B3_what_was_due_before_an_edit_still_runs_by_its_own_generation() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    shard.clock.set("2026-03-01T02:01:20Z")
    job = shard.edit(job, {"cron": "30 * * * *", "timezone": "UTC"})
    shard.scan("2026-03-01T02:01:40Z")
    assert summary(shard, job) == {"01:00": "QUEUED"}
    assert fire_timers(shard, job) == [2]


def test_B6_a_superseded_timer_is_settled_before_it_is_dropped() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    job = shard.edit(job, {"cron": "30 * * * *", "timezone": "UTC"})
    report = shard.scan()
    assert report.superseded == 1
    assert summary(shard, job) == {"01:00": "CANCELLED(superseded)"}
    assert fire_timers(shard, job) == [2]
    settled = shard.record(job, "2026-03-01T02:01:00Z")
    assert settled is not None
    assert settled.expires_at is not None


def test_B5_a_queued_record_of_the_old_schedule_is_adopted_by_the_new_one() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    shard.scan()
    job = shard.edit(job, EVERY_TWO)
    report = shard.scan()
    assert report.adopted == 1
    shared = shard.record(job, "2026-03-01T02:02:00Z")
    assert shared is not None
    assert (shared.state, shared.generation, shared.planted_generation) == (ExecutionState.QUEUED, 2, 2)
    assert fire_timers(shard, job).count(2) == 1


def test_B5_a_cancelled_one_returns_to_the_queue() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    job = shard.edit(job, {"cron": "30 * * * *", "timezone": "UTC"})
    shard.scan()
    assert summary(shard, job) == {"01:00": "CANCELLED(superseded)"}
    job = shard.edit(job, EVERY_MINUTE)
    shard.scan()
    back = shard.record(job, "2026-03-01T02:01:00Z")
    assert back is not None
    assert (back.state, back.reason, back.expires_at, back.generation) == (
        ExecutionState.QUEUED,
        None,
        None,
        3,
    )
    assert str(back.id) in shard.sent()


def test_B5_what_returns_to_the_queue_does_so_by_the_newer_rules() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE, tier=Tier.BULK)
    job = shard.edit(job, {"cron": "30 * * * *", "timezone": "UTC"})
    shard.scan()
    assert summary(shard, job) == {"01:00": "CANCELLED(superseded)"}
    newer = {"cron": "* * * * *", "timezone": "Asia/Kolkata", "jitter_seconds": 20}
    job = shard.edit(job, newer, tier=Tier.CRITICAL, overlap=Overlap.SKIP)
    shard.scan()
    back = shard.record(job, "2026-03-01T02:01:00Z")
    assert back is not None
    assert (back.state, back.tier, back.overlap) == (ExecutionState.QUEUED, Tier.CRITICAL, Overlap.SKIP)
    assert back.offset == timedelta(hours=5, minutes=30).total_seconds()
    assert back.due == effective_instant(job.schedule, job.uid, from_wire("2026-03-01T02:01:00Z"))
    assert back.due > from_wire("2026-03-01T02:01:00Z")


def test_B5_what_has_begun_stands_and_the_chain_goes_on_once() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    shard.scan()
    begun = shard.record(job, "2026-03-01T02:02:00Z")
    assert begun is not None
    rewrite(shard, replace(begun, state=ExecutionState.RUNNING, fence=7, attempt=1))
    job = shard.edit(job, EVERY_TWO)
    shard.scan()
    shard.scan()
    stands = shard.record(job, "2026-03-01T02:02:00Z")
    assert stands is not None
    assert (stands.state, stands.generation, stands.planted_generation) == (ExecutionState.RUNNING, 1, 2)
    assert fire_timers(shard, job).count(2) == 1


@pytest.mark.parametrize("begun", [False, True], ids=["adopted", "begun"])
def test_B5_a_shared_instant_counts_by_the_newer_schedule(begun: bool) -> None:
    """Found by simulation: the count of the older schedule was carried on, and a resume found the newer one used up; and
    its offset, from which a refresh of zones began hours too early."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", {**EVERY_MINUTE, "max_firings": 9})
    for minute in range(1, 4):
        shard.scan(f"2026-03-01T02:0{minute}:50Z")
    shared = shard.record(job, "2026-03-01T02:04:00Z")
    assert shared is not None
    assert shared.ordinal == 4
    if begun:
        rewrite(shard, replace(shared, state=ExecutionState.RUNNING, fence=7, attempt=1))
    job = shard.edit(job, {**EVERY_TWO, "timezone": "Africa/Cairo", "max_firings": 3})
    shard.scan()
    after = shard.record(job, "2026-03-01T02:04:00Z")
    assert after is not None
    assert (after.generation, after.planted_generation, after.ordinal) == (1 if begun else 2, 2, 1)
    assert after.offset == timedelta(hours=2).total_seconds()
    assert [timer.ordinal for timer in shard.timers() if timer.generation == 2] == [3]
    assert expected_occurrence(shard.store, job) == (from_wire("2026-03-01T02:08:00Z"), 3)
    assert next_ordinal(shard.store, job, from_wire("2026-03-01T02:05:00Z")) == 2


def test_pause_cancels_a_due_one_that_was_not_claimed_as_a_range_up_to_the_pause() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("paused", EVERY_MINUTE)
    shard.clock.set("2026-03-01T02:05:30Z")
    job = shard.pause(job)
    shard.scan()
    [record] = shard.records(job)
    assert (record.state, record.reason) == (ExecutionState.CANCELLED, Reason.PAUSED)
    assert (record.due, record.until) == (
        from_wire("2026-03-01T02:01:00Z"),
        from_wire("2026-03-01T02:05:30Z"),
    )
    assert shard.timers() == []


def test_M08_a_resume_plants_anew_and_never_in_the_past() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.pause(shard.register("paused", EVERY_MINUTE))
    shard.scan("2026-03-01T02:00:40Z")
    assert summary(shard, job) == {"01:00": "CANCELLED(paused)"}
    shard.clock.set("2026-03-01T03:00:10Z")
    job = shard.resume(job)
    shard.scan()
    assert min(record.due for record in shard.records(job) if record.generation == 3) == from_wire(
        "2026-03-01T03:01:00Z"
    )


def test_a_deleted_job_is_a_tombstone_under_which_nothing_fires() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.delete(shard.register("gone", EVERY_MINUTE))
    shard.scan()
    assert summary(shard, job) == {"01:00": "CANCELLED(deleted)"}
    assert shard.timers() == []


def test_a_generation_that_ended_two_edits_ago_keeps_its_own_until() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_MINUTE)
    shard.clock.set("2026-03-01T02:02:20Z")
    job = shard.edit(job, {"cron": "30 * * * *", "timezone": "UTC"})
    shard.clock.set("2026-03-01T02:40:20Z")
    job = shard.edit(job, {"cron": "45 * * * *", "timezone": "UTC"})
    shard.scan("2026-03-01T02:41:00Z")
    first = shard.record(job, "2026-03-01T02:01:00Z")
    assert first is not None
    assert (first.generation, first.until) == (1, from_wire("2026-03-01T02:02:00Z"))
    second = shard.record(job, "2026-03-01T02:30:00Z")
    assert second is not None
    assert second.generation == 2
    assert fire_timers(shard, job) == [3]


def test_E01_an_edit_never_makes_a_past_occurrence() -> None:
    shard = Shard("2026-03-01T10:00:30Z")
    job = shard.register("edited", {"cron": "0 12 * * *", "timezone": "UTC"})
    shard.clock.set("2026-03-01T10:30:00Z")
    job = shard.edit(job, {"cron": "0 10 * * *", "timezone": "UTC"})
    shard.scan()
    assert shard.records(job) == []
    assert {to_wire(timer.instant) for timer in shard.timers() if timer.generation == 2} == {
        "2026-03-02T10:00:00.000Z"
    }


def test_B8_completion_loses_to_an_edit() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:01:00Z"})
    timers = shard.timers()
    shard.clock.set("2026-03-01T02:01:10Z")
    newer = shard.edit(job, {"at": "2026-03-01T05:00:00Z"})
    report = ScanReport()
    shard.scanner().claimer.claim(timers, report)
    assert report.claimed == 1
    item = shard.store.get(keys.job(newer.uid))
    assert item is not None
    assert "exhausted" not in item
    assert fire_timers(shard, newer) == [2]
