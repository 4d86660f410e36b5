"""A worker process that stands still beyond its lease, and goes on as if nothing had been."""

from __future__ import annotations

import os
import signal

import pytest

from fencepost.local.files import DataDir
from fencepost.runtime.clock import sleep_ms
from tests.support.live import LiveTarget, ahead, until

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]


@pytest.fixture
def target():
    with LiveTarget().serving() as serving:
        yield serving


def holder(data: DataDir) -> int | None:
    """The pid of the worker process that is calling a target."""
    calling = [mark for mark in data.workers.iterdir() if mark.name.isdigit() and mark.read_text().strip()]
    return int(calling[0].name) if calling else None


def test_D05_a_worker_that_stands_still_beyond_its_lease_changes_nothing_when_it_goes_on(
    tmp_path, target, service_of
) -> None:
    def slow_at_first(seen):
        if len(seen) == 1:
            sleep_ms(1_500)
        return 200

    target.answers["/hook"] = slow_at_first
    service = service_of(tmp_path / "data", "--workers", "2")
    with service.running():
        service.put_team("payments")
        retry = {"initial_delay_seconds": 1, "multiplier": 1, "max_attempts": 5}
        service.put_job(
            "payments", "report", {"at": ahead(2)}, f"{target.url}/hook", timeout_seconds=3, retry=retry
        )
        data = DataDir.open(tmp_path / "data")
        # The mark is written before the call: a worker stopped between the two would have called nobody.
        paused = until(
            lambda: holder(data) if target.at("/hook") else None, 20, "a worker in the middle of its call"
        )
        os.kill(paused, signal.SIGSTOP)
        try:
            record = service.only("payments", "report", "SUCCEEDED", within=90.0)
        finally:
            os.kill(paused, signal.SIGCONT)
        sleep_ms(3_000)
        assert service.only("payments", "report", "SUCCEEDED") == record
    lost, delivered = record["attempts"]
    assert (lost["outcome"], delivered["outcome"]) == ("worker_lost", "delivered")
    assert lost["fence"] < delivered["fence"] == record["fence"]
    first, second = target.at("/hook")
    assert (first.execution, first.body) == (second.execution, second.body)
    assert first.fence < second.fence
