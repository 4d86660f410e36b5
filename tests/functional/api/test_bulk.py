from __future__ import annotations

import pytest

from tests.support.api import ADMIN, HOOK, NINE, Front

BULK = "/v1/teams/payments/bulk"
JOBS = "/v1/teams/payments/jobs"


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


def put(name, **more):
    return {"name": name, "job": {"schedule": NINE, "target": HOOK, **more}}


class TestBulk:
    def test_each_item_has_its_own_result(self, front):
        front.job("old")
        front.job("kept")
        items = [
            put("new"),
            put("faulty", tier="gold"),
            {"name": "old"},
            {"name": "none"},
            {"name": ""},
            {"name": "n" * 5000},
            put("Bad Name"),
            {**put("kept", tier="bulk"), "revision": 7},
        ]
        results = front.post(BULK, {"items": items}).body["results"]
        assert [(result["action"], result["status"]) for result in results] == [
            ("put", 201),
            ("put", 422),
            ("delete", 200),
            ("delete", 404),
            ("delete", 404),
            ("delete", 404),
            ("put", 422),
            ("put", 412),
        ]
        assert results[0]["revision"] == 1
        assert [fault["field"] for fault in results[1]["problem"]["faults"]] == ["tier"]
        assert [item["name"] for item in front.get(JOBS).body["items"]] == ["kept", "new"]

    def test_a_hundred_jobs_at_once_and_no_more(self, front):
        items = [put(f"job-{number}") for number in range(100)]
        results = front.post(BULK, {"items": items}).body["results"]
        assert {result["status"] for result in results} == {201}
        assert list(front.post(BULK, {"items": [*items, put("one-more")]}).faults) == ["items"]

    def test_what_takes_too_long_is_said_to_be_untried(self, front):
        class Slow:
            def __getattr__(self, name):
                return getattr(front.memory, name)

            def transact(self, actions, token=None):
                front.clock.advance(seconds=15)
                return front.memory.transact(actions, token)

        front.through(Slow())
        results = front.post(BULK, {"items": [put("a"), put("b"), put("c")]}).body["results"]
        assert [result["status"] for result in results] == [201, 201, 503]

    def test_the_same_key_repeats_nothing(self, front):
        how = {"headers": {"Idempotency-Key": "k"}}
        first = front.post(BULK, {"items": [put("a")]}, **how)
        assert front.post(BULK, {"items": [put("a")]}, **how).body == first.body

    @pytest.mark.parametrize("body", [{}, {"items": []}, {"items": [1]}, {"items": [{"name": "a", "x": 1}]}])
    def test_a_faulty_call_does_nothing(self, front, body):
        assert front.post(BULK, body).status == 422


class TestLimits:
    def used(self, front):
        body = front.get("/v1/teams/payments/limits").body
        return body["max_jobs"]["used"], body["max_daily_firings"]["used"]

    def test_they_are_read_back_with_what_is_used(self, front):
        front.job("minutely", {"cron": "* * * * *"})
        front.job("often", {"every": "PT1H"})
        front.job("once", {"at": "2027-01-01T00:00:00Z"})
        assert self.used(front) == (3, 1440 + 24)
        body = front.get("/v1/teams/payments/limits").body
        assert body["max_concurrency"] == {"limit": 50, "used": 0}
        assert body["payload_bytes"]["limit"] == 262144

    def test_use_follows_edits_pauses_and_deletes(self, front):
        front.job("a", {"cron": "* * * * *"})
        front.patch(f"{JOBS}/a", {"schedule": {"cron": "0 * * * *"}})
        assert self.used(front) == (1, 24)
        front.post(f"{JOBS}/a/pause")
        assert self.used(front) == (1, 0)
        front.post(f"{JOBS}/a/resume")
        assert self.used(front) == (1, 24)
        front.delete(f"{JOBS}/a")
        assert self.used(front) == (0, 0)

    def test_a_refusal_names_the_limit_and_the_value(self, front):
        front.patch("/v1/teams/payments", {"max_daily_firings": 1500}, by=ADMIN)
        front.job("minutely", {"cron": "* * * * *"})
        reply = front.job("hourly", {"cron": "*/15 * * * *"})
        assert reply.status == 422
        fault = reply.faults["max_daily_firings"]
        assert fault["value"] == 1536
        assert "1,500" in fault["rule"]
        assert front.job("nightly", {"cron": "0 3 * * *"}).status == 201

    def test_a_resume_may_be_too_much_and_a_slower_schedule_never_is(self, front):
        front.job("minutely", {"cron": "* * * * *"})
        front.post(f"{JOBS}/minutely/pause")
        front.patch("/v1/teams/payments", {"max_daily_firings": 100}, by=ADMIN)
        assert front.post(f"{JOBS}/minutely/resume").status == 422
        front.patch(f"{JOBS}/minutely", {"schedule": {"cron": "0 * * * *"}})
        assert front.post(f"{JOBS}/minutely/resume").status == 200

    def test_a_count_that_went_wrong_refuses_nobody(self, front):
        from fencepost.application import keys
        from fencepost.application.store import Put

        front.patch("/v1/teams/payments", {"max_jobs": 2}, by=ADMIN)
        wrong = {"v": 1, "jobs": 999, "daily": 0}
        front.memory.write(Put(key=keys.usage("payments"), item=wrong))
        assert front.job("a").status == 201
        assert self.used(front)[0] == 1

    def test_R10_a_count_that_nobody_can_read_refuses_nobody(self, front):
        from fencepost.application import keys
        from fencepost.application.store import Put

        front.job("a")
        for change in (lambda: front.delete(f"{JOBS}/a"), lambda: front.job("b")):
            wrong = {"v": 1, "jobs": "many", "daily": "?"}
            front.memory.write(Put(key=keys.usage("payments"), item=wrong))
            assert change().status < 300
            assert self.used(front)[0] == sum(1 for _ in front.get(JOBS).body["items"])
