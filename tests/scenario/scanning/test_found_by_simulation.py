"""Races and faults that the simulator found, each told at its smallest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.messages import ScanRequest
from fencepost.application.ports import Outgoing
from fencepost.application.store import (
    Action,
    Delete,
    OutcomeUnknownError,
    Put,
    Store,
    StoreBusyError,
    Table,
    Update,
    Write,
)
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Bucket, Job, Misfire, MisfirePolicy, Timer, TimerKind
from fencepost.domain.schedule.calendars import parse_calendar
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
EVERY_TWO = {"cron": "*/2 * * * *", "timezone": "UTC"}


EVERY_SIX = {"cron": "*/6 * * * *", "timezone": "UTC"}
EVERY_TEN = {"cron": "*/10 * * * *", "timezone": "UTC"}


class Between:
    """A store before which something happens to single writes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Unanswering(Between):
    """Every single write takes effect, and none is answered."""

    def write(self, write: Write) -> Any:
        self._store.write(write)
        raise OutcomeUnknownError("no answer")


class Refusing(Between):
    """No single write takes effect."""

    def write(self, write: Write) -> Any:
        raise StoreBusyError("throttled")


def test_C3_a_timer_that_is_set_aside_never_leaves_an_active_job_without_one() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.store.write(Put(key=keys.timer(timer), item={**encode_timer(timer), "tier": "platinum"}))
    shard.scanner(store=Refusing(shard.store)).run(ScanRequest(0, shard.clock.now()))
    assert shard.timers() == []
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ERROR


def test_C3_a_job_that_has_moved_on_stays_as_it_is_when_its_old_timer_is_set_aside() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.store.write(Put(key=keys.timer(timer), item={**encode_timer(timer), "tier": "platinum"}))
    job = shard.edit(job, EVERY_TWO)
    report = shard.scan()
    assert report.quarantined == 1
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ACTIVE


@pytest.mark.parametrize("bounds", [{}, {"max_firings": 9}])
def test_C3_what_was_due_before_a_change_is_claimed_though_its_timer_is_nonsense(
    bounds: dict[str, int],
) -> None:
    """Nobody scans for a while; the timer that waits is spoiled; its owner edits the job before the next pass."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", {**EVERY_TEN, **bounds}, misfire=Misfire(policy=MisfirePolicy.SKIP))
    shard.scan("2026-03-01T02:08:30Z")
    [timer] = shard.timers()
    assert timer.instant == from_wire("2026-03-01T02:20:00Z")
    spoiled = {name: value for name, value in encode_timer(timer).items() if name not in {"due", "ordinal"}}
    shard.store.write(Put(key=keys.timer(timer), item=spoiled))
    shard.clock.set("2026-03-01T02:45:00Z")
    edited = shard.edit(job, EVERY_SIX)
    report = shard.scan()
    explained = shard.record(job, "2026-03-01T02:20:00Z")
    assert explained is not None
    assert (explained.state, explained.reason) == (ExecutionState.SKIPPED, Reason.MISFIRE)
    assert (explained.generation, explained.ordinal) == (job.generation, timer.ordinal)
    assert explained.until == from_wire("2026-03-01T02:40:00Z")
    assert report.quarantined == 1
    assert [left.generation for left in shard.timers()] == [edited.generation]


class Silent(MemoryQueues):
    """Takes nothing."""

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        return [False] * len(messages)


def spoil(shard: Shard, timer: Timer) -> None:
    """Something writes nonsense over the timer."""
    spoiled = {name: value for name, value in encode_timer(timer).items() if name != "due"}
    shard.store.write(Put(key=keys.timer(timer), item=spoiled))


def test_C3_A1_a_record_that_was_not_handed_over_yet_is_though_its_timer_is_nonsense() -> None:
    """The claim is written, and with it the next timer; nobody takes the message, and then the timer is spoiled."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.scanner(queues=Silent(shard.clock)).run(ScanRequest(0, shard.clock.now()))
    spoil(shard, timer)
    shard.clock.set("2026-03-01T02:01:50Z")
    report = shard.scan()
    record = shard.record(job, "2026-03-01T02:01:00Z")
    assert record is not None
    assert str(record.id) in shard.sent()
    assert report.quarantined == 1
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ACTIVE
    assert timer.instant not in {left.instant for left in shard.timers()}


def test_C3_A1_a_pass_that_stood_still_claims_nothing_that_was_set_aside_meanwhile() -> None:
    """It had read the timer before that was spoiled. The chain does not go on, and the ledger says what became of it."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", {**EVERY_MINUTE, "max_firings": 9})
    [timer] = shard.timers()

    class StoodStill(Between):
        def transact(self, actions: Sequence[Action], *more: Any, **named: Any) -> Any:
            if not shard.told:
                spoil(shard, timer)
                shard.scan("2026-03-01T02:05:50Z")
            return self._store.transact(actions, *more, **named)

    shard.scanner(store=StoodStill(shard.store)).run(ScanRequest(0, shard.clock.now()))
    [record] = shard.records(job)
    assert (record.state, record.reason) == (ExecutionState.CANCELLED, Reason.SUPERSEDED)
    assert record.note is not None
    assert record.note.startswith("its timer was set aside: ")
    assert (record.due, record.ordinal) == (timer.due, timer.ordinal)
    assert shard.timers() == []
    assert shard.sent() == []


def test_C3_B5_what_was_set_aside_before_it_was_due_runs_when_its_job_is_resumed_in_time() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_TEN)
    [timer] = shard.timers()
    spoil(shard, timer)
    shard.scan("2026-03-01T02:08:30Z")
    [cancelled] = shard.records(job)
    assert cancelled.id.nominal == timer.instant
    resumed = shard.resume(job)
    shard.scan("2026-03-01T02:09:30Z")
    [record] = shard.records(job)
    assert (record.state, record.generation) == (ExecutionState.QUEUED, resumed.generation)
    assert shard.sent() == [str(record.id)]


@pytest.mark.parametrize("between", [Unanswering, Refusing])
def test_C3_A1_a_spoiled_timer_waits_for_a_pass_that_knows_whether_its_job_has_to_fail(between) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.scanner(queues=Silent(shard.clock)).run(ScanRequest(0, shard.clock.now()))
    spoil(shard, timer)
    shard.clock.set("2026-03-01T02:01:50Z")
    shard.scanner(store=between(shard.store)).run(ScanRequest(0, shard.clock.now()))
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ACTIVE
    shard.scan()
    record = shard.record(job, "2026-03-01T02:01:00Z")
    assert record is not None
    assert str(record.id) in shard.sent()


@pytest.mark.parametrize("kind", [TimerKind.RETRY, TimerKind.WATCH])
def test_C3_A1_a_wake_up_that_is_nonsense_wakes_the_record_that_its_key_names(kind: TimerKind) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_TEN)
    shard.scan("2026-03-01T02:08:30Z")
    record = shard.record(job, "2026-03-01T02:10:00Z")
    assert record is not None
    due = from_wire("2026-03-01T02:14:00Z")
    waking = Timer(
        bucket=Bucket.at(due, 0),
        kind=kind,
        instant=due,
        uid=job.uid,
        sequence=3,
        due=due,
        team=job.team,
        execution=record.id,
    )
    before = len(shard.sent())
    spoil(shard, waking)
    report = shard.scan("2026-03-01T02:13:30Z")
    assert shard.sent()[before:] == [str(record.id)]
    assert report.quarantined == 1
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ACTIVE


def test_B5_a_settled_record_of_this_very_pass_is_not_taken_for_the_newer_claim() -> None:
    """Old and new schedule share an instant. The answer to settling the old timer is lost; the new one, claimed in
    the same pass, finds a record with the pass's own claim id."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_TWO)
    job = shard.edit(job, {"cron": "*/4 * * * *", "timezone": "UTC"} | {"start_at": "2026-03-01T02:00:00Z"})
    shard.clock.set("2026-03-01T02:01:30Z")
    job = shard.edit(job, EVERY_TWO)
    shard.scanner(store=Unanswering(shard.store)).run(ScanRequest(0, shard.clock.now()))
    shard.scan()
    record = shard.record(job, "2026-03-01T02:02:00Z")
    assert record is not None
    assert (record.state, record.planted_generation) == ("QUEUED", job.generation)
    assert [timer.generation for timer in shard.timers()] == [job.generation]


def test_B5_A1_a_pass_that_stood_still_takes_over_nothing_whose_timer_is_gone() -> None:
    """Its job is deleted while it stands, and another pass settles the timer: nothing would wake what it takes over."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("edited", EVERY_TWO)
    shard.scan("2026-03-01T02:01:30Z")
    newer = shard.edit(job, {**EVERY_TWO, "end_at": "2026-04-01T00:00:00Z"})
    before = shard.record(job, "2026-03-01T02:02:00Z")
    assert before is not None
    assert before.planted_generation == job.generation

    class Settled(Between):
        def transact(self, actions: Sequence[Action], *more: Any, **named: Any) -> Any:
            if any(action.key.table is Table.EXECUTIONS and isinstance(action, Update) for action in actions):
                for timer in shard.timers():
                    if timer.generation == newer.generation:
                        shard.store.write(Delete(key=keys.timer(timer)))
            return self._store.transact(actions, *more, **named)

    shard.scanner(store=Settled(shard.store)).run(ScanRequest(0, shard.clock.now()))
    assert shard.record(job, "2026-03-01T02:02:00Z") == before


def late_for_a_shared_instant(misfire: Misfire) -> tuple[Shard, Job]:
    """Old and new schedule share 03:00, and nobody scans before 03:13."""
    shard = Shard("2026-03-01T02:45:00Z")
    job = shard.register("edited", EVERY_TEN, misfire=misfire)
    shard.scan("2026-03-01T02:47:10Z")
    shard.clock.set("2026-03-01T02:55:00Z")
    job = shard.edit(job, EVERY_SIX)
    shard.scan("2026-03-01T03:13:30Z")
    return shard, job


def test_B5_what_was_missed_after_a_shared_instant_is_skipped_by_the_next_one() -> None:
    shard, job = late_for_a_shared_instant(Misfire(policy=MisfirePolicy.SKIP))
    shared = shard.record(job, "2026-03-01T03:00:00Z")
    following = shard.record(job, "2026-03-01T03:06:00Z")
    assert shared is not None
    assert following is not None
    assert (shared.state, shared.reason) == (ExecutionState.CANCELLED, Reason.SUPERSEDED)
    assert (following.state, following.reason) == (ExecutionState.SKIPPED, Reason.MISFIRE)
    assert following.until == from_wire("2026-03-01T03:12:00Z")


def test_B5_the_one_late_run_of_an_adopted_record_stands_for_all_that_was_missed() -> None:
    shard, job = late_for_a_shared_instant(Misfire(policy=MisfirePolicy.RUN_ONCE_LATE))
    shared = shard.record(job, "2026-03-01T03:00:00Z")
    assert shared is not None
    assert (shared.state, shared.generation) == (ExecutionState.QUEUED, job.generation)
    assert shared.until == from_wire("2026-03-01T03:12:00Z")
    assert shard.record(job, "2026-03-01T03:06:00Z") is None


def test_B5_an_instant_that_the_older_schedule_excluded_fires_by_the_newer_one() -> None:
    """It was skipped ahead of time, by its calendar; then its owner takes the exclusion out of the schedule."""
    shard = Shard("2026-03-01T02:50:30Z")
    job = shard.register("edited", {**EVERY_TEN, "exclude": ["quiet"]})
    raw = {"instants": ["2026-03-01T02:59:00Z/2026-03-01T03:05:00Z"]}
    quiet = parse_calendar(raw, name="quiet", version=1, dated=shard.clock.now())
    scan = shard.scanner()
    scan = replace(scan, claimer=replace(scan.claimer, calendars=lambda _: {"quiet": quiet}))
    shard.clock.set("2026-03-01T02:58:00Z")
    scan.run(ScanRequest(0, shard.clock.now()))
    skipped = shard.record(job, "2026-03-01T03:00:00Z")
    assert skipped is not None
    assert (skipped.state, skipped.reason) == (ExecutionState.SKIPPED, Reason.EXCLUDED)
    job = shard.edit(job, EVERY_TEN)
    shard.scan("2026-03-01T02:58:40Z")
    record = shard.record(job, "2026-03-01T03:00:00Z")
    assert record is not None
    assert (record.state, record.generation, record.reason, record.note) == (
        "QUEUED",
        job.generation,
        None,
        None,
    )
    assert record.expires_at is None
    assert job.generation in {timer.generation for timer in shard.timers()}
    assert len(shard.sent()) == 1
