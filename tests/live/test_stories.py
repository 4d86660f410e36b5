"""Firings from their registration over HTTP to their record, on one running service.

Everything is declared at once, in `told`; each test then waits for its own story.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from fencepost.domain.instants import from_wire
from fencepost.runtime.clock import sleep_ms, utc_now
from tests.support.live import ADMIN, LiveService, LiveTarget, RefusedError, ahead, declaration, until

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]

TEAM = "payments"
TOPIC = "arn:aws:sns:us-east-1:000000000000:payments-dead"
SOON = {"initial_delay_seconds": 1, "multiplier": 2, "max_delay_seconds": 4}


@dataclass
class Told:
    """The running service with everything declared."""

    service: LiveService
    target: LiveTarget
    at: str

    def one(self, job: str, state: str, within: float = 25.0) -> dict[str, Any]:
        return self.service.only(TEAM, job, state, within)


def slow_at_first(seen):
    if len(seen) == 1:
        sleep_ms(3_000)
    return 200


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Iterator[Told]:
    with ExitStack() as stack:
        target = stack.enter_context(LiveTarget().serving())
        service = stack.enter_context(LiveService(tmp_path_factory.mktemp("stories") / "data").running())
        target.answers = {
            "/fails-twice": lambda seen: 500 if len(seen) <= 2 else 200,
            "/never": lambda _: 500,
            "/slow": slow_at_first,
            "/works": lambda _: 202,
        }
        service.put_team(TEAM, notify={"sns": TOPIC, "webhook": f"{target.url}/told"})
        at = ahead(10)
        service.put_job(TEAM, "once", {"at": at}, f"{target.url}/once", payload={"n": 1})
        service.put_job(
            TEAM, "twice", {"at": ahead(2)}, f"{target.url}/fails-twice", retry={"max_attempts": 5, **SOON}
        )
        service.put_job(
            TEAM, "never", {"at": ahead(2)}, f"{target.url}/never", retry={"max_attempts": 3, **SOON}
        )
        service.put_job(
            TEAM,
            "slow",
            {"at": ahead(2)},
            f"{target.url}/slow",
            timeout_seconds=1,
            payload={"due": "{{due}}"},
            retry={"max_attempts": 3, **SOON},
        )
        service.put_job(TEAM, "works", {"at": ahead(2)}, f"{target.url}/works", lease_seconds=30)
        yield Told(service, target, at)


def test_a_target_that_fails_twice_gets_three_attempts_with_pauses_between_them(told):
    record = told.one("twice", "SUCCEEDED")
    assert [(each["number"], each["status"]) for each in record["attempts"]] == [(1, 500), (2, 500), (3, 200)]
    arrivals = told.target.at("/fails-twice")
    assert len({each.execution for each in arrivals}) == 1
    assert all(earlier.fence < later.fence for earlier, later in pairwise(arrivals))
    assert all(earlier.at < later.at for earlier, later in pairwise(arrivals))


def test_a_timeout_is_unknown_and_the_next_attempt_says_the_same_under_a_larger_fence(told):
    record = told.one("slow", "SUCCEEDED")
    assert [each["outcome"] for each in record["attempts"]] == ["timed_out", "delivered"]
    first, second = told.target.at("/slow")
    assert (first.execution, first.body) == (second.execution, second.body)
    assert first.fence < second.fence == record["fence"]
    late = f"/v1/teams/{TEAM}/executions/{record['id']}/complete"
    with pytest.raises(RefusedError) as refused:
        told.service.call("POST", late, {"fence": first.fence})
    assert refused.value.status == 409


def test_what_always_fails_is_dead_told_once_and_redriven_under_a_larger_fence(told):
    dead = told.one("never", "DEAD")
    assert (dead["reason"], len(dead["attempts"])) == ("budget_spent", 3)
    heard = until(lambda: told.target.at("/told") or None, 15, "the webhook's notification")
    published = until(
        lambda: [each for each in told.service.lines("aws") if each["service"] == "sns"] or None, 15, "SNS"
    )
    assert published[0]["to"] == TOPIC
    assert published[0]["body"]["execution_id"] == dead["id"]
    assert {each.headers["webhook-id"] for each in heard} == {published[0]["body"]["id"]}
    letters = told.service.call("GET", f"/v1/teams/{TEAM}/dead-letters")
    assert [each["id"] for each in letters["items"]] == [dead["id"]]

    told.target.answers["/never"] = lambda _: 200
    told.service.call("POST", f"/v1/teams/{TEAM}/executions/{dead['id']}/redrive", {})
    alive = told.one("never", "SUCCEEDED")
    assert alive["fence"] > dead["fence"]
    assert told.service.call("GET", f"/v1/teams/{TEAM}/dead-letters")["items"] == []


def test_long_work_is_held_by_its_fence_until_it_reports(told):
    (arrival,) = until(lambda: told.target.at("/works") or None, 15, "the call of long work")
    running = told.one("works", "RUNNING")
    path = f"/v1/teams/{TEAM}/executions/{running['id']}"
    beat = told.service.call("POST", f"{path}/heartbeat", {"fence": arrival.fence})
    assert from_wire(beat["lease_until"]) > utc_now()
    with pytest.raises(RefusedError) as refused:
        told.service.call("POST", f"{path}/complete", {"fence": arrival.fence - 1})
    assert refused.value.status == 409
    told.service.call("POST", f"{path}/complete", {"fence": arrival.fence, "result": "3 rows"})
    assert told.one("works", "SUCCEEDED")["fence"] == arrival.fence


def test_a_one_off_reaches_its_target_once_and_not_before_it_is_due(told):
    record = told.one("once", "SUCCEEDED")
    (arrival,) = told.target.at("/once")
    due = from_wire(told.at)
    assert (record["due"], from_wire(record["due"])) == (told.at, due)
    assert arrival.at >= due
    assert (arrival.at - due).total_seconds() < 2
    assert arrival.body == b'{"n":1}'
    assert record["claimed_at"] <= record["started_at"] <= record["ended_at"]
    assert from_wire(record["claimed_at"]) < due <= from_wire(record["started_at"])
    (attempt,) = record["attempts"]
    assert (attempt["status"], attempt["outcome"], attempt["fence"]) == (200, "delivered", arrival.fence)
    assert arrival.headers["idempotency-key"] == record["id"]


def test_an_unsigned_call_and_another_teams_key_are_refused(told):
    with pytest.raises(RefusedError) as refused:
        told.service.call("GET", "/v1/teams/payments", arn=ADMIN.replace("fencepost-admin", "fencepost-demo"))
    assert refused.value.status == 403


CAP, STORM = 5, 300


def test_a_teams_storm_queues_behind_its_own_cap_and_delays_nobody_else(told):
    service, target = told.service, told.target
    inside, most, lock = [0], [0], threading.Lock()

    def working(_):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        sleep_ms(20)
        with lock:
            inside[0] -= 1
        return 200

    target.answers["/storm"] = working
    service.put_team("storm", max_concurrency=CAP)
    service.put_team("calm")
    due = ahead(10)
    storm = declaration({"at": due}, f"{target.url}/storm")
    service.put_jobs("storm", {f"job-{number:03}": storm for number in range(STORM)})
    service.put_job("calm", "one", {"at": due}, f"{target.url}/calm")
    calm = service.only("calm", "one", "SUCCEEDED", within=30)
    assert calm["lateness_ms"] < 5_000

    def arrived():
        return True if len({each.execution for each in target.at("/storm")}) == STORM else None

    until(arrived, 60, "every firing of the storm")
    assert most[0] <= CAP
    arrivals = target.at("/storm")
    assert len(arrivals) == STORM, "each of them once"
