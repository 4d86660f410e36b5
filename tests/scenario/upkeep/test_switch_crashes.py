"""Whatever single call fails while a switch holds firings or lets them go: each comes to the end that its policy says."""

from __future__ import annotations

from collections import Counter

import pytest

from fencepost.application.store import Table
from fencepost.domain.instants import to_ms
from fencepost.runtime.delivering import doors
from tests.support.api import ADMIN, Front
from tests.support.clients import Machine
from tests.support.faults import Fault, FaultAt
from tests.support.steps import calling, delivering_once, in_peace

PAYMENTS = "/v1/teams/payments"


def opened(policy: str) -> tuple[Front, Machine]:
    front = Front.at("2026-03-01T12:00:30Z")
    front.patch(PAYMENTS, {"max_concurrency": 2}, by=ADMIN)
    body = {"policy": policy}
    front.job("report", {"cron": "* * * * *", "end_at": "2026-03-01T12:03:00Z"}, misfire=body)
    return front, Machine(front)


def holds(policy: str, fault: FaultAt) -> Front:
    front, machine = opened(policy)
    front.post(PAYMENTS + "/pause")
    machine.run("2026-03-01T12:00:50Z")
    front.clock.set("2026-03-01T12:01:00Z")
    delivering_once(front, fault)
    in_peace(front, minutes=3)
    front.clock.advance(seconds=20)
    front.post(PAYMENTS + "/resume")
    return front


def flips_back(policy: str, fault: FaultAt) -> Front:
    front, machine = opened(policy)
    front.post(PAYMENTS + "/pause")
    machine.run("2026-03-01T12:04:20Z")
    calling(front, fault, "POST", PAYMENTS + "/resume")
    return front


def lets_go(policy: str, fault: FaultAt) -> Front:
    front, machine = opened(policy)
    front.post(PAYMENTS + "/pause")
    machine.run("2026-03-01T12:04:20Z")
    front.post(PAYMENTS + "/resume")
    doors(front.stage).backlog.pump("payments", front.clock.now())
    delivering_once(front, fault)
    return front


RAN = {"skip": [], "run_once_late": ["03"], "catch_up": ["03", "02", "01"]}
STORIES = [(holds, "skip"), (flips_back, "run_once_late"), (lets_go, "skip"), (lets_go, "run_once_late")]


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize(("story", "policy"), STORIES)
def test_E1_a_failing_call_strands_and_doubles_nothing_that_a_switch_held(story, policy, fault):
    clean = FaultAt()
    story(policy, clean)
    assert 3 < len(clean.calls) < 80
    for place in range(len(clean.calls)):
        failing = FaultAt(place, fault)
        front = story(policy, failing)
        in_peace(front, minutes=4)
        try:
            check(front, policy)
        except AssertionError as error:
            raise AssertionError(f"{fault}: call {place}, {failing.calls[place]}: {error}") from error


def check(front: Front, policy: str) -> None:
    found = front.get(PAYMENTS + "/jobs/report/executions").body["items"]
    assert Counter(record["state"] for record in found) == Counter(
        {"SUCCEEDED": len(RAN[policy]), "SKIPPED": 3 - len(RAN[policy])}
    )
    assert [record["due"][14:16] for record in found if record["state"] == "SUCCEEDED"] == RAN[policy]
    for record in found:
        delivered = [each for each in record["attempts"] if each["outcome"] == "delivered"]
        assert len(delivered) == (record["state"] == "SUCCEEDED")
    control = front.memory.everything(Table.CONTROL)
    assert [item["pk"] for item in control if item["pk"].startswith("B#")] == []
    slots = [item["until"] for item in control if item["pk"].startswith("S#")]
    assert all(
        until <= to_ms(front.clock.now()) for until in slots
    )  # reserved by somebody who died, and lapsed
