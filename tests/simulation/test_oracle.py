"""The oracle and the checkers ask nothing of the code under test; and where both speak, they agree."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fencepost.domain.instants import to_ms
from fencepost.domain.schedule import occurrences, parse_schedule
from tests.simulation.oracle import rule_of

HERE = Path(__file__).parent
BEGINS = [
    datetime(2026, 3, 2, 10, tzinfo=UTC),
    datetime(2026, 3, 29, tzinfo=UTC),
    datetime(2026, 10, 25, tzinfo=UTC),
]
SCHEDULES = [
    {"cron": "*/7 * * * *", "timezone": "UTC"},
    {"cron": "*/15 * * * *", "timezone": "Asia/Kolkata"},
    {"cron": "5,17,59 * * * *", "timezone": "Europe/Berlin"},
    {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
    {"cron": "0 2 * * *", "timezone": "Europe/Berlin"},
    {"cron": "44 11 * * *", "timezone": "America/New_York"},
    {"every": "PT75S", "anchor": "2026-03-01T23:59:53.000Z"},
    {"every": "PT11M", "anchor": "2026-03-02T00:00:00.000Z", "end_at": "2026-03-02T11:00:00.000Z"},
    {"at": "2026-03-02T10:17:31.000Z"},
]


@pytest.mark.parametrize(
    "path", [HERE / "oracle.py", HERE / "labels.py", *sorted((HERE / "checkers").glob("*.py"))]
)
def test_checkers_import_nothing_of_the_code_under_test(path: Path):
    imported = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert not {name for name in imported if name.startswith(("fencepost", "functions"))}
    allowed = ("tests.simulation.checkers", "tests.simulation.oracle", "tests.simulation.labels")
    own = {name for name in imported if name.startswith("tests.")}
    assert {name for name in own if not name.startswith(allowed)} <= {
        "tests.simulation.journal",
        "tests.simulation.kernel",
    }


@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_the_oracle_agrees_with_the_service_about_occurrences(schedule: dict[str, str], begin: datetime):
    parsed = parse_schedule(schedule, now=datetime(2026, 3, 1, tzinfo=UTC))
    rule = rule_of(schedule, begin)
    low, high = begin - timedelta(hours=24), begin + timedelta(hours=5)
    found = []
    for instant in occurrences(parsed, low):
        if instant > high:
            break
        found.append(to_ms(instant))
    assert list(rule.between(to_ms(low), to_ms(high))) == found
