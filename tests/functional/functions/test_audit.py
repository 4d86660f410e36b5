"""The audit of the whole stage, fed with what wakes it: it counts, it says whose, and it may only read."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path

import pytest

from fencepost.client import cron
from fencepost.runtime import auditing
from fencepost.runtime.observability import observability
from functions.audit.handler import build
from tests.support.audits import Past
from tests.support.grants import held

EVENTS = Path(__file__).resolve().parents[3] / "events"
FIVE = cron("*/5 * * * *")


@pytest.fixture
def past() -> Past:
    """Three jobs that fired for half an hour; one of them is deleted."""
    past = Past()
    for name in ("alpha", "beta", "gamma"):
        past.put(name, FIVE)
    past.run("2026-03-01T11:01:00Z")
    past.owner.job("gamma").delete()
    return past


def audited(past, event=None):
    """What one run answers, and the lines it wrote."""
    lines = io.StringIO()
    past.front.stage.observed = observability("test", lines)
    answer = build(held(past.front.stage, build.__module__))(event or {}, None)
    past.front.stage.observed.telemetry.flush()
    return answer, [json.loads(line) for line in lines.getvalue().splitlines()]


def counted(lines):
    return [value for line in lines for value in line.get("AuditFindings", [])]


def test_a_stage_that_is_right_reports_a_zero(past):
    answer, lines = audited(past)

    assert (answer["jobs"], answer["findings"], answer["finished"]) == (3, 0, True)
    assert counted(lines) == [0.0]


def test_a_finding_is_counted_and_says_whose_it_is(past):
    past.lose(past.record("beta", "2026-03-01T10:35:00Z"))

    _, lines = audited(past)

    assert counted(lines) == [1.0]
    [said] = [line for line in lines if line.get("kind")]
    assert (said["team"], said["job"], said["kind"]) == ("payments", "beta", "missing")
    assert said["at"] == "2026-03-01T10:35:00.000Z"


def test_the_shares_of_a_day_are_the_whole_stage(past):
    event = json.loads((EVENTS / "schedule_audit_share.json").read_text())
    midnight = past.front.clock.now().replace(hour=0, minute=2) + timedelta(days=1)
    seen = 0
    for number in range(24 * 12):
        past.front.clock.set(midnight + timedelta(minutes=5 * number))
        seen += audited(past, event)[0]["jobs"]

    assert seen == 3


def test_a_share_that_runs_out_of_time_says_so(past, monkeypatch):
    monkeypatch.setattr(auditing, "PATIENCE", timedelta(0))

    answer, lines = audited(past)

    assert (answer["jobs"], answer["finished"]) == (0, False)
    assert any(line.get("message") == "the audit is not complete" for line in lines)
