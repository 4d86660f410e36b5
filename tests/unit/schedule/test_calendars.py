"""Exclusion calendars."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from fencepost.domain.faults import Faults
from fencepost.domain.schedule import (
    Calendar,
    CronSchedule,
    IntervalSchedule,
    calendar_to_wire,
    ever_runs,
    is_excluded,
    parse_calendar,
    preview,
)

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def calendar(raw: dict) -> Calendar:
    return parse_calendar(raw, name="freeze", version=3, dated=NOW)


def daily(zone: str = "Europe/Berlin", cron: str = "30 0 * * *", **rest) -> CronSchedule:
    return CronSchedule(cron=cron, timezone=zone, exclude=("freeze",), **rest)


CHRISTMAS = calendar({"dates": ["2026-12-24/2026-12-26", "2026-12-31"]})


def test_entries_are_kept_in_order_and_joined():
    mixed = calendar(
        {
            "dates": ["2026-12-31", "2026-12-24/2026-12-25", "2026-12-26"],
            "instants": [
                "2026-12-01T10:00:00Z/2026-12-01T12:00:00Z",
                "2026-12-01T11:00:00Z/2026-12-01T13:00:00Z",
            ],
            "timezone": "Asia/Tokyo",
        }
    )
    assert mixed.dates == ((date(2026, 12, 24), date(2026, 12, 26)), (date(2026, 12, 31), date(2026, 12, 31)))
    assert (mixed.name, mixed.version, mixed.dated) == ("freeze", 3, NOW)
    assert calendar_to_wire(mixed) == {
        "dates": ["2026-12-24/2026-12-26", "2026-12-31"],
        "instants": ["2026-12-01T10:00:00.000Z/2026-12-01T13:00:00.000Z"],
        "timezone": "Asia/Tokyo",
    }
    assert calendar(calendar_to_wire(mixed)) == mixed


def test_dates_are_read_on_the_wall_clock_of_the_schedule():
    midnight_in_berlin = datetime(2026, 12, 23, 23, 30, tzinfo=UTC)
    assert is_excluded(daily(), midnight_in_berlin, {"freeze": CHRISTMAS}) == "freeze"
    assert is_excluded(daily("UTC"), midnight_in_berlin, {"freeze": CHRISTMAS}) is None


def test_a_calendar_may_have_a_zone_of_its_own():
    tokyo = calendar({"dates": ["2026-12-24"], "timezone": "Asia/Tokyo"})
    hourly = IntervalSchedule(every=timedelta(hours=1), anchor=NOW, exclude=("freeze",))
    assert is_excluded(hourly, datetime(2026, 12, 23, 15, tzinfo=UTC), {"freeze": tokyo}) == "freeze"
    assert is_excluded(hourly, datetime(2026, 12, 24, 15, tzinfo=UTC), {"freeze": tokyo}) is None


def test_a_span_leaves_out_its_end_and_a_single_instant_is_just_that():
    spans = calendar({"instants": ["2026-12-01T10:00:00Z/2026-12-01T12:00:00Z", "2026-12-02T10:00:00Z"]})
    minutely = CronSchedule(cron="* * * * *", exclude=("freeze",))
    excluded = [
        at
        for at in (
            datetime(2026, 12, 1, 9, 59, tzinfo=UTC),
            datetime(2026, 12, 1, 10, 0, tzinfo=UTC),
            datetime(2026, 12, 1, 11, 59, tzinfo=UTC),
            datetime(2026, 12, 1, 12, 0, tzinfo=UTC),
            datetime(2026, 12, 2, 10, 0, tzinfo=UTC),
            datetime(2026, 12, 2, 10, 1, tzinfo=UTC),
        )
        if is_excluded(minutely, at, {"freeze": spans})
    ]
    assert [at.hour * 100 + at.minute for at in excluded] == [1000, 1159, 1000]


def test_only_the_calendars_that_the_schedule_names_count_and_a_missing_one_excludes_nothing():
    noon = datetime(2026, 12, 24, 12, tzinfo=UTC)
    assert is_excluded(CronSchedule(cron="0 12 * * *"), noon, {"freeze": CHRISTMAS}) is None
    assert is_excluded(daily(), noon, {}) is None


def test_a_preview_names_the_calendar():
    runs = preview(daily(), datetime(2026, 12, 22, 12, tzinfo=UTC), 5, {"freeze": CHRISTMAS})
    assert [(run.local.day, run.excluded) for run in runs] == [
        (23, None),
        (24, "freeze"),
        (25, "freeze"),
        (26, "freeze"),
        (27, None),
    ]


def test_T11_whether_anything_runs_at_all_is_found_without_walking():
    years = calendar({"dates": ["2026-01-01/2035-12-31"]})
    minutely = daily(cron="* * * * *")
    assert ever_runs(minutely, NOW, {"freeze": years})
    bounded = daily(cron="* * * * *", end_at=datetime(2035, 12, 31, tzinfo=UTC))
    assert not ever_runs(bounded, NOW, {"freeze": years})


def test_alternating_calendars_are_leapt_over_together():
    odd = calendar({"dates": [f"2027-01-{day:02}" for day in range(1, 32, 2)]})
    even = calendar({"dates": [f"2027-01-{day:02}" for day in range(2, 32, 2)]})
    both = CronSchedule(
        cron="0 12 * * *",
        exclude=("even", "odd"),
        start_at=datetime(2027, 1, 1, tzinfo=UTC),
        end_at=datetime(2027, 1, 31, 23, tzinfo=UTC),
    )
    assert not ever_runs(both, NOW, {"odd": odd, "even": even})
    assert ever_runs(both, NOW, {"odd": odd})


def test_the_repeated_hour_before_an_excluded_midnight_is_no_trap():
    """In Cairo the hour before the first of November comes twice, and the second pass is still October."""
    october = calendar({"dates": ["2030-10-31"]})
    schedule = daily("Africa/Cairo", cron="*/30 * * * *")
    runs = preview(schedule, datetime(2030, 10, 31, 20, 0, tzinfo=UTC), 5, {"freeze": october})
    assert [(f"{run.local:%d %H:%M}", run.excluded) for run in runs] == [
        ("31 23:30", "freeze"),
        ("31 23:00", "freeze"),
        ("31 23:30", "freeze"),
        ("01 00:00", None),
        ("01 00:30", None),
    ]
    assert ever_runs(schedule, datetime(2030, 10, 31, 20, 0, tzinfo=UTC), {"freeze": october})


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({}, "calendar"),
        ({"dates": []}, "calendar"),
        ({"dates": "2026-12-24"}, "calendar.dates"),
        ({"dates": ["2026-02-30"]}, "calendar.dates"),
        ({"dates": ["2026-12-26/2026-12-24"]}, "calendar.dates"),
        ({"dates": ["1999-12-31"]}, "calendar.dates"),
        ({"dates": ["2026-12-24"] * 1001}, "calendar.dates"),
        ({"instants": ["2026-12-24"]}, "calendar.instants"),
        ({"instants": ["2026-12-24T10:00:00Z/2026-12-24T10:00:00Z"]}, "calendar.instants"),
        ({"instants": [5]}, "calendar.instants"),
        ({"dates": ["2026-12-24"], "timezone": "CET+1"}, "calendar.timezone"),
        ({"dates": ["2026-12-24"], "colour": "red"}, "calendar.colour"),
    ],
)
def test_what_is_no_calendar(raw, field):
    with pytest.raises(Faults) as refused:
        calendar(raw)
    assert [fault.field for fault in refused.value.faults] == [field]
