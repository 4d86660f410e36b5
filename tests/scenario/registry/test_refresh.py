"""A newer time-zone database: which timers move, to where, and that nothing fires twice or not at all (B10, T08).

The rules now loaded are the new ones; what the old ones planted is written down by hand, as an older version of the
database would have. British Columbia stopped changing its clocks in 2026: by the old rules 09:00 on 5 November was
17:00 UTC, by the new ones it is 16:00 UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from fencepost.application import keys
from fencepost.application.codec import encode_execution, encode_timer
from fencepost.application.codec_job import encode_job
from fencepost.application.registry.refresh import Moved, RefreshPage, refresh_job, refresh_team
from fencepost.application.store import Delete, Key, Put, Store
from fencepost.domain.identity import ExecutionId, hashed
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.model import Bucket, Execution, Origin, Timer
from fencepost.domain.schedule import tzdata_version
from fencepost.domain.states import ExecutionState
from tests.support.registry import OWNER, Registry

NINE = {"cron": "0 9 * * *", "timezone": "America/Vancouver"}
OLD_OFFSET = -8 * 3600
NEW_OFFSET = -7 * 3600


def planted_by_old_rules(registry: Registry, name: str, instant: str) -> Timer:
    """Replaces the job's timer by the one that the old rules gave."""
    [timer] = [timer for timer in registry.timers() if timer.uid == registry.job(name).uid]
    at = from_wire(instant)
    old = replace(
        timer,
        instant=at,
        due=at,
        bucket=Bucket.at(at, timer.bucket.shard),
        offset=OLD_OFFSET,
        tzdata="2025.2",
    )
    registry.store.write(Delete(key=keys.timer(timer)))
    registry.store.write(Put(key=keys.timer(old), item=encode_timer(old)))
    return old


def claimed(registry: Registry, name: str, instant: str, offset: int, tzdata: str) -> None:
    """The record of a claimed occurrence."""
    job, at = registry.job(name), from_wire(instant)
    record = Execution(
        id=ExecutionId.occurrence(job.uid, at),
        team=job.team,
        job=job.name,
        state=ExecutionState.SUCCEEDED,
        origin=Origin.SCHEDULE,
        tier=job.tier,
        due=at,
        generation=job.generation,
        planted_generation=job.generation,
        claimed_at=at - timedelta(minutes=2),
        offset=offset,
        tzdata=tzdata,
    )
    registry.store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))


def refreshed(registry: Registry) -> RefreshPage:
    return refresh_team(registry.ports, OWNER, "payments")


def instants(registry: Registry, generation: int) -> list[datetime]:
    return [timer.instant for timer in registry.timers(generation)]


def test_T08_B10_a_timer_of_the_old_rules_is_planted_anew_and_its_job_listed() -> None:
    registry = Registry.at("2026-11-04T20:00:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-04T17:00:00Z", OLD_OFFSET, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    before, after = from_wire("2026-11-05T17:00:00Z"), from_wire("2026-11-05T16:00:00Z")
    assert refreshed(registry).moved == (Moved(job="report", before=before, after=after),)
    job = registry.job("report")
    assert (job.generation, job.ended_until) == (2, from_wire("2026-11-04T17:00:00Z"))
    assert instants(registry, 2) == [after]
    [timer] = registry.timers(2)
    assert (timer.tzdata, timer.offset, timer.ordinal) == (tzdata_version(), NEW_OFFSET, 2)
    assert registry.entries(job.uid)[0].what == "tz_refresh"


def test_B10_the_same_wall_clock_is_not_fired_again_an_hour_later() -> None:
    """By the old rules it fired at 09:00 = 17:00 UTC; had they moved the other way, 09:00 would come once more."""
    registry = Registry.at("2026-11-05T15:30:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-05T15:00:00Z", -6 * 3600, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-06T15:00:00Z")
    [moved] = refreshed(registry).moved
    assert moved.after == from_wire("2026-11-06T16:00:00Z")


def test_B10_what_the_new_rules_put_into_the_past_is_left_to_the_misfire_policy() -> None:
    registry = Registry.at("2026-11-05T16:30:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-04T17:00:00Z", OLD_OFFSET, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    [moved] = refreshed(registry).moved
    assert moved.after == from_wire("2026-11-05T16:00:00Z")
    [timer] = registry.timers(2)
    assert timer.bucket.minute == from_wire("2026-11-05T16:30:00Z")
    assert [claim.instant for claim in registry.claimed] == [timer.instant]


def test_B10_a_claim_of_the_old_timer_wins_and_the_refresh_looks_again() -> None:
    registry = Registry.at("2026-11-05T16:59:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-04T17:00:00Z", OLD_OFFSET, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    job = registry.job("report")
    claimed(registry, "report", "2026-11-05T17:00:00Z", OLD_OFFSET, "2025.2")
    assert refresh_job(registry.ports, OWNER, job) is None
    assert registry.job("report").generation == 1


class ClaimsMeanwhile:
    """A store in which somebody claims the old timer after the first look at the job's records."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._claimed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry.store, name)

    def batch_get(self, wanted: Sequence[Key]) -> Any:
        if not self._claimed:
            self._claimed = True
            claimed(self._registry, "report", "2026-11-04T17:00:00Z", OLD_OFFSET, "2025.2")
            planted_by_old_rules(self._registry, "report", "2026-11-05T17:00:00Z")
        return self._registry.store.batch_get(wanted)


def test_B10_a_claim_between_two_looks_is_not_taken_back() -> None:
    registry = Registry.at("2026-11-04T16:59:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-03T17:00:00Z", OLD_OFFSET, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-04T17:00:00Z")
    beside = registry.through(cast("Store", ClaimsMeanwhile(registry)))
    moved = refresh_job(beside.ports, OWNER, registry.job("report"))
    assert moved is not None
    assert moved.after == from_wire("2026-11-05T16:00:00Z")
    assert registry.job("report").ended_until == from_wire("2026-11-04T17:00:00Z")


def test_a_job_whose_rules_did_not_change_stays_as_it_is() -> None:
    registry = Registry.at("2026-11-04T20:00:00Z")
    registry.put("berlin", {"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    registry.put("often", {"every": "PT15M"})
    registry.put("once", {"at": "2026-12-01T00:00:00Z"})
    claimed(registry, "berlin", "2026-11-04T08:00:00Z", 3600, "2025.2")
    page = refreshed(registry)
    assert (page.moved, page.looked_at, page.after) == ((), 3, None)
    assert registry.job("berlin").revision == 1


def test_refreshing_twice_moves_nothing_the_second_time() -> None:
    registry = Registry.at("2026-11-04T20:00:00Z")
    registry.put("report", NINE)
    claimed(registry, "report", "2026-11-04T17:00:00Z", OLD_OFFSET, "2025.2")
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    assert len(refreshed(registry).moved) == 1
    assert refreshed(registry).moved == ()
    assert registry.job("report").generation == 2


def test_a_job_that_has_not_fired_yet_moves_too() -> None:
    registry = Registry.at("2026-11-04T20:00:00Z")
    registry.put("report", NINE)
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    [moved] = refreshed(registry).moved
    assert moved.after == from_wire("2026-11-05T16:00:00Z")


@pytest.mark.parametrize("jitter", [1800, 3600, 86_400])
def test_B10_a_timer_is_found_where_the_jitter_of_the_old_rules_put_it(jitter: int) -> None:
    """By the new rules the next occurrence is an hour behind the old one, so that less jitter would fit between."""
    registry = Registry.at("2026-11-05T15:30:00Z")
    registry.put("report", {**NINE, "jitter_seconds": jitter})
    claimed(registry, "report", "2026-11-05T15:00:00Z", -6 * 3600, "2025.2")
    old = planted_by_old_rules(registry, "report", "2026-11-06T15:00:00Z")
    late = hashed(f"{old.uid} {to_ms(old.instant)}", min(jitter * 1000 + 1, 86_400_000))
    due = old.instant + timedelta(milliseconds=late)
    jittered = replace(old, due=due, bucket=Bucket.at(due, old.bucket.shard))
    registry.store.write(Delete(key=keys.timer(old)))
    registry.store.write(Put(key=keys.timer(jittered), item=encode_timer(jittered)))
    [moved] = refreshed(registry).moved
    assert (moved.before, moved.after) == (old.instant, from_wire("2026-11-06T16:00:00Z"))


def test_B10_the_count_of_firings_goes_on_where_only_the_timer_knows_it() -> None:
    """After a resume the next firing's number is in its timer, and in no record of its generation."""
    registry = Registry.at("2026-11-04T20:00:00Z")
    registry.put("report", {**NINE, "max_firings": 9})
    claimed(registry, "report", "2026-11-04T17:00:00Z", NEW_OFFSET, tzdata_version())
    registry.pause("report")
    registry.resume("report")
    [resumed] = [timer for timer in registry.timers() if timer.sequence == 3]
    assert resumed.ordinal == 2
    registry.store.write(Delete(key=keys.timer(next(t for t in registry.timers() if t.sequence == 1))))
    planted_by_old_rules(registry, "report", "2026-11-05T17:00:00Z")
    assert len(refreshed(registry).moved) == 1
    [timer] = registry.timers(4)
    assert (timer.instant, timer.ordinal) == (from_wire("2026-11-05T16:00:00Z"), 2)


@pytest.mark.parametrize("begins", [None, "2025-11-06T16:00:00Z"])
def test_B10_a_job_of_whose_last_firing_nothing_is_on_record_any_more_moves_too(begins: str | None) -> None:
    registry = Registry.at("2026-10-05T15:30:00Z")
    registry.put("report", {"cron": "0 9 6 11 *", "timezone": "America/Vancouver"})
    planted_by_old_rules(registry, "report", "2026-11-06T17:00:00Z")
    job = replace(
        registry.job("report"),
        created_at=from_wire("2025-01-05T15:30:00Z"),
        begins_with=None if begins is None else from_wire(begins),
    )
    registry.store.write(Put(key=keys.job(job.uid), item=encode_job(job)))
    [moved] = refreshed(registry).moved
    assert moved.after == from_wire("2026-11-06T16:00:00Z")
    assert instants(registry, 2) == [moved.after]
