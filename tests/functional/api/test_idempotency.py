from __future__ import annotations

import pytest

from fencepost.application.store import StoreBusyError
from tests.support.api import ADMIN, HOOK, OWNER_ROLE, Front

REPORT = "/v1/teams/payments/jobs/report"
KEY = {"Idempotency-Key": "k-1"}


@pytest.fixture
def front():
    made = Front.at("2026-03-01T12:00:00Z")
    made.job()
    return made


class BusyOnce:
    """A store whose next transaction is throttled, again and again until told otherwise."""

    def __init__(self, inner):
        self.inner = inner
        self.busy = False

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def transact(self, actions, token=None):
        if self.busy:
            raise StoreBusyError("throttled")
        return self.inner.transact(actions, token)


class TestRunNow:
    def test_the_same_key_is_the_same_run(self, front):
        first = front.post(REPORT + "/run", headers=KEY)
        again = front.post(REPORT + "/run", headers=KEY)
        assert (first.status, again.status) == (201, 201)
        assert again.body == first.body
        assert again.headers["Idempotency-Replayed"] == "true"
        assert len(front.get(REPORT + "/executions").body["items"]) == 1

    def test_another_key_is_another_run(self, front):
        front.post(REPORT + "/run", headers=KEY)
        front.post(REPORT + "/run", headers={"Idempotency-Key": "k-2"})
        front.post(REPORT + "/run")
        assert len(front.get(REPORT + "/executions").body["items"]) == 3

    def test_E08_a_key_belongs_to_its_team(self, front):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        front.put("/v1/teams/ledger/jobs/report", {"schedule": {"every": "PT1H"}, "target": HOOK})
        front.post(REPORT + "/run", headers=KEY)
        other = front.post("/v1/teams/ledger/jobs/report/run", headers=KEY)
        assert other.status == 201
        assert other.body["team"] == "ledger"


def test_E08_another_request_under_the_key_is_refused_and_not_merged(front):
    front.post(REPORT + "/run", headers=KEY)
    reply = front.post(REPORT + "/pause", headers=KEY)
    assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:key-reused")
    assert front.get(REPORT).body["state"] == "ACTIVE"


def test_a_delay_that_is_put_again_keeps_the_first_instant(front):
    path = "/v1/teams/payments/jobs/later"
    body = {"schedule": {"in": "PT15M"}, "target": HOOK}
    first = front.put(path, body, headers=KEY)
    front.clock.advance(minutes=5)
    again = front.put(path, body, headers=KEY)
    assert again.body["schedule"] == first.body["schedule"] == {"at": "2026-03-01T12:15:00.000Z"}
    assert again.etag == first.etag
    without = front.put(path, body)
    assert without.body["schedule"] == {"at": "2026-03-01T12:20:00.000Z"}


def test_a_key_whose_day_is_over_is_new_though_the_store_still_has_it(front):
    """The store deletes what has expired when it likes, up to days later."""
    path = "/v1/teams/payments/jobs/later"
    body = {"schedule": {"in": "PT15M"}, "target": HOOK}
    front.put(path, body, headers=KEY)
    front.clock.advance(hours=23)
    kept = front.put(path, body, headers=KEY)
    assert (kept.headers["Idempotency-Replayed"], kept.body["schedule"]) == (
        "true",
        {"at": "2026-03-01T12:15:00.000Z"},
    )
    front.clock.advance(hours=1)
    anew = front.put(path, body, headers=KEY)
    assert "Idempotency-Replayed" not in anew.headers
    assert anew.body["schedule"] == {"at": "2026-03-02T12:15:00.000Z"}
    assert front.put(path, body, headers=KEY).headers["Idempotency-Replayed"] == "true"
    front.clock.advance(hours=24)
    assert front.post(REPORT + "/pause", headers=KEY).status == 200


def test_a_worker_that_died_is_taken_over_after_a_minute_with_the_first_ones_instant(front):
    path = "/v1/teams/payments/jobs/later"
    body = {"schedule": {"in": "PT15M"}, "target": HOOK}

    class Dies:
        def __getattr__(self, name):
            return getattr(front.memory, name)

        def transact(self, actions, token=None):
            raise KeyboardInterrupt

    store = front.stage.store
    front.through(Dies())
    with pytest.raises(KeyboardInterrupt):
        front.put(path, body, headers=KEY)
    front.through(store)
    front.clock.advance(seconds=30)
    waiting = front.put(path, body, headers=KEY)
    assert (waiting.status, waiting.body["type"]) == (409, "urn:fencepost:problem:in-progress")
    front.clock.advance(seconds=31)
    done = front.put(path, body, headers=KEY)
    assert (done.status, done.body["schedule"]) == (201, {"at": "2026-03-01T12:15:00.000Z"})


def test_a_refusal_gives_the_key_back(front):
    path = "/v1/teams/payments/jobs/other"
    assert front.put(path, {"schedule": {"cron": "x"}, "target": HOOK}, headers=KEY).status == 422
    assert front.put(path, {"schedule": {"cron": "0 9 * * *"}, "target": HOOK}, headers=KEY).status == 201


def test_a_busy_store_gives_the_key_back(front):
    busy = BusyOnce(front.memory)
    front.through(busy)
    busy.busy = True
    reply = front.patch(REPORT, {"tier": "bulk"}, headers=KEY)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
    busy.busy = False
    assert front.patch(REPORT, {"tier": "bulk"}, headers=KEY).status == 200


@pytest.mark.parametrize("key", ["", "a b", "x" * 129, "ä"])
def test_a_key_that_is_none_is_a_fault(front, key):
    assert list(front.post(REPORT + "/run", headers={"Idempotency-Key": key}).faults) == ["Idempotency-Key"]


def test_a_large_answer_is_replayed_too(front):
    path = "/v1/teams/payments/jobs/large"
    body = {"schedule": {"cron": "0 9 * * *"}, "target": HOOK, "payload": "ü" * 100_000}
    first = front.put(path, body, headers=KEY)
    assert front.put(path, body, headers=KEY).body == first.body
