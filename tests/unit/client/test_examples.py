"""The examples of the project's own pages run as they stand there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fencepost.client import ReceivedCall, Receiver, at, webhook
from fencepost.client.transport import Urllib3Transport
from fencepost.domain.outcome import Accepted
from tests.support.api import Front
from tests.support.clients import ENDPOINT, InProcess, Machine, client
from tests.support.clock import SettableClock
from tests.support.signed import NOW, SECRET, call_headers

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "python" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def front() -> Front:
    return Front.at()


@pytest.fixture
def payments_in_the_environment(front, monkeypatch) -> InProcess:
    """A shell that is signed in as the team's owner; whatever is sent arrives in this process."""
    wire = InProcess(front)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOWNER")
    monkeypatch.setenv("FENCEPOST_ENDPOINT", ENDPOINT)
    monkeypatch.setenv("FENCEPOST_TEAM", "payments")
    monkeypatch.setattr(Urllib3Transport, "send", lambda _, request: wire.send(request))
    return wire


def test_a_job_is_declared(payments_in_the_environment, capsys):
    example("declare").main()

    printed = capsys.readouterr().out
    assert "nightly: at 02:30 every day" in printed
    assert "2026-03-02 01:30Z  2026-03-02T02:30:00+01:00" in printed
    assert printed.rstrip().endswith("QUEUED")


def test_a_receiver_books_each_firing_once_and_refuses_what_comes_too_late():
    receiver = Receiver(secrets=[SECRET], clock=SettableClock(NOW))
    target = example("receiver")
    books = target.Books(":memory:")

    def called(**facts: Any) -> int:
        return int(target.answer(receiver, books, call_headers(SECRET, **facts), b'{"a":1}'))

    assert called(fence=1000) == 200
    assert called(fence=1000) == 200
    assert called(fence=2000, attempt=2) == 200
    assert called(fence=1000) == 409
    assert target.answer(receiver, books, {}, b"") == 401
    assert books.done() == ["x-s-1"]


def test_long_work_reports_and_stops_when_another_took_over(front):
    front.stage.targets.then = Accepted(status=202)
    payments = client(front)
    payments.job("import").put(schedule=at("2026-03-01T12:02:00Z"), target=webhook("https://example.com"))
    Machine(front).run("2026-03-01T12:02:30Z")
    (record,) = payments.job("import").executions()
    work = example("long_work")
    chunks = list(work.numbered([str(number) for number in range(250)]))
    facts: dict[str, Any] = {
        "team": "payments",
        "job": "import",
        "due": record.due,
        "attempt": 1,
        "sent_at": record.due,
        "body": b"",
    }

    stale = ReceivedCall(execution_id=record.id, fence=record.fence - 1, **facts)
    assert work.import_rows(payments, stale, chunks) is False
    assert work.import_rows(
        payments, ReceivedCall(execution_id=record.id, fence=record.fence, **facts), chunks
    )
    assert payments.execution(record.id).get().attempts[-1].excerpt == "250 rows"


def test_every_fragment_of_the_page_runs(front, payments_in_the_environment):
    page = (ROOT / "docs" / "sdk.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    names = {
        "headers": call_headers(SECRET),
        "body": b'{"a":1}',
        "SECRET": SECRET,
        "clock": SettableClock(NOW),
    }

    for block in blocks:
        exec(compile(block, "docs/sdk.md", "exec"), names)  # noqa: S102 - the project's own page

    assert len(blocks) >= 5
