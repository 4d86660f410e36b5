"""Hostile input costs little: counted in steps, so that a busy machine changes nothing."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.faults import Faults
from fencepost.domain.schedule import (
    CronSchedule,
    latest_occurrence,
    next_occurrence,
    parse_schedule,
    zoned,
    zones,
)
from fencepost.domain.schedule import fields as fields_module
from fencepost.domain.schedule.search import next_match

EVERY_MINUTE = ",".join(str(minute) for minute in range(60))
HOSTILE = [
    "* * * * *",
    f"{EVERY_MINUTE} {','.join(str(hour) for hour in range(24))} * * *",
    "0-48 23-23,3-9,*/4,19 29 * fri",
    "30 2 * * *",
    "59 23 31 12 *",
    "0 0 29 2 *",
    "0 0 29 2 */7",
    "0 0 31 1 */7",
    "0 0 31 2 1",
    "*/59 */23 */31 */12 */7",
    "*/5 2 8-14 3 */7",
    "30 0 29 2 7",
]
ZONES = ["UTC", "America/New_York", "Africa/Casablanca", "Pacific/Apia", "Antarctica/Troll", "Asia/Pyongyang"]
MOMENTS = [
    datetime(2000, 1, 1, tzinfo=UTC),
    datetime(2011, 12, 30, 9, 59, tzinfo=UTC),  # a minute before Apia skips a day
    datetime(2026, 11, 29, 12, tzinfo=UTC),
    datetime(2096, 2, 29, 23, 59, tzinfo=UTC),  # no leap day for eight years
    datetime(2199, 12, 31, 23, 59, tzinfo=UTC),
]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the calendar was searched, and how many years of a zone were looked through."""
    counted: Counter[str] = Counter()

    def counting(name, function):
        def call(*args):
            counted[name] += 1
            return function(*args)

        return call

    monkeypatch.setattr(zoned, "next_match", counting("searches", next_match))
    monkeypatch.setattr(zones, "_changes", counting("years", zones._changes))
    zones._pieces.cache_clear()
    return counted


@pytest.mark.parametrize("cron", HOSTILE, ids=lambda text: text[:20])
@pytest.mark.parametrize("zone", ZONES)
def test_the_next_one_takes_a_few_searches_from_anywhere(steps, cron, zone):
    schedule = CronSchedule(cron=cron, timezone=zone)
    for moment in MOMENTS:
        steps.clear()
        found = next_occurrence(schedule, moment)
        assert steps["searches"] <= (8 if found else 2 * zoned._LOOKS)
        assert steps["years"] <= (4 if found else zoned._LOOKS)


@pytest.mark.parametrize(
    "gap", [timedelta(minutes=1), timedelta(days=1), timedelta(days=365), timedelta(days=3650)]
)
def test_M01_the_cost_is_flat_whatever_the_gap(steps, gap):
    """After a night, a year or ten years off, finding what comes next and what was missed last costs the same."""
    schedule = CronSchedule(cron="*/5 * * * *", timezone="Europe/Berlin")
    now = datetime(2036, 11, 29, 12, 1, tzinfo=UTC)
    assert next_occurrence(schedule, now - gap) is not None
    assert latest_occurrence(schedule, now, now - gap) == (now - timedelta(minutes=1))
    assert steps["searches"] <= 12
    assert steps["years"] <= 2


@pytest.mark.parametrize("cron", HOSTILE, ids=lambda text: text[:20])
def test_the_latest_one_takes_a_bounded_number_of_searches(steps, cron):
    schedule = CronSchedule(cron=cron, timezone="America/New_York")
    for moment in MOMENTS:
        steps.clear()
        latest_occurrence(schedule, moment, MOMENTS[0])
        assert steps["searches"] <= 120


@pytest.mark.parametrize("size", [513, 100_000, 1_000_000])
def test_a_long_text_is_refused_unread(monkeypatch, size):
    monkeypatch.setattr(fields_module, "_field", None)
    with pytest.raises(Faults):
        parse_schedule({"cron": ("0," * size)[:size] + " * * * *"}, now=MOMENTS[2])


@pytest.mark.parametrize(
    "raw",
    [
        {"cron": "99999999999999999999 * * * *"},
        {"cron": "*/99999999999999999999 * * * *"},
        {"cron": "0-99999999999999999999 * * * *"},
        {"every": f"PT{'9' * 5000}S"},
        {"every": "P" + "1Y" * 5000},
        {"in": f"P{'9' * 5000}D"},
        {"at": "2027-01-01T00:00:00Z" * 1000},
        {"cron": "0 9 * * *", "timezone": "x" * 1_000_000},
        {"cron": "0 9 * * *", "exclude": ["x"] * 100_000},
        {"cron": "0 9 * * *", "max_firings": 10**5000},
        {"cron": "0 9 * * *", **{f"key{n}": n for n in range(1000)}},
    ],
    ids=lambda raw: next(reversed(raw)),
)
def test_numbers_and_names_out_of_all_measure_are_refused_shortly(raw):
    with pytest.raises(Faults) as refused:
        parse_schedule(raw, now=MOMENTS[2])
    assert len(refused.value.faults) <= 12
    assert len(str(refused.value)) < 4000
