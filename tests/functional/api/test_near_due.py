"""Edits, pauses and deletes of jobs whose firing is already claimed, queued or late, through API and delivery."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.delivery.results import PutBack
from fencepost.application.messages import read_wake
from fencepost.application.ports import QueueName
from fencepost.domain.instants import from_wire
from fencepost.domain.outcome import Failed
from fencepost.runtime import keeping
from fencepost.runtime.delivering import deliveries
from tests.support.api import Front
from tests.support.steps import in_peace

REPORT = "/v1/teams/payments/jobs/report"
MINUTELY = {"cron": "* * * * *"}


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:10Z")


def run(front, until):
    """Lets messages surface and be handled, second by second."""
    work, queues, end = deliveries(front.stage), front.stage.queues, from_wire(until)
    while front.clock.now() < end:
        for message in queues.receive(QueueName.STANDARD, 10, timedelta(0)):
            disposition = work.advance.run(read_wake(message.body), message)
            if isinstance(disposition, PutBack):
                queues.set_visibility(message, disposition.seconds)
            else:
                queues.delete([message])
        front.clock.advance(seconds=1)


def records(front):
    items = front.get(REPORT + "/executions").body["items"]
    return {item["due"][11:19]: (item["state"], item["reason"]) for item in items}


def test_E03_an_instant_that_is_no_occurrence_any_more_is_superseded(front):
    front.job(schedule=MINUTELY)
    assert records(front)["12:01:00"] == ("QUEUED", None)
    front.patch(REPORT, {"schedule": {"cron": "30 * * * *"}})
    run(front, "2026-03-01T12:02:00Z")
    assert records(front)["12:01:00"] == ("CANCELLED", "superseded")
    assert front.stage.targets.calls == []


def test_B5_an_instant_of_both_schedules_is_one_occurrence(front):
    front.job(schedule=MINUTELY)
    front.patch(REPORT, {"schedule": {"cron": "1 * * * *"}})
    run(front, "2026-03-01T12:02:30Z")
    assert records(front)["12:01:00"] == ("SUCCEEDED", None)
    assert [call.at.minute for call in front.stage.targets.calls] == [1]


def test_a_pause_a_second_before_due_holds(front):
    front.job(schedule=MINUTELY)
    run(front, "2026-03-01T12:00:59Z")
    front.post(REPORT + "/pause")
    run(front, "2026-03-01T12:02:00Z")
    assert front.stage.targets.calls == []
    assert records(front)["12:01:00"] == ("CANCELLED", "paused")


def test_a_pause_and_resume_before_due_lets_it_run_once(front):
    front.job(schedule=MINUTELY)
    front.post(REPORT + "/pause")
    front.post(REPORT + "/resume")
    run(front, "2026-03-01T12:01:30Z")
    assert records(front)["12:01:00"] == ("SUCCEEDED", None)
    assert len(front.stage.targets.calls) == 1


def test_a_delete_before_due_and_a_new_job_of_the_name(front):
    front.job(schedule=MINUTELY)
    old = front.get(REPORT).body["uid"]
    front.delete(REPORT)
    front.job(schedule=MINUTELY)
    run(front, "2026-03-01T12:01:30Z")
    assert len(front.stage.targets.calls) == 1
    items = front.get(f"/v1/teams/payments/jobs/~{old}/executions").body["items"]
    assert {item["reason"] for item in items} == {"deleted"}


def test_an_edit_of_the_payload_reaches_a_queued_firing(front):
    front.job(schedule=MINUTELY, payload={"v": 1})
    front.patch(REPORT, {"payload": {"v": 2}})
    run(front, "2026-03-01T12:01:30Z")
    assert [call.body for call in front.stage.targets.calls] == [b'{"v":2}']


def test_so_many_deaths_in_a_row_pause_the_job(front):
    front.stage.targets.then = Failed(error="500", status=500)
    front.job(schedule=MINUTELY, retry={"max_attempts": 1}, pause_after_dead=1)
    run(front, "2026-03-01T12:01:30Z")
    body = front.get(REPORT).body
    assert (body["state"], body["paused_by"]) == ("PAUSED", "fencepost")
    in_peace(front, minutes=3)
    assert "paused" in {told.kind.value for told in front.stage.notifier.told}


def test_a_job_that_wants_it_goes_after_its_last_firing(front):
    uid = front.job(schedule={"in": "PT20S"}, delete_after_completion=True).body["uid"]
    run(front, "2026-03-01T12:01:30Z")
    assert front.get(REPORT).status == 404
    gone = f"/v1/teams/payments/jobs/~{uid}"
    assert front.get(gone).body["state"] == "DELETED"
    [record] = front.get(gone + "/executions").body["items"]
    assert record["state"] == "SUCCEEDED"
    [entry, _] = front.get(gone + "/revisions").body["items"]
    assert (entry["what"], entry["source"]) == ("delete", "aftermath")


def test_a_pause_ends_by_itself_and_what_is_due_then_fires(front):
    front.job(schedule=MINUTELY)
    front.post(REPORT + "/pause", {"until": "2026-03-01T12:05:00Z"})
    front.clock.set("2026-03-01T12:05:01Z")
    keeping.expiry(front.stage).run(front.clock.now())
    run(front, "2026-03-01T12:05:30Z")
    assert front.get(REPORT).body["state"] == "ACTIVE"
    assert records(front)["12:05:00"] == ("SUCCEEDED", None)


@pytest.mark.parametrize(
    ("schedule", "shown"),
    [
        ({"at": "2026-03-01T12:01:00Z"}, ["12:01:00"]),
        ({"cron": "* * * * *", "max_firings": 1}, ["12:01:00"]),
        ({"cron": "* * * * *", "max_firings": 4}, ["12:01:00", "12:02:00", "12:03:00", "12:04:00"]),
        ({"cron": "* * * * *", "end_at": "2026-03-01T12:02:00Z"}, ["12:01:00", "12:02:00"]),
    ],
)
def test_what_is_claimed_still_lies_ahead_until_it_is_due(front, schedule, shown):
    front.job(schedule=schedule)
    assert records(front)["12:01:00"] == ("QUEUED", None), "claimed at once"
    assert [each["at"][11:19] for each in front.get(REPORT).body["next"]] == shown
    soon = front.get("/v1/teams/payments/jobs?next_before=2026-03-01T12:01:30Z").body["items"]
    assert [item["name"] for item in soon] == ["report"]
    run(front, "2026-03-01T12:01:05Z")
    assert [each["at"][11:19] for each in front.get(REPORT).body["next"]] == shown[1:]
