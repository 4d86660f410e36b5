"""Two real minutes without the service: afterwards the ledger says what each job's policy asked for, and no more."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from fencepost.domain.instants import from_wire
from fencepost.local.aws_engine import AwsEngine
from fencepost.runtime.clock import sleep_ms, utc_now
from tests.support.live import LiveService, LiveTarget, declaration, until

pytestmark = [pytest.mark.live, pytest.mark.engine, pytest.mark.outage_full, pytest.mark.xdist_group("live")]

JOBS = 50
OUTAGE_MS = 125_000
MINUTE = timedelta(minutes=1)
EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
POLICIES = ("run_once_late", "skip", "catch_up")


@pytest.fixture
def target():
    with LiveTarget().serving() as serving:
        yield serving


@pytest.fixture(params=["sqlite", "engine"])
def service(tmp_path, request):
    made = LiveService(tmp_path / "data", store=request.param)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.kill()
    left = AwsEngine.running(tmp_path / "data" / "engine")
    if left is not None:
        with suppress(ProcessLookupError):
            os.kill(left.pid, signal.SIGKILL)


def covered(record: dict, moment: datetime) -> bool:
    """Whether the record explains the minute."""
    last = record["coalesced"]["until"] if record["coalesced"] else record["due"]
    return from_wire(record["due"]) <= moment <= from_wire(last)


def stop_by(service: LiveService, how: str) -> None:
    if how == "kill":
        service.kill()
    else:
        assert service.stop() == 0


@pytest.mark.parametrize("how", ["kill", "ctrl-c"])
def test_H09_two_minutes_without_the_service_are_explained_by_each_jobs_own_policy(
    service, target, how
) -> None:
    service.start()
    service.put_team("payments", max_concurrency=50)
    names = {f"job-{n:02}": POLICIES[n % len(POLICIES)] for n in range(JOBS)}
    service.put_jobs(
        "payments",
        {
            name: declaration(EVERY_MINUTE, f"{target.url}/hook", misfire={"policy": policy})
            for name, policy in names.items()
        },
    )
    began = utc_now().replace(second=0, microsecond=0) + MINUTE
    until(lambda: len(target.at("/hook")) >= JOBS or None, 90, "the first minute's firings")
    sleep_ms(3_000)
    stop_by(service, how)
    sleep_ms(OUTAGE_MS)
    with service.running():
        back = utc_now()
        until(lambda: utc_now() >= back + timedelta(seconds=75) or None, 90, "releases to be over")
        for name, policy in names.items():
            records = service.executions("payments", name)
            stuck = [each for each in records if from_wire(each["due"]) <= back and each["state"] == "QUEUED"]
            assert stuck == [], (name, policy)
            moment = began
            while moment <= back:
                explained = [each for each in records if covered(each, moment)]
                assert len(explained) == 1, (name, policy, moment, explained)
                moment += MINUTE
            missed = [each for each in records if each["coalesced"]]
            match policy:
                case "run_once_late":
                    assert all(each["state"] == "SUCCEEDED" for each in missed)
                case "skip":
                    assert all((each["state"], each["reason"]) == ("SKIPPED", "misfire") for each in missed)
                case _:
                    assert missed == []
    accepted = [(each.execution, each.fence) for each in target.at("/hook")]
    assert len(set(accepted)) == len(accepted), "no fence came twice"
