"""The vectors: known answers, whatever zone this machine lives in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from fencepost.domain.schedule import CronSchedule, latest_occurrence, occurrences
from fencepost.domain.schedule.fields import parse_cron
from fencepost.domain.schedule.refusals import CronRefusedError

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "cron"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def load(name: str) -> list[dict]:
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]


KNOWN = [*load("vectors.jsonl"), *load("vectors_tzdata.jsonl")]
INVALID = load("invalid.jsonl")


@pytest.fixture(params=["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The zone that the machine believes it is in."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_the_vectors_are_all_here():
    assert (len(KNOWN), len(INVALID)) == (155, 32)


@pytest.mark.parametrize("vector", KNOWN, ids=lambda v: f"{v['expr'].strip()}|{v['tz']}|{v['after']}")
def test_known_answers(machine_zone, vector):
    schedule = CronSchedule(cron=vector["expr"], timezone=vector["tz"])
    expected = [datetime.fromisoformat(instant) for instant in vector["next"]]

    found = list(islice(occurrences(schedule, datetime.fromisoformat(vector["after"])), 5))

    assert found == expected
    assert [latest_occurrence(schedule, instant, LONG_AGO) for instant in expected] == expected


@pytest.mark.parametrize("vector", INVALID, ids=lambda v: v["expr"] or "(empty)")
def test_known_refusals(vector):
    with pytest.raises(CronRefusedError) as refused:
        parse_cron(vector["expr"])
    assert {str(problem.reason) for problem in refused.value.problems} == {vector["why"]}
