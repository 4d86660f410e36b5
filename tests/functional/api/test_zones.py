"""Zones over HTTP: accepted, kept, echoed, and followed when their rules change."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.store import StoreBusyError
from fencepost.domain.instants import from_wire
from fencepost.domain.schedule import TZDATA_RELEASED, tzdata_version
from fencepost.runtime import scanning
from functions.sweep import handler as sweeping
from tests.support.api import ADMIN, STRANGER, Front
from tests.support.clients import Machine
from tests.support.grants import held
from tests.support.old_rules import (
    VANCOUVER,
    claimed_by_old_rules,
    job_named,
    planted_by_old_rules,
    timers_of,
)

PAYMENTS = "/v1/teams/payments"
REFRESH = PAYMENTS + "/tz-refresh"
REPORT = PAYMENTS + "/jobs/report"
MOVED = {"job": "report", "before": "2026-11-05T17:00:00.000Z", "after": "2026-11-05T16:00:00.000Z"}


@pytest.fixture
def front():
    return Front.at("2026-11-04T20:00:00Z")


@pytest.fixture
def outdated(front):
    """A job whose timer other rules have planted."""
    front.job("report", VANCOUVER)
    claimed_by_old_rules(front.memory, "report", "2026-11-04T17:00:00Z")
    planted_by_old_rules(front.memory, "report", "2026-11-05T17:00:00Z")
    return front


def fired(front):
    """When the job ran, the newest first."""
    return [each["due"] for each in front.get(REPORT + "/executions?state=SUCCEEDED").body["items"]]


class TestT10TheZoneOfAJob:
    def test_T10_that_is_unknown_is_refused_with_what_was_probably_meant(self, front):
        fault = front.job(schedule={"cron": "0 9 * * *", "timezone": "Europe/Berlim"}).faults[
            "schedule.timezone"
        ]
        assert fault["suggestion"].startswith("Europe/Berlin")

    def test_T10_is_echoed_with_the_next_five_runs_and_their_offsets(self, front):
        schedule = {"cron": "0 9 * * 0", "timezone": "Europe/Berlin"}
        front.clock.set("2026-10-10T12:00:00Z")
        body = front.job(schedule=schedule).body
        assert body["schedule"]["timezone"] == "Europe/Berlin"
        assert [each["local"] for each in body["next"]] == [
            "2026-10-11T09:00:00+02:00",
            "2026-10-18T09:00:00+02:00",
            "2026-10-25T09:00:00+01:00",
            "2026-11-01T09:00:00+01:00",
            "2026-11-08T09:00:00+01:00",
        ]
        assert body["next"][2]["at"] == "2026-10-25T08:00:00.000Z"

    @pytest.mark.parametrize(
        "patch", [{"schedule": {"cron": "0 10 * * *"}}, {"description": "earlier"}, {"tier": "bulk"}]
    )
    def test_T10_is_kept_by_a_patch_that_does_not_name_it(self, front, patch):
        front.job(schedule=VANCOUVER)
        assert front.patch(REPORT, patch).body["schedule"]["timezone"] == "America/Vancouver"
        assert timers_of(front.memory, job_named(front.memory, "report"))[-1].instant.hour in {16, 17, 18}

    def test_T10_is_the_one_that_fires(self, front):
        front.job(schedule=VANCOUVER)
        Machine(front).run("2026-11-05T17:30:00Z")
        [record] = front.get(REPORT + "/executions").body["items"]
        assert (record["due"], record["state"]) == ("2026-11-05T16:00:00.000Z", "SUCCEEDED")


class TestT08ARefresh:
    def test_T08_moves_what_older_rules_planted_and_says_whose(self, outdated):
        answer = outdated.post(REFRESH)
        assert (answer.status, answer.body["moved"], answer.body["next"]) == (200, [MOVED], None)
        assert (answer.body["tzdata"], answer.body["looked_at"]) == (tzdata_version(), 1)
        Machine(outdated).run("2026-11-05T17:30:00Z")
        dues = fired(outdated)
        assert dues == ["2026-11-05T16:00:00.000Z", "2026-11-04T17:00:00.000Z"]

    def test_T08_until_then_the_stored_instant_stands(self, outdated):
        Machine(outdated).run("2026-11-05T17:30:00Z")
        dues = fired(outdated)
        assert dues == ["2026-11-05T17:00:00.000Z", "2026-11-04T17:00:00.000Z"]

    def test_goes_on_page_by_page(self, outdated):
        outdated.job("another", VANCOUVER)
        first = outdated.post(REFRESH + "?limit=1").body
        second = outdated.post(f"{REFRESH}?limit=1&cursor={first['next']}").body
        assert (first["moved"], second["moved"]) == ([], [MOVED])

    def test_repeated_moves_nothing(self, outdated):
        outdated.post(REFRESH)
        assert outdated.post(REFRESH).body["moved"] == []

    def test_is_an_entry_in_the_jobs_trail(self, outdated):
        outdated.post(REFRESH, by=ADMIN)
        entry = outdated.get(REPORT + "/revisions").body["items"][0]
        assert (entry["what"], entry["note"]) == ("tz_refresh", f"time-zone rules {tzdata_version()}")

    def test_is_nobodys_business_but_the_teams(self, outdated):
        assert outdated.post(REFRESH, by=STRANGER).status == 403


class TestTheDailySweep:
    def sweep(self, front):
        return sweeping.build(held(front.stage, sweeping.build.__module__))({}, None)

    def test_T08_refreshes_every_cron_job_that_it_sees(self, outdated):
        found = self.sweep(outdated)
        assert (found["moved_jobs"], found["timerless_jobs"]) == (1, 0)
        [timer] = [
            each
            for each in timers_of(outdated.memory, job_named(outdated.memory, "report"))
            if each.generation == 2
        ]
        assert timer.instant == from_wire(MOVED["after"])
        entry = outdated.get(REPORT + "/revisions").body["items"][0]
        assert (entry["what"], entry["actor"], entry["source"]) == (
            "tz_refresh",
            "fencepost:tz-refresh",
            "sweep",
        )
        assert self.sweep(outdated)["moved_jobs"] == 0

    def test_T08_and_nothing_fires_twice(self, outdated):
        self.sweep(outdated)
        Machine(outdated).run("2026-11-06T17:30:00Z")
        dues = fired(outdated)
        assert dues == ["2026-11-06T16:00:00.000Z", "2026-11-05T16:00:00.000Z", "2026-11-04T17:00:00.000Z"]

    def test_plants_nothing_where_it_could_not_refresh(self, outdated):
        def busy(_):
            raise StoreBusyError("throttled")

        report = scanning.sweep(outdated.stage, busy).run(outdated.clock.now())
        assert (report.finds, report.moved_jobs) == (0, 0)
        assert len(timers_of(outdated.memory, job_named(outdated.memory, "report"))) == 1


def test_T08_health_shows_the_rules_and_their_age(front):
    front.clock.set(TZDATA_RELEASED[tzdata_version()] + timedelta(days=12, hours=5))
    body = front.get("/v1/health").body
    assert (body["tzdata"], body["tzdata_age_days"]) == (tzdata_version(), 12)
