"""The service, a target and a browser, once for all stories; and a team for each of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.browser.target import Target
from tests.support.browser import browsing, chromium, entry
from tests.support.live import LiveService

# Without the driver there is nothing to collect: `make test` says that they did not run.
collect_ignore_glob = [] if importlib.util.find_spec("playwright") else ["test_*.py"]


@dataclass(frozen=True)
class Console:
    """The local service with its console."""

    service: LiveService
    target: Target
    browser: Any

    @property
    def address(self) -> str:
        """What opens the page."""
        return entry(self.service)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    chromium()
    data = tmp_path_factory.mktemp("console") / "data"
    service = LiveService(data, options=("--allow-private-targets", "--store", "memory"))
    with Target().serving() as target, service.running(), browsing() as browser:
        yield Console(service=service, target=target, browser=browser)
