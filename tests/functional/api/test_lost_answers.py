"""A request that was done, and whose answer was lost: the repeat answers, and does nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.store import Put
from fencepost.domain.identity import ExecutionId
from fencepost.domain.outcome import Failed
from tests.support.api import ADMIN, HOOK, OWNER, Front
from tests.support.clients import Machine

JOBS = "/v1/teams/payments/jobs"
REPORT = JOBS + "/report"
KEY = {"Idempotency-Key": "k-1"}
OTHER = OWNER.replace("payments-deploy", "payments-night")
NIGHT = "arn:aws:iam::111122223333:role/payments-night"


class DiesAfter:
    """A store behind which the worker dies once a transaction is committed."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def transact(self, actions: Any, token: str | None = None) -> Any:
        self.inner.transact(actions, token)
        raise KeyboardInterrupt


def loses(front: Front, method: str, path: str, body: Any = None) -> None:
    """The request is done, and its worker dies before it answers."""
    store = front.stage.store
    front.through(DiesAfter(front.memory))
    with pytest.raises(KeyboardInterrupt):
        front.call(method, path, body, headers=KEY)
    front.through(store)


@pytest.fixture
def front() -> Front:
    made = Front.at("2026-03-01T12:00:00Z")
    made.job()
    return made


def revisions(front: Front, path: str = REPORT) -> list[str]:
    return [entry["what"] for entry in front.get(path + "/revisions").body["items"]]


def test_a_delay_whose_answer_was_lost_is_answered_after_it_is_over(front: Front) -> None:
    path, body = JOBS + "/later", {"schedule": {"in": "PT15M"}, "target": HOOK}
    loses(front, "PUT", path, body)
    front.clock.advance(minutes=40)
    again = front.put(path, body, headers=KEY)
    assert (again.status, again.body["schedule"]) == (201, {"at": "2026-03-01T12:15:00.000Z"})
    assert again.body["revision"] == 1
    third = front.put(path, body, headers=KEY)
    assert (third.body, third.headers["Idempotency-Replayed"]) == (again.body, "true")
    assert revisions(front, path) == ["create"]


@pytest.mark.parametrize(
    ("method", "path", "body", "what"),
    [
        ("POST", REPORT + "/pause", {"note": "quiet", "until": "2026-03-01T12:30:00Z"}, "pause"),
        ("PATCH", REPORT, {"tier": "bulk"}, "edit"),
        ("PUT", REPORT, {"schedule": {"in": "PT5M"}, "target": HOOK}, "edit"),
    ],
)
def test_a_repeat_is_answered_with_what_was_done(
    front: Front, method: str, path: str, body: Any, what: str
) -> None:
    loses(front, method, path, body)
    front.clock.advance(minutes=31)
    again = front.call(method, path, body, headers=KEY)
    assert (again.status, again.body["revision"]) == (200, 2)
    assert again.etag == f'"2.{again.body["uid"]}"'
    assert revisions(front) == [what, "create"]


def test_a_repeat_is_answered_at_once_and_shows_what_became_of_the_job(front: Front) -> None:
    """Nobody has to wait until the worker is given up, and a later change is not undone."""
    loses(front, "POST", REPORT + "/pause", {"note": "quiet"})
    front.post(REPORT + "/resume")
    again = front.post(REPORT + "/pause", {"note": "quiet"}, headers=KEY)
    assert (again.status, again.body["state"], again.body["revision"]) == (200, "ACTIVE", 3)
    assert revisions(front) == ["resume", "pause", "create"]


def test_a_resume_and_a_delete_whose_answers_were_lost(front: Front) -> None:
    front.post(REPORT + "/pause")
    loses(front, "POST", REPORT + "/resume")
    assert front.post(REPORT + "/resume", headers=KEY).body["state"] == "ACTIVE"
    assert front.delete(REPORT, headers=KEY).body["type"] == "urn:fencepost:problem:key-reused"
    other = {"Idempotency-Key": "k-2"}
    store = front.stage.store
    front.through(DiesAfter(front.memory))
    with pytest.raises(KeyboardInterrupt):
        front.delete(REPORT, headers=other)
    front.through(store)
    assert front.delete(REPORT).status == 404
    gone = front.delete(REPORT, headers=other)
    assert (gone.status, gone.body["state"], gone.body["cancelled"]) == (200, "DELETED", [])


def test_two_copies_that_both_work_do_it_once(front: Front) -> None:
    """The first is slow and not dead; the second, which took over, finds the mark when it writes."""
    path, body = JOBS + "/later", {"schedule": {"in": "PT15M"}, "target": HOOK}

    class Slow(DiesAfter):
        def transact(self, actions: Any, token: str | None = None) -> Any:
            front.through(front.memory)
            front.clock.advance(seconds=61)
            assert front.put(path, body, headers=KEY).status == 201
            return self.inner.transact(actions, token)

    front.through(Slow(front.memory))
    first = front.put(path, body, headers=KEY)
    assert (first.status, first.body["type"]) == (409, "urn:fencepost:problem:contended")
    assert front.put(path, body, headers=KEY).status == 201
    assert revisions(front, path) == ["create"]


class TestPause:
    """Without a key."""

    def test_the_same_pause_again_changes_nothing(self, front: Front) -> None:
        body = {"note": "quiet", "until": "2026-03-02T12:00:00Z"}
        first = front.post(REPORT + "/pause", body)
        again = front.post(REPORT + "/pause", body)
        assert (again.status, again.body) == (200, first.body)
        assert revisions(front) == ["pause", "create"]

    @pytest.mark.parametrize(
        "body", [{}, {"note": "other"}, {"note": "quiet", "until": "2026-03-03T12:00:00Z"}]
    )
    def test_another_one_is_refused(self, front: Front, body: dict[str, Any]) -> None:
        front.post(REPORT + "/pause", {"note": "quiet"})
        assert front.post(REPORT + "/pause", body).status == 409

    def test_somebody_elses_is_refused(self, front: Front) -> None:
        front.patch(
            "/v1/teams/payments", {"principals": ["arn:aws:iam::111122223333:role/payments-deploy", NIGHT]}
        )
        front.post(REPORT + "/pause")
        assert front.post(REPORT + "/pause", by=OTHER).status == 409

    def test_a_precondition_holds(self, front: Front) -> None:
        front.post(REPORT + "/pause")
        assert front.post(REPORT + "/pause", headers={"If-Match": '"1"'}).status == 412
        assert front.post(REPORT + "/pause", headers={"If-Match": '"2"'}).status == 200


class TestRedrive:
    @pytest.fixture
    def dead(self, front: Front) -> str:
        front.job(retry={"max_attempts": 1})
        front.stage.targets.then = Failed(status=500, error="answered 500")
        front.post(REPORT + "/run")
        Machine(front).run("2026-03-01T12:01:00Z")
        [record] = front.get(REPORT + "/executions").body["items"]
        assert record["state"] == "DEAD"
        return f"/v1/teams/payments/executions/{record['id']}"

    def test_a_lost_answer_is_given_again_whatever_became_of_it(self, front: Front, dead: str) -> None:
        loses(front, "POST", dead + "/redrive")
        front.stage.targets.then = Failed(status=500, error="answered 500")
        Machine(front).run("2026-03-01T12:04:00Z")
        assert front.get(dead).body["state"] == "DEAD"
        calls = len(front.stage.targets.calls)
        again = front.post(dead + "/redrive", headers=KEY)
        assert (again.status, again.body["state"]) == (200, "DEAD")
        Machine(front).run("2026-03-01T12:08:00Z")
        assert len(front.stage.targets.calls) == calls

    def test_without_a_key_what_has_not_begun_is_on_its_way(self, front: Front, dead: str) -> None:
        first = front.post(dead + "/redrive")
        again = front.post(dead + "/redrive")
        assert (again.status, again.body) == (200, first.body)
        assert front.post(dead + "/redrive", by=ADMIN).status == 409
        Machine(front).run("2026-03-01T12:03:00Z")
        assert len(front.stage.targets.calls) == 2

    def test_what_has_begun_or_never_died_is_refused(self, front: Front, dead: str) -> None:
        front.post(dead + "/redrive")
        identity = ExecutionId.parse(dead.rpartition("/")[2])
        item = dict(front.memory.get(keys.execution(identity)) or {})
        assert decode_execution(item).attempt == 0
        facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        front.memory.write(
            Put(key=keys.execution(identity), item={**facts, "attempt": 1, "state": "RETRY_WAIT"})
        )
        reply = front.post(dead + "/redrive")
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:not-dead")
        fresh = front.post(REPORT + "/run").body["id"]
        assert front.post(f"/v1/teams/payments/executions/{fresh}/redrive").status == 409
