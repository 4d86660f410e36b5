"""Watermarks, quarantine, pacing and storage faults: nothing pins a shard, nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.messages import ScanRequest
from fencepost.application.planting import WATERMARK
from fencepost.application.scanning.report import ScanReport
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Committed,
    Delete,
    InvalidWriteError,
    Key,
    OutcomeUnknownError,
    Put,
    Query,
    Reason,
    StoreBusyError,
    Table,
    items,
)
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Bucket
from fencepost.domain.states import JobState
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}


def put_raw(shard: Shard, sk: str, **attributes: object) -> None:
    bucket = keys.bucket_partition(Bucket.at(shard.clock.now(), 0))
    shard.store.write(Put(key=Key(Table.TIMERS, bucket, sk), item=attributes))


def quarantined(shard: Shard) -> list[str]:
    return [str(item["why"]) for item in items(shard.store, Query(table=Table.TIMERS, pk="Q#0000"))]


@pytest.mark.parametrize(
    ("sk", "attributes"),
    [
        ("garbage", {"v": 1}),
        ("1772330400000#F#tooshort#000000000000001", {}),
        ("1772330400000#X#aaaaaaaaaaaaaaaaaaaa#000000000000001", {"v": 1, "due": 1}),
        ("1772330400000#F#aaaaaaaaaaaaaaaaaaaa#000000000000001", {"v": 1, "due": "soon"}),
        ("1772330400000#R#not-an-id#000000000000001", {"v": 1, "due": 1772330400000}),
    ],
)
def test_C3_R10_an_undecodable_timer_is_set_aside_and_its_neighbours_fire(
    sk: str, attributes: dict[str, object]
) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("healthy", EVERY_MINUTE)
    put_raw(shard, sk, **attributes)
    report = shard.scan()
    assert report.quarantined == 1
    assert len(quarantined(shard)) == 1
    assert len(shard.records(job)) == report.claimed > 0
    assert shard.scan().quarantined == 0


def test_C3_the_job_of_a_poisoned_timer_becomes_ERROR_and_somebody_is_told() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("poisoned", EVERY_MINUTE)
    [timer] = shard.timers()
    shard.store.write(Put(key=keys.timer(timer), item={**encode_timer(timer), "tier": "platinum"}))
    shard.scan()
    item = shard.store.get(keys.job(job.uid))
    assert item is not None
    assert item["state"] == JobState.ERROR
    [told] = shard.told
    assert (told.job, told.team) == ("poisoned", "payments")


def test_R10_a_job_that_cannot_be_read_holds_up_nobody() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    healthy = shard.register("healthy", EVERY_MINUTE)
    broken = shard.register("broken", EVERY_MINUTE)
    shard.store.write(Put(key=keys.job(broken.uid), item={"v": 1, "gen": 1, "state": "ACTIVE"}))
    report = shard.scan()
    assert report.quarantined == 1
    assert shard.records(broken) == []
    assert shard.records(healthy)


def test_C1_the_watermark_moves_over_what_was_seen_empty_and_no_further() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    shard.scan()
    mark = shard.scan().watermark
    assert mark == from_wire("2026-03-01T01:55:00Z")
    ghost = shard.register("ghost", EVERY_MINUTE)
    shard.store.write(Delete(key=keys.job(ghost.uid)))
    assert shard.scan("2026-03-01T02:30:30Z").watermark == from_wire("2026-03-01T02:01:00Z")
    shard.put(ghost)
    shard.scan()
    assert shard.scan().watermark == from_wire("2026-03-01T02:25:00Z")


def test_C1_a_watermark_never_goes_back() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    high = shard.scan().watermark
    shard.scan("2026-03-01T01:30:30Z")
    item = shard.store.get(keys.watermark(0))
    assert item is not None
    assert high is not None
    assert item[WATERMARK] == int(high.timestamp() * 1000) - 60_000


def test_F1_the_shard_lease_keeps_a_second_scanner_away_until_it_lapses() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    scanner = shard.scanner()
    assert scanner._lease(0, shard.clock.now()) is not None
    assert not shard.scan().leased
    shard.clock.advance(seconds=46)
    assert shard.scan().leased


def test_a_crowded_minute_is_claimed_at_a_pace_and_the_first_group_at_once() -> None:
    shard = Shard("2026-03-01T02:00:00Z", claim_group=5)
    shard.clock.set("2026-03-01T02:00:10Z")
    names = [f"job-{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
    for name in names:
        shard.register(name, {"at": "2026-03-01T02:03:00Z"})
    before = shard.clock.now()
    report = shard.scan()
    assert report.claimed == 60
    spent = (shard.clock.now() - before).total_seconds()
    assert 60 / 100 < spent < 60 / 5
    assert sum(1 for pause in shard.clock.slept if pause > timedelta(0)) >= 5


def test_past_due_timers_are_not_paced() -> None:
    shard = Shard("2026-03-01T02:00:00Z", claim_group=5)
    for n in range(60):
        shard.register(f"job-{chr(97 + n // 26)}{chr(97 + n % 26)}", {"at": "2026-03-01T02:03:00Z"})
    shard.scan("2026-03-01T02:03:10Z")
    assert shard.clock.slept == []


class Faulty(MemoryStore):
    """Fails the transactions that the test lists, in order; then works."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__()
        self.faults = list(faults)
        self.calls = 0

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        self.calls += 1
        fault = self.faults.pop(0) if self.faults else "none"
        match fault:
            case "busy":
                raise StoreBusyError("throttled")
            case "conflict":
                return Cancelled(tuple(Reason(Cause.CONFLICT) for _ in actions))
            case "lost answer":
                super().transact(actions, token)
                raise OutcomeUnknownError("no answer")
            case "invalid" if len(actions) > 2:
                raise InvalidWriteError("too large as a whole")
            case _:
                return super().transact(actions, token)


@pytest.mark.parametrize(
    "faults",
    [
        ["busy"],
        ["conflict"],
        ["conflict", "busy"],
        ["lost answer"],
        ["busy", "lost answer"],
        ["invalid"],
        ["busy", "busy", "busy"],
        ["conflict", "conflict", "conflict", "lost answer"],
    ],
)
def test_F1_F2_faults_of_the_claim_are_healed_by_it_or_by_the_next_pass(faults: list[str]) -> None:
    shard = Shard("2026-03-01T02:00:30Z", store=Faulty(faults))
    jobs = [shard.register(f"job-{letter}", {"at": "2026-03-01T02:02:00Z"}) for letter in "abcd"]
    shard.scan()
    shard.clock.advance(seconds=50)
    shard.scan()
    assert shard.timers() == []
    for job in jobs:
        [record] = shard.records(job)
        assert shard.sent().count(str(record.id)) >= 1


def test_F2_a_loser_resends_only_what_seems_forgotten() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("once", {"at": "2026-03-01T02:03:00Z"})
    [timer] = shard.timers()
    shard.scan()
    shard.store.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
    sent = len(shard.sent())
    shard.scan()
    assert (len(shard.sent()), len(shard.timers())) == (sent, 1)
    shard.clock.advance(seconds=46)
    shard.scan()
    assert (len(shard.sent()), shard.timers()) == (sent + 1, [])
    assert len(shard.records(job)) == 1


def test_D02_D03_two_scanners_with_different_clocks_make_one_record() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    timers = shard.timers()
    shard.scan("2026-03-01T02:10:30Z")
    shard.clock.set("2026-03-01T02:01:10Z")
    scanner = shard.scanner()
    report = ScanReport()
    scanner.claimer.claim(timers, report)
    assert report.claimed == 0
    assert (
        len([record for record in shard.records(job) if record.due == from_wire("2026-03-01T02:01:00Z")]) == 1
    )


def test_D01_a_clock_stepped_back_creates_nothing_twice() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    for at in ("02:00:30", "02:05:30", "02:02:10", "02:07:00", "02:03:00", "02:08:30"):
        shard.scan(f"2026-03-01T{at}Z")
    dues = [to_wire(record.due) for record in shard.records(job)]
    assert len(dues) == len(set(dues))


def test_C2_the_request_carries_the_shard_and_a_pass_of_another_shard_touches_nothing() -> None:
    shard = Shard("2026-03-01T02:00:30Z", shards=2)
    job = shard.register("often", EVERY_MINUTE)
    shard.scanner().run(ScanRequest(1, shard.clock.now()))
    assert shard.records(job) == []


def test_a_release_far_ahead_becomes_a_timer() -> None:
    shard = Shard("2026-03-01T02:00:30Z", release_spread=timedelta(hours=5))
    job = shard.register("often", EVERY_MINUTE)
    scanner = shard.scanner()
    scanner.run(ScanRequest(0, shard.clock.now()))
    shard.clock.set("2026-03-01T03:00:00Z")
    replace(scanner).run(ScanRequest(0, shard.clock.now()))
    [late] = [record for record in shard.records(job) if record.until]
    assert late.not_before is not None
    assert late.not_before - shard.clock.now() > timedelta(minutes=14)
    assert str(late.id) not in shard.sent()
    assert [timer.execution for timer in shard.timers() if timer.execution] == [late.id]
