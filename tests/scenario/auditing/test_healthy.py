"""An audit has nothing to say about what was done by the rules, however odd it looks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.application import keys
from fencepost.application.auditing.audit import PAGE
from fencepost.application.store import Present, Update
from fencepost.client import cron, every
from fencepost.domain.auditing.findings import FindingKind
from fencepost.domain.instants import to_ms
from fencepost.domain.outcome import Accepted
from fencepost.domain.states import ExecutionState, Reason
from tests.support.audits import START, Past
from tests.support.world import BROKEN, OK

FIVE = cron("*/5 * * * *")
MINUTELY = cron("* * * * *")


@pytest.mark.parametrize("policy", ["run_once_late", "skip", "catch_up"])
def test_an_outage_is_explained_by_the_misfire_policy(policy):
    past = Past()
    past.put("report", MINUTELY, misfire={"policy": policy})
    past.run("2026-03-01T10:10:00Z")
    past.sleep("2026-03-01T11:10:40Z")
    assert past.audit("report").pending == 1
    past.run("2026-03-01T11:30:00Z")

    audit = past.audit("report")

    assert (audit.findings, audit.pending) == ([], 0)
    late = [record for record in past.records("report") if record.claimed_at > record.due]
    assert (len(late) > 50) == (policy == "catch_up")


def test_what_fell_due_in_a_pause_is_explained_by_it():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T10:13:40Z")
    past.owner.job("report").pause("repairs")
    past.run("2026-03-01T11:02:00Z")
    assert past.findings("report") == []
    past.owner.job("report").resume()
    past.run("2026-03-01T11:40:00Z")

    assert past.findings("report") == []
    assert Reason.PAUSED in {record.reason for record in past.records("report")}


def test_an_edit_while_it_is_paused_loses_nothing():
    past = Past()
    past.put("report", FIVE)
    past.owner.job("report").pause()
    past.run("2026-03-01T10:32:00Z")
    past.owner.job("report").patch(schedule=cron("*/7 * * * *"))
    past.run("2026-03-01T11:02:00Z")
    past.owner.job("report").resume()
    past.run("2026-03-01T11:40:00Z")

    assert past.findings("report") == []


def test_edits_close_to_due_leave_superseded_records_and_no_gap():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T10:13:40Z")
    past.owner.job("report").patch(schedule=cron("*/3 * * * *"))
    past.run("2026-03-01T10:28:10Z")
    past.owner.job("report").patch(schedule=cron("1-59/2 * * * *"))
    past.run("2026-03-01T11:00:00Z")

    assert past.findings("report") == []
    assert Reason.SUPERSEDED in {record.reason for record in past.records("report")}


def test_an_edit_during_an_outage_is_explained_by_both_generations():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T10:13:40Z")
    past.sleep("2026-03-01T10:40:10Z")
    past.owner.job("report").patch(schedule=cron("*/4 * * * *"))
    past.sleep("2026-03-01T11:05:10Z")
    past.run("2026-03-01T11:40:00Z")

    assert past.findings("report") == []


def test_a_job_whose_timer_was_set_aside_waits_for_its_resume():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T10:13:40Z")
    job = past.job("report")
    past.lose_timers("report")
    past.store.write(
        Update(
            key=keys.job(job.uid),
            set={"state": "ERROR", "updated": to_ms(past.front.clock.now())},
            add={"rev": 1},
            condition=Present(),
        )
    )
    past.run("2026-03-01T10:40:00Z")
    assert past.findings("report") == []
    past.owner.job("report").resume()
    past.run("2026-03-01T11:10:00Z")

    assert past.findings("report") == []


def test_excluded_occurrences_are_explained_by_the_calendar_of_that_time():
    past = Past()
    path = "/v1/teams/payments/calendars/freeze"
    past.front.put(path, {"instants": ["2026-03-01T10:20:00Z/2026-03-01T10:40:00Z"]})
    past.put("report", {**FIVE, "exclude": ["freeze"]})
    past.run("2026-03-01T10:50:00Z")
    past.front.put(path, {"instants": ["2026-03-01T11:00:00Z/2026-03-01T11:10:00Z"]})
    past.run("2026-03-01T11:40:00Z")
    assert past.findings("report") == []

    ran = past.record("report", "2026-03-01T11:15:00Z")
    left_out = past.record("report", "2026-03-01T10:25:00Z")
    assert (ran.state, left_out.reason) == (ExecutionState.SUCCEEDED, Reason.EXCLUDED)
    past.spoil(ran, id=replace(ran.id, key=left_out.id.key), due=left_out.due, claimed_at=left_out.claimed_at)

    [found] = past.findings("report")
    assert (found.kind, "excluded" in found.says) == (FindingKind.NOT_ALLOWED, True)


def test_retries_deaths_redrives_and_long_work_are_healthy():
    past = Past()
    past.front.stage.targets.then = BROKEN
    past.put("report", FIVE, retry={"max_attempts": 3, "initial_delay_seconds": 5}, overlap="queue")
    past.run("2026-03-01T10:21:00Z")
    past.front.stage.targets.then = OK
    past.owner.redrive()
    past.run("2026-03-01T10:30:00Z")
    past.front.stage.targets.then = Accepted()
    past.run("2026-03-01T10:36:00Z")
    past.front.stage.targets.then = OK
    past.run("2026-03-01T13:00:00Z")

    assert past.findings("report") == []
    outcomes = {each.outcome for record in past.records("report") for each in record.attempts}
    assert {"failed", "delivered", "worker_lost"} <= outcomes


def test_so_many_firings_and_no_more():
    past = Past()
    past.put("thrice", {**MINUTELY, "max_firings": 3})
    past.put("once", {"at": "2026-03-01T10:20:00Z"})
    past.run("2026-03-01T11:00:00Z")

    assert past.findings("thrice") == []
    assert past.findings("once") == []
    assert len(past.records("thrice")) == 3


def test_jitter_moves_when_it_is_due_not_what_is_expected():
    past = Past()
    past.put("report", {**FIVE, "jitter_seconds": 120})
    past.run("2026-03-01T11:30:00Z")

    assert past.findings("report") == []


def test_a_stage_in_which_a_team_was_held_by_a_switch():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T10:10:00Z")
    past.front.post("/v1/teams/payments/pause", {"note": "maintenance"})
    past.run("2026-03-01T10:40:00Z")
    past.front.post("/v1/teams/payments/resume")
    past.run("2026-03-01T11:10:00Z")

    assert past.findings("report") == []


def test_a_long_audit_goes_page_by_page_to_the_same_end():
    past = Past()
    past.put("ticks", every("PT5S"))
    past.run("2026-03-01T11:00:00Z")
    records = past.records("ticks")
    assert len(records) > PAGE
    lost = [records[10], records[PAGE - 1], records[PAGE]]
    for record in lost:
        past.lose(record)

    audit = past.audit("ticks")

    assert [finding.at for finding in audit.findings] == [lost[0].due, lost[1].due]
    assert audit.findings[1].last == lost[2].due


def test_what_may_be_deleted_by_now_is_not_missed():
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T11:00:00Z")
    for record in past.records("report"):
        past.lose(record)
    past.lose_timers("report")
    past.owner.job("report").pause()
    path = "/v1/teams/payments/audit?from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z"
    past.sleep("2026-03-20T12:00:00Z")
    assert len(past.front.get(path).body["items"]) == 1
    past.sleep("2026-04-01T12:00:00Z")

    assert past.front.get(path).body["items"] == []


STEPS = st.one_of(
    st.tuples(st.just("run"), st.integers(1, 25)),
    st.tuples(st.just("sleep"), st.integers(1, 40)),
    st.tuples(
        st.just("edit"), st.sampled_from(["*/5 * * * *", "*/3 * * * *", "7,9,30 * * * *", "* * * * *"])
    ),
    st.tuples(st.just("tune"), st.sampled_from(["run_once_late", "skip", "catch_up"])),
    st.tuples(st.just("pause"), st.none()),
    st.tuples(st.just("resume"), st.none()),
    st.tuples(st.just("fail"), st.none()),
    st.tuples(st.just("heal"), st.none()),
    st.tuples(st.just("run_now"), st.none()),
)


def live(past: Past, steps) -> None:
    """One job, and whatever its owner and the stage do."""
    past.put(
        "report", FIVE, retry={"max_attempts": 2, "initial_delay_seconds": 5}, misfire={"policy": "skip"}
    )
    for what, value in steps:
        now = past.front.clock.now()
        if what == "run":
            past.run(now + timedelta(minutes=value, seconds=13))
        elif what == "sleep":
            past.front.clock.set(now + timedelta(minutes=value, seconds=7))
        elif what in {"fail", "heal"}:
            past.front.stage.targets.then = BROKEN if what == "fail" else OK
        else:
            act(past, what, value)
    past.run(past.front.clock.now() + timedelta(minutes=25))


def act(past: Past, what: str, value: str | None) -> None:
    """What the job's owner does, where the job knows such a move."""
    job, state = past.owner.job("report"), past.job("report").state
    if what == "edit":
        job.patch(schedule=cron(str(value)))
    elif what == "tune":
        job.patch(misfire={"policy": value})
    elif what == "pause" and state == "ACTIVE":
        job.pause()
    elif what == "resume" and state == "PAUSED":
        job.resume()
    elif what == "run_now":
        job.run()


@settings(max_examples=25)
@given(st.lists(STEPS, min_size=3, max_size=12))
def test_whatever_an_owner_does_is_healthy(steps):
    past = Past()
    live(past, steps)

    assert past.findings("report", since=START) == []


@settings(max_examples=15)
@given(st.lists(STEPS, min_size=3, max_size=8), st.data())
def test_whatever_record_is_lost_is_missed(steps, data):
    past = Past()
    live(past, [("run", 20), *steps])
    ours = [record for record in past.records("report") if record.origin == "schedule" and record.id.nominal]
    settled = past.front.clock.now() - timedelta(minutes=30)
    candidates = [
        record for record in ours if record.due < settled and record.state is ExecutionState.SUCCEEDED
    ]
    if not candidates:
        return
    victim = data.draw(st.sampled_from(candidates))

    past.lose(victim)

    found = past.findings("report", since=START)
    assert (FindingKind.MISSING, victim.id.nominal) in {(each.kind, each.at) for each in found}
