"""A cap that is raised is used at once by those who wait for it, and not only when the next tick asks for a pump."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.ports import QueueName
from fencepost.domain.outcome import Accepted
from tests.support.api import ADMIN, Front
from tests.support.clients import Machine
from tests.support.steps import queued

TEAM = "/v1/teams/payments"


def running(front: Front) -> int:
    return len(front.get(f"{TEAM}/jobs/report/executions?state=RUNNING").body["items"])


@pytest.fixture
def front() -> Front:
    """Five runs of a team that may have one: its target works on after each call."""
    made = Front.at("2026-03-01T12:00:05Z")
    assert made.patch(TEAM, {"max_concurrency": 1}, by=ADMIN).status == 200
    made.job(schedule={"cron": "0 0 1 1 *"})
    made.stage.targets.then = Accepted(status=202)
    for _ in range(5):
        made.post(f"{TEAM}/jobs/report/run", {})
    Machine(made).run(made.clock.now() + timedelta(seconds=10))
    assert running(made) == 1
    return made


def test_E1_a_raised_cap_pumps_at_once(front: Front) -> None:
    assert front.patch(TEAM, {"max_concurrency": 4}, by=ADMIN).status == 200
    Machine(front).run("2026-03-01T12:00:25Z")
    assert running(front) == 4


@pytest.mark.parametrize("change", [{"max_concurrency": 1}, {"retention_days": 40}])
def test_no_other_change_of_a_team_pumps(front: Front, change: dict[str, int]) -> None:
    assert front.patch(TEAM, change, by=ADMIN).status == 200
    assert queued(front, QueueName.PUMP) == 0
