"""From the wire to a schedule and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.faults import Fault, Faults
from fencepost.domain.schedule import (
    Calendar,
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    decode_schedule,
    parse_schedule,
    schedule_to_wire,
)
from fencepost.domain.schedule.reading import read_duration, write_duration

NOW = datetime(2026, 11, 29, 12, 0, 0, 250_000, tzinfo=UTC)


def refusal(raw: dict, **options) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as refused:
        parse_schedule(raw, now=NOW, **options)
    return refused.value.faults


def test_an_expression_with_everything():
    raw = {
        "cron": "30 2 * * MON-FRI",
        "timezone": "Europe/Berlin",
        "dst": {"gap": "skip", "overlap": "last"},
        "start_at": "2027-01-01T00:00:00+01:00",
        "end_at": "2028-01-01T00:00:00.500Z",
        "max_firings": 100,
        "jitter_seconds": 30,
        "exclude": ["holidays", "freeze"],
    }
    schedule = parse_schedule(raw, now=NOW)
    assert schedule == CronSchedule(
        cron="30 2 * * 1-5",
        timezone="Europe/Berlin",
        dst=DstPolicy(gap=Gap.SKIP, overlap=DstOverlap.LAST),
        start_at=datetime(2026, 12, 31, 23, tzinfo=UTC),
        end_at=datetime(2028, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC),
        max_firings=100,
        jitter_seconds=30,
        exclude=("freeze", "holidays"),
    )
    assert schedule_to_wire(schedule) == raw | {
        "start_at": "2026-12-31T23:00:00.000Z",
        "end_at": "2028-01-01T00:00:00.500Z",
        "exclude": ["freeze", "holidays"],
    }


def test_defaults_are_left_out_but_the_zone_is_told():
    assert schedule_to_wire(parse_schedule({"cron": "@daily"}, now=NOW)) == {
        "cron": "@daily",
        "timezone": "UTC",
    }


def test_an_interval_without_an_anchor_counts_from_now():
    schedule = parse_schedule({"every": "PT15M"}, now=NOW)
    assert schedule == IntervalSchedule(every=timedelta(minutes=15), anchor=NOW.replace(microsecond=0))
    assert schedule_to_wire(schedule) == {"every": "PT15M", "anchor": "2026-11-29T12:00:00.000Z"}


def test_an_interval_written_again_keeps_its_anchor():
    before = parse_schedule({"every": "PT15M"}, now=NOW)
    later = NOW + timedelta(minutes=7)
    assert parse_schedule({"every": "PT15M"}, now=later, previous=before) == before
    slower = parse_schedule({"every": "PT20M"}, now=later, previous=before)
    assert slower == IntervalSchedule(every=timedelta(minutes=20), anchor=NOW.replace(microsecond=0))
    assert (
        parse_schedule(
            {"every": "PT15M"}, now=later, previous=OneOffSchedule(at=datetime(2027, 1, 1, tzinfo=UTC))
        )
        != before
    )


def test_a_delay_becomes_an_instant_and_is_never_early():
    assert parse_schedule({"in": "PT15M"}, now=NOW) == OneOffSchedule(
        at=datetime(2026, 11, 29, 12, 15, 1, tzinfo=UTC)
    )
    whole = NOW.replace(microsecond=0)
    assert parse_schedule({"in": "PT1S"}, now=whole) == OneOffSchedule(at=whole + timedelta(seconds=1))


def test_an_instant_of_any_offset():
    schedule = parse_schedule({"at": "2026-12-24T18:00:00+05:30"}, now=NOW)
    assert schedule_to_wire(schedule) == {"at": "2026-12-24T12:30:00.000Z"}


def test_a_past_instant_is_refused_unless_it_was_there_before():
    past = {"at": "2026-11-29T11:00:00Z"}
    assert [fault.rule for fault in refusal(past)] == ["lies in the past"]
    before = decode_schedule(past)
    assert parse_schedule(past, now=NOW, previous=before) == before


def test_every_fault_is_told_at_once():
    faults = refusal(
        {
            "cron": "60 9 * * FRI-MON",
            "timezone": "PST",
            "dst": {"gap": "never", "bridge": 1},
            "start_at": "2027-01-01T00:00:00",
            "end_at": 5,
            "max_firings": 0,
            "jitter_seconds": True,
            "exclude": "holidays",
            "colour": "red",
        },
        field="job.schedule",
    )
    told = {(fault.field, fault.suggestion) for fault in faults}
    assert told == {
        ("job.schedule.cron", None),
        ("job.schedule.timezone", "America/Los_Angeles"),
        ("job.schedule.dst.gap", None),
        ("job.schedule.dst.bridge", None),
        ("job.schedule.start_at", "2027-01-01T00:00:00Z"),
        ("job.schedule.end_at", None),
        ("job.schedule.max_firings", None),
        ("job.schedule.jitter_seconds", None),
        ("job.schedule.exclude", None),
        ("job.schedule.colour", None),
    }
    assert sum(fault.field == "job.schedule.cron" for fault in faults) == 2


@pytest.mark.parametrize(
    ("raw", "field", "rule", "suggestion"),
    [
        ({}, "schedule", "exactly one of", None),
        ({"cron": "* * * * *", "at": "2027-01-01T00:00:00Z"}, "schedule", "this holds cron and at", None),
        ({"cron": 5}, "schedule.cron", "must be a string", None),
        ({"cron": "0 0 ? * 1"}, "schedule.cron", "none of ?", "0 0 * * 1"),
        ({"cron": "0 0 30 2 *"}, "schedule.cron", "never matches", None),
        ({"cron": "0 9 * * *", "timezone": "berlin"}, "schedule.timezone", "IANA", "Europe/Berlin"),
        ({"cron": "0 9 * * *", "timezone": "Europe/Berln"}, "schedule.timezone", "IANA", "Europe/Berlin"),
        ({"cron": "0 9 * * *", "timezone": "UTC+2"}, "schedule.timezone", "IANA", "Etc/GMT-2"),
        ({"cron": "0 9 * * *", "timezone": "localtime"}, "schedule.timezone", "IANA", None),
        ({"cron": "0 9 * * *", "timezone": "../UTC"}, "schedule.timezone", "IANA", None),
        ({"cron": "0 9 * * *", "dst": "skip"}, "schedule.dst", "must be an object", None),
        ({"cron": "*/15 2 * * *", "dst": {"gap": "skip"}}, "schedule.dst", "star", "0-45/15 2 * * *"),
        ({"every": "PT4S"}, "schedule.every", "from 5 seconds", "PT5S"),
        ({"every": "P1M"}, "schedule.every", "years or months", None),
        ({"every": "PT0.5H"}, "schedule.every", "ISO 8601", None),
        ({"every": 90}, "schedule.every", "ISO 8601", "PT90S"),
        ({"every": "15 minutes"}, "schedule.every", "ISO 8601", "PT15M"),
        ({"every": "2d"}, "schedule.every", "ISO 8601", "P2D"),
        ({"every": "PT1H", "timezone": "UTC"}, "schedule.timezone", "not known here", None),
        ({"every": "PT1H", "anchor": "2027-01-01T00:00:00.5Z"}, "schedule.anchor", "whole second", "2027-01-01T00:00:00.000Z"),
        ({"at": None}, "schedule.at", "RFC 3339", None),
        ({"at": "tomorrow"}, "schedule.at", "RFC 3339", None),
        ({"at": "2026-12-24T18:00:00.123456Z"}, "schedule.at", "milliseconds are the finest", None),
        ({"at": "2027-02-30T00:00:00Z"}, "schedule.at", "calendar", None),
        ({"at": "2200-01-01T00:00:00Z"}, "schedule.at", "2000 and 2200", None),
        ({"at": "2027-01-01T00:00:00.250Z"}, "schedule.at", "whole second", "2027-01-01T00:00:00.000Z"),
        ({"in": "PT0S"}, "schedule.in", "at least a second", None),
        ({"in": "P900000D"}, "schedule.in", "2200", None),
        ({"cron": "* * * * *", "start_at": "2028-01-01T00:00:00Z", "end_at": "2027-01-01T00:00:00Z"}, "schedule.end_at", "before start_at", None),
        ({"cron": "* * * * *", "exclude": ["Holidays"]}, "schedule.exclude", "lower-case", None),
        ({"cron": "* * * * *", "exclude": [f"c{n}" for n in range(9)]}, "schedule.exclude", "at most 8", None),
    ],
)  # fmt: skip
def test_what_is_refused(raw, field, rule, suggestion):
    fault = next(fault for fault in refusal(raw) if fault.field == field)
    assert rule in fault.rule
    if suggestion is None:
        assert fault.suggestion is None or "GMT" in fault.suggestion
    else:
        assert (fault.suggestion or "").startswith(suggestion)


@pytest.mark.parametrize(
    ("raw", "field", "rule"),
    [
        ({"cron": "0 9 * * *", "end_at": "2026-11-29T13:00:00Z"}, "schedule", "between now"),
        ({"cron": "0 9 * * *", "end_at": "2026-11-29T11:00:00Z"}, "schedule.end_at", "lies in the past"),
        ({"every": "P2D", "end_at": "2026-11-30T12:00:00Z"}, "schedule", "between now"),
        ({"at": "2027-01-01T00:00:00Z", "end_at": "2026-12-31T00:00:00Z"}, "schedule", "between now"),
        ({"cron": "*/5 2 8-14 3 */7", "timezone": "America/New_York"}, "schedule", "its zone skips"),
    ],
)
def test_T11_what_never_fires_is_refused(raw, field, rule):
    (fault,) = refusal(raw)
    assert fault.field == field
    assert rule in fault.rule


class TestCalendarsOfTheTeam:
    NEW_YEAR = Calendar(
        name="new-year", version=1, dated=NOW, spans=((NOW, datetime(2027, 1, 2, tzinfo=UTC)),)
    )

    def test_an_unknown_one_is_refused_with_the_nearest(self):
        raw = {"cron": "0 9 * * *", "exclude": ["new-yaer"]}
        (fault,) = refusal(raw, calendars={"new-year": self.NEW_YEAR})
        assert fault.suggestion == "new-year"

    def test_T11_what_they_exclude_altogether_is_refused(self):
        raw = {"at": "2027-01-01T00:00:00Z", "exclude": ["new-year"]}
        (fault,) = refusal(raw, calendars={"new-year": self.NEW_YEAR})
        assert (fault.field, fault.rule) == (
            "schedule.exclude",
            "never fires: the calendars exclude every occurrence",
        )

    def test_what_runs_after_them_is_accepted(self):
        raw = {"cron": "* * * * *", "exclude": ["new-year"]}
        assert parse_schedule(raw, now=NOW, calendars={"new-year": self.NEW_YEAR}).exclude == ("new-year",)


def test_a_stored_form_is_read_whatever_the_time():
    stored = {"cron": "0 9 * * *", "timezone": "UTC", "end_at": "2001-01-01T00:00:00.000Z"}
    assert schedule_to_wire(decode_schedule(stored)) == stored


@pytest.mark.parametrize("stored", [{"in": "PT5M"}, {"every": "PT5M"}, {"cron": "x"}, {}])
def test_what_was_never_stored_is_no_stored_form(stored):
    with pytest.raises(Faults):
        decode_schedule(stored)


def test_a_hostile_value_is_echoed_short():
    (fault,) = refusal({"cron": "1" * 100_000})
    assert len(str(fault.value)) < 200
    assert fault.suggestion is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("PT15M", timedelta(minutes=15)),
        ("P1D", timedelta(hours=24)),
        ("P2W", timedelta(days=14)),
        ("P1DT2H3M4S", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("PT90S", timedelta(seconds=90)),
        ("PT0S", timedelta(0)),
    ],
)
def test_durations(text, length):
    assert read_duration(text) == length
    assert read_duration(write_duration(length)) == length


@pytest.mark.parametrize(
    "text", ["P", "PT", "P1DT", "-PT1S", "PT1.5S", "P1Y", "P1M", "P1Y2DT3H", "1h", "", None, 5, "PT1S "]
)
def test_no_durations(text):
    with pytest.raises(ValueError, match=r"."):
        read_duration(text)
