"""What workers and operators say about executions, through the API and the real delivery."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.messages import read_wake
from fencepost.application.ports import QueueName
from fencepost.domain.outcome import Accepted, Failed
from fencepost.runtime.delivering import deliveries
from tests.support.api import ADMIN, HOOK, OWNER_ROLE, Front

REPORT = "/v1/teams/payments/jobs/report"


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


def deliver(front):
    """Lets the messages of the standard and the recovery queue surface and be handled once."""
    work, queues = deliveries(front.stage), front.stage.queues
    front.clock.advance(seconds=30)
    for queue in (QueueName.STANDARD, QueueName.RECOVERY):
        for message in queues.receive(queue, 10, timedelta(0)):
            work.advance.run(read_wake(message.body), message)
            queues.delete([message])


def running(front, outcome, **more):
    """A job whose first attempt was answered by `outcome`; the record's path."""
    front.stage.targets.then = outcome
    front.job(schedule={"in": "PT10S"}, **more)
    [record] = front.get(REPORT + "/executions").body["items"]
    deliver(front)
    return f"/v1/teams/payments/executions/{record['id']}"


class TestLongWork:
    @pytest.fixture
    def path(self, front):
        return running(front, Accepted(), lease_seconds=60, max_run_seconds=600)

    def test_heartbeat_then_complete(self, front, path):
        record = front.get(path).body
        assert (record["state"], record["attempts"][0]["ended_at"]) == ("RUNNING", None)
        front.clock.advance(seconds=20)
        beat = front.post(path + "/heartbeat", {"fence": record["fence"]}).body
        assert beat["lease_until"] > record["lease_until"]
        done = front.post(path + "/complete", {"fence": record["fence"], "result": "42 rows"}).body
        assert (done["state"], done["attempts"][0]["excerpt"]) == ("SUCCEEDED", "42 rows")

    def test_D05_a_stale_fence_changes_nothing(self, front, path):
        before = front.get(path).body
        for action in ("heartbeat", "complete", "fail"):
            reply = front.post(f"{path}/{action}", {"fence": before["fence"] - 1})
            assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:stale-fence")
        assert front.get(path).body == before

    def test_a_lease_that_is_over_is_told_on_the_next_call(self, front, path):
        fence = front.get(path).body["fence"]
        front.clock.advance(seconds=61)
        reply = front.post(path + "/heartbeat", {"fence": fence})
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:lease-lost")

    def test_failing_for_good_is_a_dead_letter(self, front, path):
        fence = front.get(path).body["fence"]
        body = {"fence": fence, "error": "no such account", "permanent": True}
        assert front.post(path + "/fail", body).body["state"] == "DEAD"
        [letter] = front.get("/v1/teams/payments/dead-letters").body["items"]
        assert letter["attempts"][0]["error"] == "no such account"

    def test_failing_is_retried_by_the_jobs_policy(self, front, path):
        fence = front.get(path).body["fence"]
        body = front.post(path + "/fail", {"fence": fence, "error": "try again"}).body
        assert (body["state"], body["retry_at"] is not None) == ("RETRY_WAIT", True)

    @pytest.mark.parametrize("body", [{}, {"fence": "7"}, {"fence": 0}, {"fence": 7.5}, {"fence": 1, "x": 1}])
    def test_a_faulty_body(self, front, path, body):
        assert front.post(path + "/heartbeat", body).status == 422

    def test_another_teams_worker_finds_nothing(self, front, path):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        other = path.replace("payments", "ledger")
        assert front.post(other + "/complete", {"fence": 1}).status == 404


class TestRedrive:
    @pytest.fixture
    def path(self, front):
        return running(front, Failed(error="500", status=500), retry={"max_attempts": 1})

    def test_a_dead_letter_is_sent_again_and_leaves_the_list(self, front, path):
        dead = front.get(path).body
        assert (dead["state"], dead["reason"]) == ("DEAD", "budget_spent")
        again = front.post(path + "/redrive", {"note": "fixed"}).body
        assert (again["state"], again["actor"], again["ended_at"]) == ("QUEUED", OWNER_ROLE, None)
        assert front.get("/v1/teams/payments/dead-letters").body["items"] == []
        deliver(front)
        assert front.get(path).body["fence"] > dead["fence"]

    def test_what_is_not_dead_is_not_redriven(self, front, path):
        front.post(path + "/redrive")
        reply = front.post(path + "/redrive", by=ADMIN)
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:not-dead")

    def test_nothing_of_a_deleted_job_is_redriven(self, front, path):
        front.delete(REPORT)
        assert front.post(path + "/redrive").body["type"] == "urn:fencepost:problem:job-deleted"

    def test_a_page_of_dead_letters_is_redriven_at_once(self, front, path):
        for number in range(3):
            front.put(
                f"/v1/teams/payments/jobs/job-{number}",
                {"schedule": {"in": "PT10S"}, "target": HOOK, "retry": {"max_attempts": 1}},
            )
        deliver(front)
        first = front.get("/v1/teams/payments/dead-letters?limit=3").body
        assert len(first["items"]) == 3
        rest = front.get(f"/v1/teams/payments/dead-letters?limit=3&cursor={first['next']}").body
        assert [item["id"] for item in rest["items"]] == [path.rpartition("/")[2]]
        front.delete("/v1/teams/payments/jobs/job-1")
        reply = front.post("/v1/teams/payments/dead-letters/redrive", {"limit": 3}).body
        assert (len(reply["redriven"]), len(reply["left"]), reply["more"]) == (2, 1, True)


def test_run_now_runs_once_more_and_says_who_asked(front):
    front.job()
    run = front.post(REPORT + "/run").body
    assert (run["state"], run["origin"], run["actor"]) == ("QUEUED", "run_now", OWNER_ROLE)
    deliver(front)
    assert front.get(f"/v1/teams/payments/executions/{run['id']}").body["state"] == "SUCCEEDED"


def test_run_now_of_a_job_that_is_not_there(front):
    assert front.post(REPORT + "/run").status == 404
