"""The heat map counts what the schedules would fire, minute by minute."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cli.heat import heat, picture
from fencepost.domain.schedule import Schedule, occurrences, parse_schedule
from fencepost.domain.schedule.load import MINUTES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = datetime(2026, 3, 2, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Chatham")


def schedule(**wire: object) -> Schedule:
    return parse_schedule(wire, now=NOW)


def cron(text: str, zone: str = "UTC") -> Schedule:
    return schedule(cron=text, timezone=zone)


def slow(schedules: list[Schedule], start: datetime) -> list[int]:
    """By walking every occurrence."""
    found: Counter[int] = Counter()
    end = start + timedelta(days=1)
    for each in schedules:
        for at in occurrences(each, start - timedelta(microseconds=1)):
            if at >= end:
                break
            found[int((at - start) / timedelta(minutes=1))] += 1
    return [found[minute] for minute in range(MINUTES)]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high)
    ranges = st.tuples(numbers, numbers).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.integers(1, high - low).map(lambda step: f"*/{step}")
    return st.sampled_from(["*", "*"]) | numbers.map(str) | ranges | steps


CRONS = st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)).map(" ".join)


@given(
    crons=st.lists(st.tuples(CRONS, st.sampled_from(ZONES)), max_size=4),
    day=st.sampled_from([PLAIN, datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)]),
)
def test_fields_say_what_walking_says(crons, day):
    schedules = [cron(text, zone) for text, zone in crons]

    assert list(heat(schedules, day).counts) == slow(schedules, day)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "text", ["30 2 * * *", "*/7 1-3 * * *", "0 0 * * MON", "15 2 1-7 * 1", "59 23 */2 * *"]
)
def test_days_on_which_clocks_change_are_counted_right(zone, text):
    for day in (
        datetime(2026, 3, 8, tzinfo=UTC),
        datetime(2026, 3, 29, tzinfo=UTC),
        datetime(2026, 4, 5, tzinfo=UTC),
    ):
        assert list(heat([cron(text, zone)], day).counts) == slow([cron(text, zone)], day)


def test_intervals_instants_and_bounds_are_counted():
    schedules = [
        schedule(every="PT7M", anchor="2026-03-02T00:03:00Z"),
        schedule(at="2026-03-02T18:00:00Z"),
        schedule(
            cron="0 * * * *", timezone="UTC", start_at="2026-03-02T05:00:00Z", end_at="2026-03-02T07:00:00Z"
        ),
    ]

    assert list(heat(schedules, PLAIN).counts) == slow(schedules, PLAIN)
    assert heat([schedule(cron="30 * * * *", timezone="UTC", max_firings=2)], PLAIN).total == 2


def test_many_firings_within_one_minute_are_all_counted():
    assert heat([schedule(every="PT5S", anchor="2026-01-01T00:00:00Z")], PLAIN).counts == (12,) * MINUTES


def test_crowded_minutes_are_named_and_an_even_spread_has_none():
    rush = [cron("0 3 * * *") for _ in range(50)] + [cron(f"{minute} 4 * * *") for minute in range(60)]

    assert heat(rush, PLAIN).crowded() == [(datetime(2026, 3, 2, 3, tzinfo=UTC), 50)]
    assert heat([cron("* * * * *")] * 9, PLAIN).crowded() == []
    assert heat([], PLAIN).crowded() == []


def test_the_picture_has_a_row_for_each_hour_and_shades_by_load():
    found = heat([cron("0 3 * * *")] * 100 + [cron("5 3 * * *")], PLAIN)

    rows = picture(found).plain.splitlines()

    assert len(rows) == 26
    assert rows[4].startswith("03:00      101  █    ·")
    assert rows[25] == "crowded: 03:00 holds 100 firings (an even spread: 0.1)"


def test_an_empty_day_can_be_drawn():
    assert "03:00        0" in picture(heat([], PLAIN)).plain


def test_two_thousand_schedules_take_seconds_not_minutes():
    dice = random.Random(7)
    schedules = [
        cron(f"{dice.randrange(60)} {dice.randrange(24)} * * *", dice.choice(ZONES)) for _ in range(1900)
    ] + [cron("* * * * *")] * 100

    assert heat(schedules, PLAIN).total == 1900 + 100 * MINUTES
