"""Occurrences of every kind: next, latest, count, bounds and spread."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.schedule import (
    CronSchedule,
    IntervalSchedule,
    OneOffSchedule,
    count_occurrences,
    effective_instant,
    latest_occurrence,
    next_occurrence,
)

HOUR = timedelta(hours=1)
YEAR = timedelta(days=365)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOON = utc("2027-06-01T12:00")
HALF_HOURLY = IntervalSchedule(every=HOUR / 2, anchor=utc("2027-06-01T00:07"))
DAILY = CronSchedule(cron="0 9 * * *", timezone="Europe/Berlin")


def test_M04_an_interval_counts_from_its_anchor_whenever_it_is_asked():
    assert next_occurrence(HALF_HOURLY, NOON) == utc("2027-06-01T12:07")
    assert next_occurrence(HALF_HOURLY, utc("2027-06-01T12:07")) == utc("2027-06-01T12:37")
    assert next_occurrence(HALF_HOURLY, NOON + 40 * YEAR) == NOON + 40 * YEAR + timedelta(minutes=7)


def test_nothing_runs_before_the_anchor():
    assert next_occurrence(HALF_HOURLY, NOON - YEAR) == HALF_HOURLY.anchor
    assert next_occurrence(HALF_HOURLY, HALF_HOURLY.anchor) == HALF_HOURLY.anchor + HOUR / 2
    assert latest_occurrence(HALF_HOURLY, HALF_HOURLY.anchor - HOUR, NOON - YEAR) is None
    assert count_occurrences(HALF_HOURLY, NOON - YEAR, HALF_HOURLY.anchor) == 1


def test_a_day_of_an_interval_is_24_hours_across_a_change_of_the_clock():
    daily = IntervalSchedule(every=timedelta(days=1), anchor=utc("2027-03-27T08:00"))
    assert next_occurrence(daily, utc("2027-03-27T08:00")) == utc("2027-03-28T08:00")


def test_one_instant_runs_once():
    once = OneOffSchedule(at=NOON)
    assert next_occurrence(once, NOON - timedelta(microseconds=1)) == NOON
    assert next_occurrence(once, NOON) is None
    assert latest_occurrence(once, NOON, NOON) == NOON
    assert latest_occurrence(once, NOON - HOUR, NOON - YEAR) is None
    assert count_occurrences(once, NOON - HOUR, NOON + HOUR) == 1


def test_both_bounds_include_themselves():
    bounded = CronSchedule(cron="0 * * * *", start_at=utc("2027-06-01T10:00"), end_at=utc("2027-06-01T12:00"))
    assert next_occurrence(bounded, NOON - YEAR) == utc("2027-06-01T10:00")
    assert next_occurrence(bounded, utc("2027-06-01T11:00")) == utc("2027-06-01T12:00")
    assert next_occurrence(bounded, utc("2027-06-01T12:00")) is None
    assert latest_occurrence(bounded, NOON + YEAR, NOON - YEAR) == utc("2027-06-01T12:00")
    assert latest_occurrence(bounded, utc("2027-06-01T09:59"), NOON - YEAR) is None
    assert count_occurrences(bounded, NOON - YEAR, NOON + YEAR) == 3


def test_max_firings_is_for_whoever_counts_ordinals():
    thrice = IntervalSchedule(every=HOUR, anchor=NOON, max_firings=3)
    assert next_occurrence(thrice, NOON + YEAR) is not None


@pytest.mark.parametrize(
    ("cron", "at", "latest"),
    [
        ("0 9 * * *", "2027-06-01T07:00", "2027-06-01T07:00"),
        ("0 9 * * *", "2027-06-01T06:59:59", "2027-05-31T07:00"),
        ("* * * * *", "2027-06-01T06:59:59", "2027-06-01T06:59"),
        ("0 0 29 2 *", "2103-06-01T00:00", "2096-02-28T23:00"),
        ("0 0 29 2 */7", "2103-06-01T00:00", "2088-02-28T23:00"),
        ("30 2 * * *", "2027-03-28T05:00", "2027-03-28T01:00"),
        ("30 2 * * *", "2027-10-31T05:00", "2027-10-31T00:30"),
    ],
)
def test_the_latest_is_found_from_behind(cron, at, latest):
    schedule = CronSchedule(cron=cron, timezone="Europe/Berlin")
    assert latest_occurrence(schedule, utc(at), utc("2000-01-01")) == utc(latest)


def test_the_latest_is_not_older_than_asked():
    assert latest_occurrence(DAILY, utc("2027-06-01T08:00"), utc("2027-06-01T07:00")) == utc(
        "2027-06-01T07:00"
    )
    assert latest_occurrence(DAILY, utc("2027-06-01T08:00"), utc("2027-06-01T07:00:01")) is None
    assert latest_occurrence(DAILY, utc("2027-06-01T08:00"), utc("2027-06-01T09:00")) is None


def test_counting_stops_at_the_limit():
    assert count_occurrences(DAILY, utc("2027-01-01"), utc("2027-12-31T23:59")) == 365
    assert count_occurrences(CronSchedule(cron="* * * * *"), NOON, NOON + YEAR, limit=50) == 50
    assert count_occurrences(HALF_HOURLY, NOON, NOON + 100 * YEAR) == 10_000
    assert count_occurrences(DAILY, NOON, NOON) == 0
    assert count_occurrences(DAILY, utc("2027-06-01T07:00"), utc("2027-06-01T07:00")) == 1


class TestSpread:
    """Jitter delays, by an amount that depends on the job and the instant alone."""

    def test_without_jitter_due_is_nominal(self):
        assert effective_instant(DAILY, "job", NOON) == NOON

    def test_the_same_question_has_the_same_answer(self):
        spread = IntervalSchedule(every=HOUR, anchor=NOON, jitter_seconds=600)
        assert effective_instant(spread, "job", NOON) == effective_instant(spread, "job", NOON)

    def test_D08_it_is_never_early_and_never_reaches_the_next(self):
        spread = IntervalSchedule(every=timedelta(seconds=5), anchor=NOON, jitter_seconds=86_400)
        for n in range(200):
            nominal = NOON + n * timedelta(seconds=5)
            assert nominal <= effective_instant(spread, "job", nominal) < nominal + timedelta(seconds=5)

    def test_jobs_of_one_instant_spread_over_the_whole_width(self):
        spread = CronSchedule(cron="0 9 * * *", jitter_seconds=100)
        nominal = utc("2027-06-01T09:00")
        delays = [
            (effective_instant(spread, f"job-{n}", nominal) - nominal).total_seconds() for n in range(1000)
        ]
        assert max(delays) <= 100
        assert all(sum(low <= delay < low + 10 for delay in delays) > 50 for low in range(0, 100, 10))

    def test_the_last_occurrence_has_the_full_width(self):
        once = OneOffSchedule(at=NOON, jitter_seconds=60)
        delays = {effective_instant(once, f"job-{n}", NOON) - NOON for n in range(500)}
        assert timedelta(0) <= min(delays) < timedelta(seconds=1)
        assert timedelta(seconds=59) < max(delays) <= timedelta(seconds=60)


@pytest.mark.parametrize(
    "build",
    [
        lambda: IntervalSchedule(every=timedelta(seconds=4), anchor=NOON),
        lambda: IntervalSchedule(every=timedelta(seconds=5.5), anchor=NOON),
        lambda: IntervalSchedule(every=timedelta(days=4000), anchor=NOON),
        lambda: OneOffSchedule(at=NOON + timedelta(milliseconds=1)),
        lambda: OneOffSchedule(at=NOON, jitter_seconds=-1),
        lambda: OneOffSchedule(at=NOON.replace(tzinfo=None)),
        lambda: CronSchedule(cron="0 0 30 2 *"),
    ],
)
def test_no_schedule_breaks_its_own_rules(build):
    with pytest.raises(ValueError, match=r"."):
        build()


def test_T11_a_time_that_its_zone_always_skips_ends_the_search():
    """The second Sunday of March at half past two never comes in New York."""
    schedule = CronSchedule(cron="*/5 2 8-14 3 */7", timezone="America/New_York")
    assert next_occurrence(schedule, NOON) is None
    assert latest_occurrence(schedule, NOON, NOON - 10 * YEAR) is None
    fixed = CronSchedule(cron="30 2 8-14 3 */7", timezone="America/New_York")
    assert next_occurrence(fixed, NOON) == utc("2028-03-12T07:00")
