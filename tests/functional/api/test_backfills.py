"""Backfills over the whole service: asked for through the API, expanded by ticks, delivered beside live firings."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.store import Table
from fencepost.domain.instants import from_wire
from fencepost.domain.outcome import Failed
from tests.support.api import ADMIN, OWNER_ROLE, Front
from tests.support.clients import Machine

REPORT = "/v1/teams/payments/jobs/report"
HOURLY = {"cron": "0 * * * *"}
RANGE = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T12:00:00Z"}


@pytest.fixture
def front():
    made = Front.at("2026-03-01T12:10:00Z")
    made.job(schedule=HOURLY)
    return made


@pytest.fixture
def machine(front):
    return Machine(front)


def ask(front, path=REPORT, **body):
    reply = front.post(path + "/backfills", {**RANGE, **body})
    assert reply.status == 202, reply.body
    return reply.body


def executions(front, path=REPORT):
    return front.get(path + "/executions?limit=100").body["items"]


def dues(records):
    return [record["due"][:16] for record in records]


def test_every_past_occurrence_runs_again_with_its_own_due(front, machine):
    backfill = ask(front, rate=600, note="the ledger was wrong")
    assert (backfill["state"], backfill["released"], backfill["asked_by"]) == ("EXPANDED", 12, OWNER_ROLE)
    machine.run("2026-03-01T12:12:00Z")
    records = executions(front)
    assert {record["state"] for record in records} == {"SUCCEEDED"}
    assert {(record["origin"], record["tier"], record["actor"]) for record in records} == {
        ("backfill", "recovery", OWNER_ROLE)
    }
    assert dues(records) == [f"2026-03-01T{hour:02}:00" for hour in reversed(range(12))]
    counts = front.get(f"{REPORT}/backfills/{backfill['id']}").body["executions"]
    assert (counts["succeeded"], sum(v for k, v in counts.items() if k != "at_least")) == (12, 12)


def test_so_many_run_a_minute_and_no_more(front, machine):
    backfill = ask(front, rate=4)
    seen = [backfill["released"]]
    for minute in (11, 12, 13):
        machine.run(f"2026-03-01T12:{minute}:30Z")
        seen.append(front.get(f"{REPORT}/backfills/{backfill['id']}").body["released"])
    assert seen == [4, 8, 12, 12]
    machine.run("2026-03-01T12:15:00Z")
    begun = sorted(from_wire(record["started_at"]) for record in executions(front))
    assert len(begun) == 12
    for first, fifth in zip(begun, begun[4:], strict=False):
        assert fifth - first >= timedelta(seconds=59)


def test_ticks_that_are_doubled_or_missing_change_neither_rate_nor_number(front, machine):
    backfill = ask(front, rate=5)
    front.clock.set("2026-03-01T12:30:00Z")
    for _ in range(3):
        machine.run("2026-03-01T12:30:30Z")
    assert front.get(f"{REPORT}/backfills/{backfill['id']}").body["released"] == 10


def test_what_succeeded_is_left_out_unless_forced(front, machine):
    ask(front, rate=600)
    machine.run("2026-03-01T13:05:00Z")
    again = ask(front, rate=600, to="2026-03-01T13:05:00Z")  # 13:00 fired by itself, 12:00 was never due
    assert (again["released"], again["left_out"], again["state"]) == (1, 13, "EXPANDED")
    forced = ask(front, rate=600, force=True)
    assert (forced["released"], forced["left_out"]) == (12, 0)


def test_what_failed_runs_again(front, machine):
    front.job(schedule=HOURLY, retry={"max_attempts": 1})
    front.stage.targets.then = Failed(status=500, error="answered 500")
    ask(front, rate=600)
    machine.run("2026-03-01T12:12:00Z")
    assert {record["state"] for record in executions(front)} == {"DEAD"}
    assert ask(front, rate=600)["released"] == 12


def test_H06_cancelling_ends_what_has_not_begun_and_nothing_else(front, machine):
    backfill = ask(front, rate=6)
    machine.run("2026-03-01T12:10:25Z")
    begun = [record for record in executions(front) if record["started_at"] is not None]
    assert 1 < len(begun) < 6
    path = f"{REPORT}/backfills/{backfill['id']}"
    off = front.delete(path)
    assert (off.status, off.body["state"], off.body["ended_by"]) == (200, "CANCELLED", OWNER_ROLE)
    machine.run("2026-03-01T12:20:00Z")
    records = executions(front)
    assert len(records) == 6
    ended = {(record["state"], record["reason"]) for record in records}
    assert ended == {("SUCCEEDED", None), ("CANCELLED", "backfill_cancelled")}
    assert sum(record["state"] == "SUCCEEDED" for record in records) == len(begun)
    assert front.delete(path).body["state"] == "CANCELLED"
    assert left_errands(front) == []


def left_errands(front):
    return [item for item in front.memory.everything(Table.CONTROL) if item["pk"].startswith("E#")]


def test_no_errand_is_left_when_all_is_on_its_way(front, machine):
    ask(front, rate=6)
    assert len(left_errands(front)) == 1
    machine.run("2026-03-01T12:12:00Z")
    assert left_errands(front) == []


def test_the_same_key_is_the_same_backfill(front):
    key = {"Idempotency-Key": "again"}
    first = front.post(REPORT + "/backfills", RANGE, headers=key)
    second = front.post(REPORT + "/backfills", RANGE, headers=key)
    assert first.body == second.body
    assert len(front.get(REPORT + "/backfills").body["items"]) == 1


def test_a_list_shows_the_last_one_first_page_by_page(front):
    asked = []
    for hour in range(3):
        asked.append(ask(front, to=f"2026-03-01T{hour + 1:02}:00:00Z")["id"])
        front.clock.advance(seconds=1)
    first = front.get(REPORT + "/backfills?limit=2").body
    rest = front.get(f"{REPORT}/backfills?limit=2&cursor={first['next']}").body
    assert [each["id"] for each in (*first["items"], *rest["items"])] == asked[::-1]


def test_executions_of_several_backfills_are_listed_in_order_of_their_instants(front, machine):
    ask(front, rate=600)
    front.clock.advance(seconds=1)
    ask(front, rate=600, force=True)
    machine.run("2026-03-01T12:14:00Z")
    found: list[dict[str, object]] = []
    cursor: str | None = ""
    while cursor is not None:
        body = front.get(f"{REPORT}/executions?limit=5{cursor and '&cursor=' + cursor}").body
        found += body["items"]
        cursor = body["next"]
    assert len({record["id"] for record in found}) == 24
    assert dues(found) == sorted(dues(found), reverse=True)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"to": "2026-03-01T12:11:00Z"}, "to"),
        ({"to": "2026-03-01T00:00:00Z"}, "to"),
        ({"from": "2026-03-01T11:10:00Z"}, "from"),
        ({"from": "yesterday"}, "from"),
        ({"rate": 0}, "rate"),
        ({"rate": 601}, "rate"),
        ({"overlap": "sometimes"}, "overlap"),
        ({"pace": 3}, "pace"),
        ({"from": "2001-01-01T00:00:00Z"}, "to"),
    ],
)
def test_a_faulty_request_says_what_is_wrong(front, body, field):
    reply = front.post(REPORT + "/backfills", {**RANGE, **body})
    assert reply.status == 422
    assert list(reply.faults) == [field]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"from": "x"}, {"from", "to"}),
        ({"to": "x", "rate": 0}, {"from", "to", "rate"}),
        ({"from": "x", "to": 5, "pace": 3}, {"from", "to", "pace"}),
        ({"from": "x", "to": "y"}, {"from", "to"}),
    ],
)
def test_all_faults_of_a_request_are_told_at_once(front, body, fields):
    reply = front.post(REPORT + "/backfills", body)
    assert reply.status == 422
    assert len(reply.body["faults"]) == len(fields)
    assert set(reply.faults) == fields


def test_a_range_that_is_too_long_is_refused_with_the_number_that_is_not(front):
    front.job("often", schedule={"cron": "* * * * *"})
    year = {"from": "2025-03-01T00:00:00Z", "to": "2026-03-01T00:00:00Z"}
    reply = front.post("/v1/teams/payments/jobs/often/backfills", year)
    assert reply.status == 422
    (fault,) = reply.body["faults"]
    assert fault["rule"] == "more than 10,000 occurrences lie between from and to; divide the range"


def test_a_job_has_at_most_ten_at_a_time(front):
    for _ in range(10):
        ask(front, rate=1)
        front.clock.advance(seconds=1)
    reply = front.post(REPORT + "/backfills", {**RANGE, "rate": 1})
    assert reply.status == 422
    assert reply.faults["active_backfills_of_a_job"]["value"] == 11


def test_overlap_may_be_another_than_the_jobs(front, machine):
    front.job(schedule=HOURLY, overlap="skip")
    backfill = ask(front, rate=600, overlap="allow")
    assert backfill["overlap"] == "allow"
    machine.run("2026-03-01T12:12:00Z")
    assert {record["state"] for record in executions(front)} == {"SUCCEEDED"}


def test_an_edit_changes_what_is_sent_but_not_which_instants(front, machine):
    backfill = ask(front, rate=2)
    front.job(schedule={"cron": "30 * * * *"}, payload={"new": True})
    machine.run("2026-03-01T12:20:00Z")
    records = [record for record in executions(front) if record["origin"] == "backfill"]
    assert dues(records) == [f"2026-03-01T{hour:02}:00" for hour in reversed(range(12))]
    assert front.stage.targets.calls[-1].body == b'{"new":true}'
    assert front.get(f"{REPORT}/backfills/{backfill['id']}").body["state"] == "EXPANDED"


def test_a_pause_of_the_job_keeps_it_waiting_and_a_resume_lets_it_go_on(front, machine):
    backfill = ask(front, rate=3)
    front.post(REPORT + "/pause")
    machine.run("2026-03-01T12:20:00Z")
    path = f"{REPORT}/backfills/{backfill['id']}"
    assert front.get(path).body["released"] == 3
    front.post(REPORT + "/resume")
    machine.run("2026-03-01T12:25:00Z")
    assert front.get(path).body["released"] == 12


def test_one_that_is_asked_for_while_the_job_is_paused_runs(front, machine):
    front.post(REPORT + "/pause")
    ask(front, rate=600)
    machine.run("2026-03-01T12:12:00Z")
    assert [record["state"] for record in executions(front)] == ["SUCCEEDED"] * 12


def test_an_edit_of_a_paused_job_is_no_new_pause_to_what_was_asked_for_meanwhile(front, machine):
    front.post(REPORT + "/pause")
    backfill = ask(front, rate=3)
    front.job(schedule={"cron": "30 * * * *"})
    machine.run("2026-03-01T12:20:00Z")
    assert front.get(REPORT).body["state"] == "PAUSED"
    assert front.get(f"{REPORT}/backfills/{backfill['id']}").body["released"] == 12
    assert [record["state"] for record in executions(front)] == ["SUCCEEDED"] * 12


def test_what_a_faster_one_ran_a_slower_one_of_the_same_range_leaves_out(front, machine):
    """Whichever of them was asked for first."""
    slow = ask(front, rate=1)
    machine.run("2026-03-01T12:10:30Z")
    fast = ask(front, rate=600)
    machine.run("2026-03-01T12:25:00Z")
    records = executions(front)
    assert sorted(dues(records)) == [f"2026-03-01T{hour:02}:00" for hour in range(12)]
    released = [front.get(f"{REPORT}/backfills/{each['id']}").body["released"] for each in (slow, fast)]
    assert sum(released) == 12


def test_nothing_of_a_deleted_job_is_backfilled(front, machine):
    backfill = ask(front, rate=2)
    uid = backfill["uid"]
    front.delete(REPORT)
    machine.run("2026-03-01T12:15:00Z")
    deleted = f"/v1/teams/payments/jobs/~{uid}"
    body = front.get(f"{deleted}/backfills/{backfill['id']}").body
    assert (body["state"], body["why"], body["released"]) == ("CANCELLED", "the job was deleted", 2)
    assert left_errands(front) == []
    assert front.post(deleted + "/backfills", RANGE).body["type"] == "urn:fencepost:problem:job-deleted"


def test_another_teams_backfill_is_not_there(front):
    backfill = ask(front)
    front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
    front.put(
        "/v1/teams/ledger/jobs/report",
        {"schedule": HOURLY, "target": {"webhook": {"url": "https://example.com/"}}},
    )
    assert front.get(f"/v1/teams/ledger/jobs/report/backfills/{backfill['id']}").status == 404
    assert front.delete(f"/v1/teams/ledger/jobs/report/backfills/{backfill['id']}").status == 404
