"""What live tests share: a service that lost its worker before the other stories began, since that one takes longest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from fencepost.local.files import DataDir
from fencepost.local.workers import kill_calling
from fencepost.runtime.clock import sleep_ms
from tests.support.live import Arrival, LiveService, LiveTarget, ahead, until


@pytest.fixture
def service_of() -> Iterator[Callable[..., LiveService]]:
    """Makes services; none of their processes outlives the test, however it ends."""
    made: list[LiveService] = []

    def make(data: Path, *options: str) -> LiveService:
        made.append(LiveService(data, options=("--allow-private-targets", *options)))
        return made[-1]

    yield make
    for service in made:
        if service.process is not None and service.process.poll() is None:
            service.kill()


@dataclass
class Bereaved:
    """The service, its target, and the call in whose middle the worker died."""

    service: LiveService
    target: LiveTarget
    call: Arrival
    said: str


@pytest.fixture(scope="session")
def bereaved(tmp_path_factory) -> Iterator[Bereaved]:
    with ExitStack() as stack:
        target = stack.enter_context(LiveTarget().serving())
        data = tmp_path_factory.mktemp("bereaved") / "data"
        service = LiveService(data, options=("--allow-private-targets", "--workers", "1"))
        stack.enter_context(service.running())

        def slow_at_first(seen):
            if len(seen) == 1:
                sleep_ms(2_000)
            return 200

        target.answers["/hook"] = slow_at_first
        service.put_team("payments")
        retry = {"initial_delay_seconds": 1, "multiplier": 1, "max_attempts": 5}
        service.put_job(
            "payments", "report", {"at": ahead(2)}, f"{target.url}/hook", timeout_seconds=3, retry=retry
        )
        (call,) = until(lambda: target.at("/hook") or None, 20, "the call")
        killed = kill_calling(DataDir(data), 1)
        assert killed is not None
        yield Bereaved(service, target, call, killed[1])
