"""Schedules in words, and warnings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from fencepost.domain.schedule import (
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    describe,
    warnings,
)
from fencepost.domain.schedule.describe import describe_cron
from fencepost.domain.schedule.fields import CronFields, parse_cron
from tests.support.schedules import expressions

WORDS = [
    ("* * * * *", "every minute"),
    ("*/15 * * * *", "every 15 minutes"),
    ("0 * * * *", "at minute 0 of every hour"),
    ("*/60 * * * *", "at minute 0 of every hour"),
    ("5,35-37 * * * *", "at minutes 5 and 35 to 37 of every hour"),
    ("*/25 * * * *", "at minutes 0, 25 and 50 of every hour"),
    ("5/15 * * * *", "at minutes 5, 20, 35 and 50 of every hour"),
    ("* 2 * * *", "every minute of hour 2 every day"),
    ("*/10 9-17 * * *", "every 10 minutes of hours 9 to 17 every day"),
    ("*/10 */2 * * *", "every 10 minutes of every other hour from midnight every day"),
    ("0 */3 * * *", "at minute 0 of every third hour from midnight every day"),
    ("0 9 * * *", "at 09:00 every day"),
    ("30,0 9,17 * * *", "at 09:00, 09:30, 17:00 and 17:30 every day"),
    ("0 */5 * * *", "at 00:00, 05:00, 10:00, 15:00 and 20:00 every day"),
    ("0 9 * * 1-5", "at 09:00 on Monday to Friday"),
    ("0 9 * * SAT,SUN", "at 09:00 on Saturday and Sunday"),
    ("0 9 * * 5-7", "at 09:00 on Friday to Sunday"),
    ("0 0 1 * *", "at 00:00 on day 1 of the month"),
    ("0 0 13 * 5", "at 00:00 on day 13 of the month, and also on Friday"),
    ("0 0 1-7 * */7", "at 00:00 on days 1 to 7 of the month, only where it falls on Sunday"),
    (
        "0 0 */16 * MON",
        "at 00:00 on days 1 and 17 of the month, only where it falls on Monday",
    ),
    ("0 0 31 2 1", "at 00:00 on Monday in February"),
    ("0 0 * 6-8,12 *", "at 00:00 every day in June to August and December"),
    ("0 0 29 2 *", "at 00:00 on day 29 of the month in February"),
    ("@weekly", "at 00:00 on Sunday"),
]  # fmt: skip


@pytest.mark.parametrize(("cron", "words"), WORDS)
def test_an_expression_in_words(cron, words):
    assert describe_cron(parse_cron(cron)) == words


_TOLD: dict[str, CronFields] = {}


@given(expressions())
def test_two_meanings_never_read_the_same(text):
    """Over all examples of a run: a text in words stands for one set of minutes only."""
    fields = parse_cron(text)
    words = describe_cron(fields)
    one = _TOLD.setdefault(words, fields)
    assert (one.minutes, one.hours, one.days, one.months, one.weekdays, one.day_and) == (
        fields.minutes,
        fields.hours,
        fields.days,
        fields.months,
        fields.weekdays,
        fields.day_and,
    )


@pytest.mark.parametrize(
    ("cron", "policy", "words"),
    [
        ("30 2 * * *", DstPolicy(), "skips runs right after the gap, a repeated one runs the first time"),
        ("30 2 * * *", DstPolicy(gap=Gap.SKIP, overlap=DstOverlap.LAST), "does not run, a repeated one runs the second"),
        ("30 2 * * *", DstPolicy(overlap=DstOverlap.BOTH), "a repeated one runs both times"),
        ("*/30 2 * * *", DstPolicy(), "skips does not run, a repeated one runs both times"),
    ],
)  # fmt: skip
def test_what_happens_at_a_change_of_the_clock_is_told(cron, policy, words):
    assert words in describe(CronSchedule(cron=cron, timezone="Europe/Berlin", dst=policy))


def test_nothing_is_told_of_changes_where_there_are_none():
    assert describe(CronSchedule(cron="0 9 * * *")) == "at 09:00 every day, UTC time"


def test_the_other_kinds_and_the_bounds():
    noon = datetime(2027, 6, 1, 12, tzinfo=UTC)
    every = IntervalSchedule(
        every=timedelta(minutes=90),
        anchor=noon,
        start_at=noon,
        end_at=noon + timedelta(seconds=90),
        max_firings=1000,
        jitter_seconds=30,
        exclude=("freeze", "holidays"),
    )
    assert describe(every) == (
        "every 1 hour 30 minutes of real time, counted from 2027-06-01 12:00 UTC, from 2027-06-01 12:00 UTC, "
        "until 2027-06-01 12:01:30 UTC, at most 1,000 times, each up to 30 s later, not on the days of freeze and holidays"
    )
    assert describe(IntervalSchedule(every=timedelta(hours=1), anchor=noon)).startswith(
        "every hour of real time"
    )
    assert describe(OneOffSchedule(at=noon)) == "once, at 2027-06-01 12:00 UTC"


@pytest.mark.parametrize(
    ("cron", "zone", "told"),
    [
        ("0 0 13 * 5", "UTC", ["either is enough"]),
        ("0 0 1-7 * */7", "UTC", ["only on days that are both"]),
        ("0 0 31 * *", "UTC", ["no day 31"]),
        ("0 0 29 2 *", "UTC", ["no day 29"]),
        ("*/7 * * * *", "UTC", ['{"every": "PT7M"}']),
        ("0 */5 * * *", "UTC", ['{"every": "PT5H"}']),
        ("*/15 2 * * *", "Europe/Berlin", ["write 0-45/15 2 * * *"]),
        ("0 */24 * * *", "Africa/Cairo", ["write 0 0 * * *"]),
        ("30 0-23 * * *", "Europe/Berlin", ["For every real hour, write *"]),
        ("0 9 * * *", "EST", ["America/New_York"]),
    ],
)
def test_T12_what_often_means_something_else_is_warned_of(cron, zone, told):
    found = warnings(CronSchedule(cron=cron, timezone=zone))
    assert len(found) == len(told)
    assert all(words in warning for words, warning in zip(told, found, strict=True))


@pytest.mark.parametrize(
    ("cron", "zone"),
    [
        ("0 9 * * 1-5", "Europe/Berlin"),
        ("*/15 * * * *", "Europe/Berlin"),
        ("*/15 9-17 * * MON-FRI", "Europe/Berlin"),
        ("*/15 2 * * *", "UTC"),
        ("30 0-23 * * *", "Etc/GMT-2"),
        ("0 0 1 * *", "Europe/Berlin"),
        ("@hourly", "Europe/Berlin"),
        ("0 0 30 1,3 *", "UTC"),
        ("0 0 15,29 2 *", "UTC"),
    ],
)
def test_nothing_is_warned_of_without_cause(cron, zone):
    assert warnings(CronSchedule(cron=cron, timezone=zone)) == ()


def test_days_of_an_interval_are_warned_of():
    noon = datetime(2027, 6, 1, 12, tzinfo=UTC)
    assert "24 hours" in warnings(IntervalSchedule(every=timedelta(days=1), anchor=noon))[0]
    assert warnings(IntervalSchedule(every=timedelta(hours=1), anchor=noon)) == ()
    assert warnings(OneOffSchedule(at=noon)) == ()
