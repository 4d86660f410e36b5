"""A team with jobs that ran, failed and wait, and a terminal in a directory with the project's examples."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fencepost.client import Fencepost, cron, webhook
from fencepost.domain import delivery as wire
from fencepost.domain.outcome import Outcome
from tests.support.api import Front
from tests.support.clients import Machine, Terminal, client
from tests.support.world import BROKEN, OK

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
HOOK = webhook("https://example.com/hook")
DOOMED = webhook("https://doomed.example.com/hook")


def by_host(delivery: wire.Delivery) -> Outcome:
    return BROKEN if "doomed" in str(delivery.target) else OK


@pytest.fixture
def front() -> Front:
    front = Front.at("2026-03-01T11:57:00Z")
    front.stage.targets.then = by_host
    return front


@pytest.fixture
def payments(front: Front) -> Fencepost:
    """Five minutes of `nightly`, a dead letter of `doomed`, a paused `report`, a calendar, a backfill; it is 12:02."""
    payments = client(front)
    payments.job("nightly").put(
        schedule=cron("* * * * *", "Europe/Berlin"), target=HOOK, labels={"app": "ledger"}
    )
    payments.job("doomed").put(schedule=cron("0 * * * *"), target=DOOMED, retry={"max_attempts": 1})
    payments.job("report").put(schedule=cron("0 9 * * *"), target=HOOK)
    payments.job("report").pause("the ledger is being repaired")
    payments.upkeep.calendar("maintenance").put(instants=["2026-04-01T00:00:00Z/2026-04-02T00:00:00Z"])
    Machine(front).run("2026-03-01T12:02:00Z")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    payments.job("nightly").backfill(noon - timedelta(minutes=30), noon, rate=60)
    return payments


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in (EXAMPLES / "jobs.yaml", *(EXAMPLES / "imports").iterdir()):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fencepost(front: Front, payments: Fencepost, directory: Path) -> Terminal:
    return Terminal(front, directory=directory)
