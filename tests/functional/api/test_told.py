"""What teams are told, over the whole service: each kind, by job or by team, at least once and with one id."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest

from fencepost.application.store import Key, Put, StoreError, Table
from fencepost.domain.instants import to_wire
from fencepost.domain.outcome import Failed
from fencepost.runtime import keeping
from tests.support.api import ADMIN, OWNER_ROLE, Front
from tests.support.clients import Machine
from tests.support.faults import Fault, FaultAt, Killed
from tests.support.steps import Gate, behind, calling, errands_left, in_peace

PAYMENTS = "/v1/teams/payments"
REPORT = PAYMENTS + "/jobs/report"
HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:10:00Z")


@pytest.fixture
def machine(front):
    return Machine(front)


def told(front):
    return [(notice.kind.value, notice.job, notice.reason) for notice in front.stage.notifier.told]


def wants(front, *kinds):
    front.patch(PAYMENTS, {"notify_on": list(kinds)})


def test_a_pause_by_hand_is_told_where_it_is_wanted(front, machine):
    wants(front, "paused")
    front.job(schedule=HOURLY)
    front.post(REPORT + "/pause", {"note": "moving"})
    machine.run("2026-03-01T12:12:00Z")
    assert told(front) == [("paused", "report", "moving")]
    assert errands_left(front) == []


def test_the_end_of_a_pause_is_told_to_whoever_asked_for_pauses(front, machine):
    wants(front, "paused")
    front.job(schedule=HOURLY)
    front.post(REPORT + "/pause", {"until": "2026-03-01T12:14:00Z"})
    machine.run("2026-03-01T12:18:00Z")
    assert told(front) == [("paused", "report", None), ("resumed", "report", None)]


def test_both_ends_of_a_teams_switch_are_told_to_whoever_asked_for_pauses(front, machine):
    wants(front, "paused")
    front.post(PAYMENTS + "/pause", {"note": "moving", "tiers": ["bulk"], "until": "2026-03-02T00:00:00Z"})
    machine.run("2026-03-01T12:12:00Z")
    front.post(PAYMENTS + "/resume")
    machine.run("2026-03-01T12:14:00Z")
    assert told(front) == [
        ("paused", "", "bulk until 2026-03-02T00:00:00.000Z: moving"),
        ("resumed", "", "bulk, critical, recovery, standard"),
    ]
    assert {notice.team for notice in front.stage.notifier.told} == {"payments"}
    assert errands_left(front) == []


def resumed(front):
    return [reason for kind, _, reason in told(front) if kind == "resumed"]


def test_the_end_of_a_teams_switch_that_comes_by_itself_is_told_once(front, machine):
    """All that end at one instant are one notice, whose id is that of the instant."""
    wants(front, "paused")
    front.post(PAYMENTS + "/pause", {"tiers": ["bulk"], "until": "2026-03-01T12:14:20Z"})
    front.post(PAYMENTS + "/pause", {"tiers": ["standard", "bulk"], "until": "2026-03-01T12:14:20Z"})
    front.post(PAYMENTS + "/pause", {"tiers": ["critical"], "until": "2026-03-01T12:14:40Z"})
    machine.run("2026-03-01T12:14:10Z")
    assert resumed(front) == []
    machine.run("2026-03-01T12:20:00Z")
    ends = [notice for notice in front.stage.notifier.told if notice.kind == "resumed"]
    assert sorted((to_wire(each.at), each.team, each.job, each.reason) for each in ends) == [
        ("2026-03-01T12:14:20.000Z", "payments", "", "bulk, standard: the pause expired"),
        ("2026-03-01T12:14:40.000Z", "payments", "", "critical: the pause expired"),
    ]
    assert len({notice.id for notice in front.stage.notifier.told}) == 5
    assert errands_left(front) == []
    assert not [item for item in front.memory.everything(Table.CONTROL) if item["pk"].startswith("A#")]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/resume", {}), ("/pause", {}), ("/pause", {"until": "2026-03-02T12:14:00Z"})],
)
def test_an_end_that_somebody_changed_is_not_told_as_one(front, machine, path, body):
    wants(front, "paused")
    front.post(PAYMENTS + "/pause", {"until": "2026-03-01T12:14:00Z"})
    front.post(PAYMENTS + path, body)
    machine.run("2026-03-01T12:20:00Z")
    assert all("expired" not in reason for reason in resumed(front))


def test_an_end_is_told_to_whoever_asks_for_it_by_then_and_to_no_team_of_the_stages(front, machine):
    until = {"until": "2026-03-01T12:14:00Z"}
    front.post(PAYMENTS + "/pause", {**until, "tiers": ["bulk"]})
    front.post("/v1/stage/pause", until, by=ADMIN)
    machine.run("2026-03-01T12:20:00Z")
    assert told(front) == []
    front.post(PAYMENTS + "/pause", {"tiers": ["bulk"], "until": "2026-03-01T12:24:00Z"})
    front.post("/v1/stage/pause", {"until": "2026-03-01T12:24:00Z"}, by=ADMIN)
    wants(front, "paused")
    machine.run("2026-03-01T12:30:00Z")
    assert told(front) == [("resumed", "", "bulk: the pause expired")]


def test_switches_are_not_told_where_nobody_asked_nor_those_of_the_stage(front, machine):
    front.post(PAYMENTS + "/pause")
    wants(front, "paused")
    assert front.post("/v1/stage/pause", by=ADMIN).status == 200
    machine.run("2026-03-01T12:12:00Z")
    assert told(front) == []


def test_a_jobs_own_choice_goes_before_its_teams(front, machine):
    wants(front, "paused")
    front.job(schedule=HOURLY, notify_on=["dead"])
    front.job("other", HOURLY, notify_on=["paused"])
    wants(front, "dead")
    front.post(REPORT + "/pause")
    front.post(PAYMENTS + "/jobs/other/pause")
    machine.run("2026-03-01T12:12:00Z")
    assert told(front) == [("paused", "other", None)]


def test_a_pause_after_deaths_is_told_whatever_was_chosen(front, machine):
    front.job(schedule=HOURLY, retry={"max_attempts": 1}, pause_after_dead=2)
    front.stage.targets.then = Failed(status=500, error="answered 500")
    machine.run("2026-03-01T15:30:00Z")
    assert front.get(REPORT).body["state"] == "PAUSED"
    assert Counter(kind for kind, _, _ in told(front)) == {"dead": 2, "paused": 1}
    assert ("paused", "report", "2 firings in a row ended dead") in told(front)


@pytest.mark.parametrize("chosen_by", ["team", "job"])
def test_what_is_skipped_at_its_claim_is_told(front, machine, chosen_by):
    more = {"notify_on": ["skipped"]} if chosen_by == "job" else {}
    if chosen_by == "team":
        wants(front, "skipped")
    front.job(schedule=HOURLY, misfire={"policy": "skip"}, **more)
    machine.run("2026-03-01T12:11:00Z")
    front.clock.set("2026-03-01T15:20:00Z")
    machine.run("2026-03-01T15:25:00Z")
    assert told(front) == [("skipped", "report", "misfire")]
    [notice] = front.stage.notifier.told
    [record] = front.get(REPORT + "/executions?state=SKIPPED").body["items"]
    assert (notice.execution_id, record["coalesced"]["count"]) == (record["id"], 3)


def test_what_nobody_asked_for_costs_no_message(front, machine):
    front.job(schedule=HOURLY, misfire={"policy": "skip"})
    machine.run("2026-03-01T12:11:00Z")
    front.clock.set("2026-03-01T15:20:00Z")
    machine.run("2026-03-01T15:25:00Z")
    assert [record["state"] for record in front.get(REPORT + "/executions").body["items"]] == ["SKIPPED"]
    assert told(front) == []


def test_what_a_pause_slept_through_is_told_with_its_end(front, machine):
    wants(front, "skipped")
    front.job(schedule=HOURLY)
    front.post(REPORT + "/pause")
    front.clock.set("2026-03-01T15:20:00Z")
    front.post(REPORT + "/resume")
    machine.run("2026-03-01T15:25:00Z")
    assert told(front) == [("skipped", "report", "paused")]


def test_what_a_switch_made_miss_is_told(front, machine):
    wants(front, "skipped")
    front.job(schedule={"cron": "* * * * *"}, misfire={"policy": "skip"})
    front.post(PAYMENTS + "/pause")
    machine.run("2026-03-01T12:12:30Z")
    front.post(PAYMENTS + "/resume")
    machine.run("2026-03-01T12:12:50Z")
    assert told(front) == [("skipped", "report", "misfire")]


def test_successes_and_late_ones_are_told(front, machine):
    wants(front, "succeeded", "late")
    front.job(schedule=HOURLY)
    machine.run("2026-03-01T13:01:00Z")
    front.clock.set("2026-03-01T14:30:00Z")
    machine.run("2026-03-01T14:35:00Z")
    assert Counter(kind for kind, _, _ in told(front)) == {"succeeded": 2, "late": 1}


def test_a_backfill_is_not_late(front, machine):
    wants(front, "late")
    front.job(schedule=HOURLY)
    front.post(REPORT + "/backfills", {"from": "2026-03-01T08:00:00Z", "to": "2026-03-01T12:00:00Z"})
    machine.run("2026-03-01T12:15:00Z")
    assert told(front) == []


def test_whoever_is_deaf_for_a_while_is_told_later_with_the_same_id(front, machine):
    wants(front, "paused")
    front.job(schedule=HOURLY)
    front.post(REPORT + "/pause")
    front.stage.notifier.deaf = True
    machine.run("2026-03-01T12:20:00Z")
    assert told(front) == []
    front.stage.notifier.deaf = False
    machine.run("2026-03-01T12:25:00Z")
    assert told(front) == [("paused", "report", None)]


def test_a_timer_that_nobody_understands_is_told_with_the_job_that_it_stopped(front, machine):
    front.job(schedule={"cron": "30 12 * * *"})
    [item] = front.memory.everything(Table.TIMERS)
    broken = {name: value for name, value in item.items() if name not in {"pk", "sk"}} | {"due": "soon"}
    front.memory.write(Put(key=Key(Table.TIMERS, item["pk"], item["sk"]), item=broken))
    machine.run("2026-03-01T12:32:00Z")
    assert front.get(REPORT).body["state"] == "ERROR"
    assert [kind for kind, _, _ in told(front)] == ["job_error"]


@pytest.mark.parametrize("fault", Fault)
def test_A1_a_switch_whose_maker_dies_is_told_once_it_is_made(fault):
    def opened():
        made = Front.at("2026-03-01T12:10:00Z")
        wants(made, "paused")
        return made

    clean = FaultAt()
    calling(opened(), clean, "POST", PAYMENTS + "/pause")
    for place in range(len(clean.calls)):
        front = opened()
        calling(front, FaultAt(place, fault), "POST", PAYMENTS + "/pause")
        in_peace(front, minutes=3)
        assert front.get(PAYMENTS).body["paused"] is True
        flips = front.get(PAYMENTS).body["revision"] - 2
        ids = {notice.id for notice in front.stage.notifier.told}
        assert flips == len(ids) >= 1


@pytest.mark.parametrize("fault", Fault)
def test_A1_an_end_whose_keeper_dies_is_told_under_one_id(fault):
    def opened():
        made = Front.at("2026-03-01T12:10:00Z")
        wants(made, "paused")
        made.post(PAYMENTS + "/pause", {"tiers": ["bulk"], "until": "2026-03-01T12:11:00Z"})
        made.clock.set("2026-03-01T12:11:05Z")
        return made

    def keeping_once(front, around):
        gate = Gate(around)
        expiry = keeping.expiry(behind(front.stage, gate))
        gate.open = True
        with suppress(Killed, StoreError):
            expiry.run(front.clock.now())

    clean = FaultAt()
    keeping_once(opened(), clean)
    assert clean.calls
    for place in range(len(clean.calls)):
        front = opened()
        keeping_once(front, FaultAt(place, fault))
        in_peace(front, minutes=6)
        ids = [notice.id for notice in front.stage.notifier.told if notice.kind == "resumed"]
        assert len(set(ids)) == 1
        assert len(ids) == 1 or fault is Fault.NO_ANSWER_DONE


@pytest.mark.parametrize("fault", Fault)
def test_A1_a_pause_whose_maker_dies_is_told_once_it_is_made(fault):
    def opened():
        made = Front.at("2026-03-01T12:10:00Z")
        wants(made, "paused")
        made.job(schedule=HOURLY)
        return made

    clean = FaultAt()
    calling(opened(), clean, "POST", REPORT + "/pause")
    for place in range(len(clean.calls)):
        front = opened()
        calling(front, FaultAt(place, fault), "POST", REPORT + "/pause", done=409)
        in_peace(front, minutes=3)
        assert front.get(REPORT).body["paused_by"] == OWNER_ROLE
        assert set(told(front)) == {("paused", "report", None)}
        assert len({notice.id for notice in front.stage.notifier.told}) == 1
