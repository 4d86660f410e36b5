"""The service over a local AWS engine: the adapters that are deployed, an engine that outlives a killed service."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from fencepost.local.aws_engine import AwsEngine
from tests.support.live import LiveService, LiveTarget, ahead, declaration, until

pytestmark = [pytest.mark.live, pytest.mark.engine, pytest.mark.xdist_group("live")]

JOBS = 50


@pytest.fixture
def target():
    with LiveTarget().serving() as serving:
        yield serving


@pytest.fixture
def service(tmp_path):
    made = LiveService(tmp_path / "data", store="engine")
    yield made
    if made.process is not None and made.process.poll() is None:
        made.kill()
    left = AwsEngine.running(tmp_path / "data" / "engine")
    if left is not None:
        with suppress(ProcessLookupError):
            os.kill(left.pid, signal.SIGKILL)


def test_fifty_jobs_outlive_a_killed_service_and_then_a_stopped_engine(service, target) -> None:
    """`kill -9`, a restart that finds the engine again, Ctrl-C, a restart over what the engine saved."""
    service.start()
    first = AwsEngine.running(service.data / "engine")
    assert first is not None
    service.put_team("payments", max_concurrency=50)
    soon, later = ahead(15), ahead(3600)
    jobs = [f"job-{number:02}" for number in range(JOBS)]
    due = {name: later if number % 2 else soon for number, name in enumerate(jobs)}
    service.put_jobs(
        "payments", {name: declaration({"at": at}, f"{target.url}/hook") for name, at in due.items()}
    )
    service.kill()

    service.start()
    again = AwsEngine.running(service.data / "engine")
    assert again == first, "the engine lived on, and was found again"
    fired = [name for name in jobs if due[name] == soon]
    until(lambda: len(target.at("/hook")) >= len(fired) or None, 60, "every firing that was due")
    for name in fired:
        record = service.only("payments", name, "SUCCEEDED")
        assert record["due"] == soon
        assert record["lateness_ms"] >= 0
    under_way = [f"claimed-{number}" for number in range(3)]
    service.put_jobs(
        "payments", {name: declaration({"at": ahead(10)}, f"{target.url}/claimed") for name in under_way}
    )
    assert service.stop() == 0
    assert AwsEngine.running(service.data / "engine") is None, "a clean stop ends the engine too"

    service.start()
    listed = service.call("GET", "/v1/teams/payments/jobs?limit=100")["items"]
    assert [each["name"] for each in listed] == [*under_way, *jobs]
    until(lambda: len(target.at("/claimed")) >= len(under_way) or None, 60, "what lay in the engine's queues")
    assert [len(service.executions("payments", name)) for name in fired] == [1] * len(fired)
    assert service.stop() == 0
    arrivals = [each.execution for each in target.at("/hook")]
    assert len(arrivals) == len(set(arrivals)) == len(fired)


def test_a_start_that_fails_leaves_no_engine_behind(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ["local", "--data-dir", str(tmp_path / "data"), "--port", str(taken.getsockname()[1])]
        command = [sys.executable, "-c", "from fencepost.cli import main; main()", *words]
        done = subprocess.run(
            [*command, "--store", "engine"], capture_output=True, text=True, check=False, timeout=60
        )
    assert done.returncode == 1
    assert "cannot start: port" in done.stdout
    assert (tmp_path / "data" / "engine" / "engine.json").exists()
    assert AwsEngine.running(tmp_path / "data" / "engine") is None
