"""Backfills, switches, calendars, time-zone rules, keys: from the command line."""

from __future__ import annotations

import pytest

from fencepost.client import cron, webhook
from tests.support.clients import Machine

HOOK = webhook("https://example.com/hook")


def test_a_backfill_runs_what_was_missed_and_leaves_out_what_succeeded(fencepost, front, payments):
    words = ("backfill", "start", "nightly", "--from", "40m", "--to", "now", "--rate", "100")
    asked = fencepost(*words, "--json").json
    Machine(front).run("2026-03-01T12:10:00Z")

    found = fencepost("backfill", "get", "nightly", asked["id"])
    assert found.status == 0
    assert "EXPANDED" in found.out
    listed = {each["id"]: each for each in fencepost("backfill", "list", "nightly", "--json").json}
    assert listed[asked["id"]]["left_out"] > 0
    asked_for = ("executions", "nightly", "--backfill", asked["id"], "--limit", "100")
    runs = fencepost(*asked_for, "--json").json
    assert len(runs) == listed[asked["id"]]["released"] > 0
    assert {each["origin"] for each in runs} == {"backfill"}
    mine = fencepost("executions", "nightly", "--state", "SUCCEEDED", "--limit", "100", "--json").json
    succeeded = {each["due"]: each["ended_at"] for each in mine if each["origin"] == "schedule"}
    again = [each for each in runs if succeeded.get(each["due"], each["claimed_at"]) < each["claimed_at"]]
    assert again == [], "what had succeeded when it was expanded is left out"


def test_a_backfill_can_be_waited_for(fencepost, front, payments):
    machine = Machine(front)
    sleeping = fencepost.clock.sleep

    def sleep(duration):
        sleeping(duration)
        machine.run(fencepost.clock.now())

    fencepost.clock.sleep = sleep
    fencepost.interactive = True

    ran = fencepost(
        "backfill", "start", "nightly", "--from", "50m", "--to", "35m", "--rate", "600", "--wait", "--yes"
    )

    assert ran.status == 0
    assert "EXPANDED" in ran.out
    assert "succeeded" in ran.out


def test_a_backfill_is_cancelled(fencepost, payments):
    (running,) = payments.job("nightly").backfills()

    assert "CANCELLED" in fencepost("backfill", "cancel", "nightly", running.id).out


def test_the_same_key_is_the_same_backfill(fencepost):
    words = ("backfill", "start", "nightly", "--from", "2026-03-01T11:00:00Z", "--to", "2026-03-01T11:10:00Z")

    first, second = (fencepost(*words, "--key", "after-the-fix", "--json").json for _ in range(2))

    assert first["id"] == second["id"]


def test_a_paused_team_starts_nothing_until_it_is_resumed(fencepost, front, payments):
    paused = fencepost("team", "pause", "--tier", "standard", "--note", "the disk is full", "--yes")
    Machine(front).run("2026-03-01T12:05:00Z")
    waiting = fencepost("why", "nightly", "--at", "2026-03-01T12:04:00Z")
    resumed = fencepost("team", "resume")
    Machine(front).run("2026-03-01T12:07:00Z")

    assert "standard by" in paused.out
    assert "the disk is full" in paused.out
    assert "SUCCEEDED" not in waiting.out
    assert "standard by" not in resumed.out
    assert "it ran" in fencepost("why", "nightly", "--at", "2026-03-01T12:06:00Z").out


def test_the_stage_is_administrators_business(fencepost):
    refused = fencepost("stage", "pause", "--yes")
    paused = fencepost("stage", "pause", "--note", "maintenance", "--yes", by="AKIDADMIN")

    assert refused.status == 1
    assert "PAUSED" in paused.out
    assert "maintenance" in fencepost("stage", "get").out
    assert "ACTIVE" in fencepost("stage", "resume", by="AKIDADMIN").out


@pytest.mark.parametrize(
    "words", [("team", "pause"), ("stage", "pause"), ("calendar", "delete", "maintenance")]
)
def test_what_stops_others_is_asked_about_on_a_terminal(fencepost, monkeypatch, words):
    questions: list[str] = []
    monkeypatch.setattr("typer.confirm", questions.append)
    fencepost.interactive = True

    assert fencepost(*words).status == 1
    assert len(questions) == 1


def test_a_calendar_keeps_a_job_from_running_and_the_record_says_so(fencepost, front, payments):
    made = fencepost("calendar", "put", "holidays", "--date", "2026-03-01", "--tz", "UTC")
    payments.job("closed").put(schedule=cron("5 12 * * *", "UTC", exclude=["holidays"]), target=HOOK)
    in_use = fencepost("calendar", "delete", "holidays")
    Machine(front).run("2026-03-01T12:06:00Z")

    assert "2026-03-01" in made.out
    assert in_use.status == 1
    assert (
        "a calendar of the team excludes it" in fencepost("why", "closed", "--at", "2026-03-01T12:05:00Z").out
    )


def test_a_calendar_remembers_its_versions(fencepost, payments):
    for day in ("2026-12-24", "2026-12-25"):
        fencepost("calendar", "put", "holidays", "--date", day)

    assert fencepost("calendar", "get", "holidays", "--json").json["dates"] == ["2026-12-25"]
    assert fencepost("calendar", "get", "holidays", "--version", "1", "--json").json["dates"] == [
        "2026-12-24"
    ]
    assert [each.revision for each in payments.upkeep.calendar("holidays").history()] == [2, 1]
    assert {each["name"] for each in fencepost("calendar", "list", "--json").json} == {
        "holidays",
        "maintenance",
    }


def test_rules_that_are_not_newer_move_nothing(fencepost):
    ran = fencepost("tz", "refresh")

    assert ran.status == 0
    assert "0 moved" in ran.out


def test_a_secret_is_shown_when_it_is_made_and_never_again(fencepost):
    made = fencepost("key", "make", "--json").json
    shown = fencepost("key", "make").out
    listed = fencepost("key", "list")

    assert made["secret"].startswith("whsec_")
    assert "secret, shown this once: whsec_" in shown
    assert "whsec_" not in listed.out
    early = fencepost("key", "drop", made["made"]["id"])
    assert early.status == 1
    assert fencepost("key", "drop", made["made"]["id"], "--compromised").status == 0
