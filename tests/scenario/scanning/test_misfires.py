"""After an outage the job's own misfire policy decides, and the ledger explains every occurrence once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.seam import CallCounter, seamed
from fencepost.application.messages import ScanRequest
from fencepost.application.scanning.report import ScanReport
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Execution, Job, Misfire, MisfirePolicy, Tier
from fencepost.domain.schedule.calendars import parse_calendar
from fencepost.domain.states import ExecutionState, Reason
from tests.support.shard import Shard

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
SKIP = Misfire(policy=MisfirePolicy.SKIP)
CATCH_UP = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=1000)


def explained(shard: Shard, job: Job, first: str, last: datetime) -> None:
    """Every minute from `first` to `last` is covered by exactly one record."""
    records = shard.records(job)
    moment = from_wire(first)
    while moment <= last:
        covering = [record for record in records if _covers(record, moment)]
        assert len(covering) == 1, (to_wire(moment), covering)
        moment += timedelta(minutes=1)


def _covers(record: Execution, moment: datetime) -> bool:
    return record.id.nominal is not None and record.id.nominal <= moment <= (
        record.until or record.id.nominal
    )


def outage(policy: Misfire | None, minutes: int) -> tuple[Shard, Job]:
    """A per-minute job, then no scan at all for `minutes`, then one pass."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE, misfire=policy)
    shard.scan()
    shard.clock.advance(minutes=minutes)
    shard.scan()
    explained(shard, job, "2026-03-01T02:01:00Z", shard.clock.now())
    return shard, job


def test_M03_H01_run_once_late_is_one_run_for_all_that_was_missed() -> None:
    shard, job = outage(None, 10)
    [late] = [record for record in shard.records(job) if record.until]
    assert late.state is ExecutionState.QUEUED
    assert (to_wire(late.due)[11:16], to_wire(late.until)[11:16]) == ("02:04", "02:09")  # type: ignore[arg-type]  # a range has its end, a link its release
    assert late.not_before is not None
    assert timedelta(0) <= late.not_before - shard.clock.now() <= shard.limits.release_spread


def test_H01_skip_leaves_one_record_for_the_range() -> None:
    shard, job = outage(SKIP, 10)
    [skipped] = [record for record in shard.records(job) if record.state is ExecutionState.SKIPPED]
    assert skipped.reason is Reason.MISFIRE
    assert to_wire(skipped.until)[11:16] == "02:09"  # type: ignore[arg-type]  # a range has its end, a link its release
    assert str(skipped.id) not in shard.sent()


def test_H01_catch_up_runs_every_missed_one_in_the_recovery_queue_spread_out() -> None:
    shard, job = outage(CATCH_UP, 10)
    missed = [record for record in shard.records(job) if record.tier is Tier.RECOVERY]
    assert [to_wire(record.due)[11:16] for record in missed] == [f"02:0{n}" for n in range(4, 10)]
    releases = [record.not_before for record in missed]
    assert all(later - earlier >= shard.limits.catch_up_step for earlier, later in pairwise(releases))  # type: ignore[operator]  # a range has its end, a link its release


def test_M06_a_short_slowness_is_no_misfire() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE, misfire=SKIP)
    shard.scan("2026-03-01T02:01:59Z")
    first = shard.record(job, "2026-03-01T02:01:00Z")
    assert first is not None
    assert first.state is ExecutionState.QUEUED
    assert first.not_before is None


def test_H03_the_window_is_measured_from_the_latest_missed_occurrence() -> None:
    window = Misfire(policy=MisfirePolicy.RUN_ONCE_LATE, window=timedelta(hours=24))
    shard = Shard("2026-03-01T02:00:30Z")
    daily = shard.register("daily", {"cron": "0 3 * * *", "timezone": "UTC"}, misfire=window)
    shard.scan("2026-03-04T02:30:00Z")
    [late] = [record for record in shard.records(daily) if record.until]
    assert late.state is ExecutionState.QUEUED
    weekly = shard.register("weekly", {"cron": "0 3 * * 3", "timezone": "UTC"}, misfire=window)
    shard.scan("2026-03-05T03:30:00Z")
    [stale] = shard.records(weekly)
    assert (stale.state, stale.reason, stale.note) == (
        ExecutionState.SKIPPED,
        Reason.MISFIRE,
        "older than the misfire window",
    )


def test_H03_catch_up_keeps_the_newest_runs_within_its_cap_and_skips_the_rest_in_one_record() -> None:
    shard, job = outage(Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=3), 20)
    records = shard.records(job)
    [skipped] = [record for record in records if record.state is ExecutionState.SKIPPED]
    missed = [record for record in records if record.tier is Tier.RECOVERY]
    assert len(missed) == 3
    assert to_wire(missed[-1].due)[11:16] == "02:19"
    assert skipped.note == "more than 3 missed runs"


def test_H03_catch_up_skips_what_is_older_than_its_window() -> None:
    policy = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(minutes=5), max_runs=1000)
    shard, job = outage(policy, 30)
    [skipped] = [record for record in shard.records(job) if record.state is ExecutionState.SKIPPED]
    assert to_wire(skipped.until)[11:16] == "02:25"  # type: ignore[arg-type]  # a range has its end, a link its release
    assert len([record for record in shard.records(job) if record.tier is Tier.RECOVERY]) == 4


def test_C4_the_first_link_decides_and_a_pass_that_ends_early_goes_on_from_there() -> None:
    shard = Shard("2026-03-01T02:00:30Z", scan_budget=timedelta(seconds=0.5))
    policy = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(minutes=20), max_runs=1000)
    job = shard.register("often", EVERY_MINUTE, misfire=policy)
    shard.clock.set("2026-03-01T02:25:30Z")
    for _ in range(30):
        shard.scan()
        shard.clock.advance(seconds=20)
    missed = [record for record in shard.records(job) if record.tier is Tier.RECOVERY]
    assert to_wire(missed[0].due)[11:16] == "02:06"
    assert to_wire(missed[-1].due)[11:16] == "02:24"
    explained(shard, job, "2026-03-01T02:01:00Z", shard.clock.now())


@pytest.mark.parametrize(
    "gap", [timedelta(minutes=10), timedelta(days=1), timedelta(days=60), timedelta(days=400)]
)
def test_M01_a_job_resumes_after_any_outage_with_a_constant_number_of_writes(gap: timedelta) -> None:
    shard = Shard("2025-03-01T02:00:30Z")
    job = shard.register("often", {"every": "PT5S", "anchor": "2025-01-01T00:00:00Z"}, misfire=SKIP)
    first = shard.timers()[0]
    shard.clock.set(shard.clock.now() + gap)
    report, calls = ScanReport(), CallCounter()
    shard.scanner(store=seamed(shard.store, "store", calls)).claimer.claim([first], report)
    [skipped] = [record for record in shard.records(job) if record.state is ExecutionState.SKIPPED]
    assert skipped.until is not None
    assert shard.clock.now() - skipped.until <= timedelta(seconds=66)
    # one for all that was missed, one for each that is due within the last minute and the horizon
    assert calls.of("store", "transact") == 1 + report.claimed == 55
    assert calls.of("store") == 3 * 55


def test_H04_late_releases_of_many_jobs_are_spread_and_keep_their_phase() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    jobs = [shard.register(f"job-{'abcdefghij'[n]}", EVERY_MINUTE) for n in range(10)]
    shard.scan("2026-03-01T02:30:30Z")
    releases = {
        record.not_before for job in jobs for record in shard.records(job) if record.not_before is not None
    }
    assert len(releases) == 10
    for job in jobs:
        assert all(record.due.second == 0 for record in shard.records(job))


def test_M04_an_interval_keeps_its_stored_anchor_over_an_outage() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("weekly", {"every": "P7D", "anchor": "2026-02-25T12:34:56Z"})
    shard.scan("2026-03-10T00:00:00Z")
    shard.scan("2026-03-11T12:33:00Z")
    assert [to_wire(record.due) for record in shard.records(job)] == [
        "2026-03-04T12:34:56.000Z",
        "2026-03-11T12:34:56.000Z",
    ]


@given(
    gaps=st.lists(st.integers(min_value=1, max_value=4000), min_size=1, max_size=8),
    policy=st.sampled_from(
        [
            None,
            SKIP,
            CATCH_UP,
            Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(minutes=9), max_runs=4),
        ]
    ),
    minutes=st.sampled_from(["*", "*/2", "1,2,3,30", "17"]),
)
def test_P7_whatever_the_scans_every_occurrence_has_exactly_one_record(
    gaps: list[int], policy: Misfire | None, minutes: str
) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    schedule = {"cron": f"{minutes} * * * *", "timezone": "UTC"}
    job = shard.register("often", schedule, misfire=policy)
    for gap in gaps:
        shard.clock.advance(seconds=gap)
        shard.scan()
    shard.scan()
    records = shard.records(job)
    wanted = {"*": 1, "*/2": 2}.get(minutes)
    moment = from_wire("2026-03-01T02:01:00Z")
    listed = {int(n) for n in minutes.split(",")} if wanted is None else set()
    while moment <= shard.clock.now():
        if (wanted and moment.minute % wanted == 0) or moment.minute in listed:
            assert len([record for record in records if _covers(record, moment)]) == 1, to_wire(moment)
        moment += timedelta(minutes=1)


def test_C4_a_chain_that_catches_up_goes_on_behind_what_a_calendar_leaves_out() -> None:
    """In order, each a second after the one before, as the first of them decided."""
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", {**EVERY_MINUTE, "exclude": ["quiet"]}, misfire=CATCH_UP)
    shard.clock.set("2026-03-01T02:25:30Z")
    span = {"instants": ["2026-03-01T02:10:00Z/2026-03-01T02:12:00Z"]}
    quiet = parse_calendar(span, name="quiet", version=1, dated=shard.clock.now())
    scan = shard.scanner()
    claimer = replace(scan.claimer, calendars=lambda _: {"quiet": quiet})
    replace(scan, claimer=claimer).run(ScanRequest(0, shard.clock.now()))
    links = [record for record in shard.records(job) if record.tier is Tier.RECOVERY]
    releases = [record.not_before for record in links if record.not_before is not None]
    assert len(releases) == len(links) == 22
    assert all(later - earlier >= timedelta(seconds=1) for earlier, later in pairwise(releases))
    explained(shard, job, "2026-03-01T02:01:00Z", shard.clock.now())


@pytest.mark.parametrize("opened", ["2026-03-01T02:05:00.000Z", "2026-03-01T02:05:00.001Z"])
def test_F5_what_is_due_at_the_very_instant_of_the_opening_fires(opened: str) -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE)
    shard.clock.set("2026-03-01T02:05:10Z")
    scan = shard.scanner()
    claimer = replace(scan.claimer, no_fire_before=from_wire(opened))
    replace(scan, claimer=claimer).run(ScanRequest(0, shard.clock.now()))
    at = shard.record(job, "2026-03-01T02:05:00Z")
    assert (at is not None and at.state is ExecutionState.QUEUED) == opened.endswith("000Z")


def test_M06_what_is_exactly_as_late_as_a_firing_may_be_is_not_missed_with_those_before_it() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("often", EVERY_MINUTE, misfire=SKIP)
    shard.scan("2026-03-01T02:25:00Z")
    at = shard.record(job, "2026-03-01T02:24:00Z")
    assert at is not None
    assert at.state is ExecutionState.QUEUED
