"""Changes of the clock: policies, marks, and the failures that schedulers are known for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from fencepost.domain.schedule import (
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    Moved,
    next_after_refresh,
    next_occurrence,
    occurrences,
    offset_at,
    preview,
    tzdata_version,
    use_bundled_tzdata,
    zones,
)
from fencepost.domain.schedule.fields import parse_cron
from fencepost.domain.schedule.zoned import next_run
from fencepost.domain.schedule.zones import zone_names

DAY = timedelta(days=1)


def berlin(cron: str, gap: str = "after", overlap: str = "first") -> CronSchedule:
    policy = DstPolicy(gap=Gap(gap), overlap=DstOverlap(overlap))
    return CronSchedule(cron=cron, timezone="Europe/Berlin", dst=policy)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def on_day(schedule: CronSchedule, day: str) -> list[str]:
    """The runs of one UTC day, as times of day."""
    start = utc(day)
    found: list[str] = []
    for at in occurrences(schedule, start - timedelta(seconds=1)):
        if at >= start + DAY:
            return found
        found.append(f"{at:%H:%M}")
    return found


SPRING, AUTUMN = "2027-03-28", "2027-10-31"


@pytest.mark.parametrize(
    ("cron", "gap", "runs"),
    [
        ("30 2 * * *", "after", ["01:00"]),
        ("30 2 * * *", "skip", []),
        ("0,15,30,45 2 * * *", "after", ["01:00"]),
        ("0 3 * * *", "skip", ["01:00"]),
        ("30 2,3 * * *", "after", ["01:00", "01:30"]),
        ("30 2,3 * * *", "skip", ["01:30"]),
        ("*/15 2 * * *", "after", []),
    ],
)
def test_T01_a_time_that_the_clock_skips(cron, gap, runs):
    assert on_day(berlin(cron, gap=gap), SPRING) == runs


@pytest.mark.parametrize(
    ("cron", "overlap", "runs"),
    [
        ("30 2 * * *", "first", ["00:30"]),
        ("30 2 * * *", "last", ["01:30"]),
        ("30 2 * * *", "both", ["00:30", "01:30"]),
        ("0,30 2,3 * * *", "last", ["01:00", "01:30", "02:00", "02:30"]),
        ("*/30 2 * * *", "first", ["00:00", "00:30", "01:00", "01:30"]),
    ],
)
def test_T01_a_time_that_the_clock_repeats(cron, overlap, runs):
    assert on_day(berlin(cron, overlap=overlap), AUTUMN) == runs


def test_T01_a_yearly_run_is_found_in_the_second_pass_too():
    """Asked between its runs of both passes, when all other matches are a year away."""
    yearly = berlin("*/30 2 31 10 *")
    assert next_occurrence(yearly, utc("2027-10-31T00:45")) == utc("2027-10-31T01:00")


def test_a_change_at_the_turn_of_the_year(monkeypatch):
    """No zone has had one lately: half an hour before the new year in UTC, this one sets its clock back by an hour."""
    change = utc("2029-12-31T23:30")
    monkeypatch.setattr(zones, "_offset", lambda zone, at: timedelta(hours=1 if at < change else 0))
    first, last = (
        next_run(parse_cron(cron), "Nowhere", DstPolicy(overlap=overlap), utc("2029-12-31T12:00"))
        for cron, overlap in (("15 0 1 1 *", DstOverlap.FIRST), ("45 23 31 12 *", DstOverlap.LAST))
    )
    assert first == utc("2029-12-31T23:15")
    assert last == utc("2029-12-31T23:45")
    again = next_run(parse_cron("15 0 1 1 *"), "Nowhere", DstPolicy(), utc("2029-12-31T23:20"))
    assert again == utc("2031-01-01T00:15")
    zones._pieces.cache_clear()


def test_T01_by_default_a_daily_job_is_neither_lost_nor_doubled():
    for zone in (
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "Africa/Cairo",
        "America/Havana",
        "Antarctica/Troll",
    ):
        schedule = CronSchedule(cron="30 0 * * *", timezone=zone)
        runs = list(islice(occurrences(schedule, utc("2026-12-31")), 400))
        local_days = [run.local.date() for run in preview(schedule, utc("2026-12-31"), 400, {})]
        assert len(runs) == 400
        assert local_days == [local_days[0] + n * DAY for n in range(400)], zone


def test_T03_the_wall_clock_is_kept_and_the_arithmetic_is_in_utc():
    runs = [run.at for run in preview(berlin("0 11 * * *"), utc("2027-10-29"), 4, {})]
    assert [f"{run:%d %H:%M}" for run in runs] == ["29 09:00", "30 09:00", "31 10:00", "01 10:00"]
    assert all(run.tzinfo is UTC for run in runs)


def test_T04_a_naive_time_is_refused_and_hourly_runs_stay_an_hour_apart():
    with pytest.raises(ValueError, match="naive"):
        next_occurrence(berlin("0 * * * *"), datetime(2027, 10, 31))  # noqa: DTZ001 - that is the point
    for day in (SPRING, AUTUMN):
        runs = list(islice(occurrences(berlin("0 * * * *"), utc(day)), 30))
        assert {later - earlier for earlier, later in pairwise(runs)} == {timedelta(hours=1)}


def test_T04_any_offset_names_the_same_instant():
    east = datetime.fromisoformat("2027-03-28T09:59:30+09:00")
    assert next_occurrence(berlin("30 2 * * *"), east) == utc("2027-03-28T01:00")


def test_T09_the_zone_belongs_to_the_job():
    jobs = {
        zone: CronSchedule(cron="0 9 * * *", timezone=zone) for zone in ("Asia/Tokyo", "Europe/Berlin", "UTC")
    }
    start = utc("2027-01-01")
    before = {zone: next_occurrence(schedule, start) for zone, schedule in jobs.items()}
    moved = CronSchedule(cron="0 9 * * *", timezone="America/New_York")
    assert next_occurrence(moved, start) == utc("2027-01-01T14:00")
    assert {zone: next_occurrence(schedule, start) for zone, schedule in jobs.items()} == before
    assert before == {
        "Asia/Tokyo": utc("2027-01-02T00:00"),
        "Europe/Berlin": utc("2027-01-01T08:00"),
        "UTC": utc("2027-01-01T09:00"),
    }


def test_a_preview_marks_what_a_change_moved():
    spring = preview(berlin("30 2 * * *"), utc("2027-03-27"), 3, {})
    assert [run.moved for run in spring] == [None, Moved.GAP, None]
    assert [run.local.isoformat() for run in spring] == [
        "2027-03-27T02:30:00+01:00",
        "2027-03-28T03:00:00+02:00",
        "2027-03-29T02:30:00+02:00",
    ]
    autumn = preview(berlin("30 2 * * *", overlap="both"), utc("2027-10-30T12:00"), 3, {})
    assert [run.moved for run in autumn] == [Moved.OVERLAP, Moved.OVERLAP, None]
    assert [run.local.isoformat() for run in autumn[:2]] == [
        "2027-10-31T02:30:00+02:00",
        "2027-10-31T02:30:00+01:00",
    ]


@pytest.mark.parametrize("gap", ["after", "skip"])
def test_what_has_its_own_time_right_after_the_gap_is_not_marked(gap):
    runs = preview(berlin("0 3 * * *", gap=gap), utc("2027-03-27T12:00"), 1, {})
    assert [(run.at, run.moved) for run in runs] == [(utc("2027-03-28T01:00"), None)]


def test_the_pinned_database_is_the_only_one():
    import zoneinfo

    use_bundled_tzdata()
    assert zoneinfo.TZPATH == ()
    assert tzdata_version() >= "2026f"


def test_T08_the_rules_are_those_in_force_not_those_of_the_system():
    """Vancouver stopped changing its clocks in 2026, which old zone files do not know."""
    schedule = CronSchedule(cron="0 9 * * *", timezone="America/Vancouver")
    assert next_occurrence(schedule, utc("2026-12-01")) == utc("2026-12-01T16:00")


def test_zones_are_names_of_the_database_and_nothing_else():
    assert len(zone_names()) > 590
    assert not zone_names() & {"localtime", "Factory", "UTC+2", "PST", "../UTC", "/etc/localtime", ""}


class TestRefresh:
    """A new release moves a zone: the next occurrence is the first with a later wall clock than the last claimed."""

    def test_the_zone_went_ahead_by_an_hour(self):
        schedule = berlin("0 9 * * *")
        claimed = utc("2027-01-10T09:00")  # 09:00 by old rules, in which Berlin had no offset
        assert next_after_refresh(schedule, claimed, timedelta(0)) == utc("2027-01-11T08:00")

    def test_the_zone_went_back_by_an_hour(self):
        schedule = berlin("0 9 * * *")
        claimed = utc("2027-01-10T07:00")  # 09:00 by old rules at +2, which is 08:00 now
        assert next_after_refresh(schedule, claimed, timedelta(hours=2)) == utc("2027-01-11T08:00")

    def test_what_the_new_rules_put_in_the_past_is_still_told(self):
        schedule = berlin("*/10 * * * *")
        claimed = utc("2027-01-10T09:00")
        assert next_after_refresh(schedule, claimed, timedelta(0)) == utc("2027-01-10T08:10")

    def test_the_same_offset_goes_on_inside_a_repeated_hour(self):
        schedule = berlin("*/10 * * * *")
        claimed = utc("2027-10-31T01:10")  # second pass
        assert offset_at(schedule, claimed) == timedelta(hours=1)
        assert next_after_refresh(schedule, claimed, timedelta(hours=1)) == utc("2027-10-31T01:20")

    def test_a_wall_clock_that_the_new_rules_skip(self):
        schedule = berlin("30 2,3 * * *")
        claimed = utc("2027-03-28T02:30")  # 02:30 without any change of the clock
        assert next_after_refresh(schedule, claimed, timedelta(0)) == utc("2027-03-28T01:00")

    def test_nothing_follows(self):
        schedule = CronSchedule(cron="0 9 * * *", timezone="Europe/Berlin", end_at=utc("2027-01-10T09:00"))
        assert next_after_refresh(schedule, utc("2027-01-10T09:00"), timedelta(0)) is None
