"""A whole crontab file."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fencepost.domain.faults import Faults
from fencepost.domain.schedule import CronSchedule, parse_crontab

NOW = datetime(2026, 11, 29, tzinfo=UTC)

FILE = """\
# the nightly things
SHELL=/bin/sh
MAILTO = "ops@example.test"

0 3 * * *   /usr/local/bin/backup --all
@daily\troot-free-job
CRON_TZ="Europe/Berlin"
30 2 * * 1-5 report | mail x=y
@reboot /usr/local/bin/warm-up
TZ=Europe/Berln
*/5 * * * * poll
CRON_TZ=UTC
0 22-2 * * * late
*/90 * * * * never-so
@every 5m tick
* * * *
"""


def test_each_job_has_a_schedule_or_a_reason():
    lines = parse_crontab(FILE, now=NOW)
    told = [(line.number, line.command, line.schedule is not None) for line in lines]
    assert told == [
        (5, "/usr/local/bin/backup --all", True),
        (6, "root-free-job", True),
        (8, "report | mail x=y", True),
        (9, "/usr/local/bin/warm-up", False),
        (10, "", False),
        (11, "poll", False),
        (13, "late", False),
        (14, "never-so", False),
        (15, "tick", False),
        (16, "", False),
    ]


def test_the_zone_holds_for_the_lines_below_it():
    lines = parse_crontab(FILE, now=NOW, timezone="Asia/Tokyo")
    zones = [line.schedule.timezone for line in lines if isinstance(line.schedule, CronSchedule)]
    assert zones == ["Asia/Tokyo", "Asia/Tokyo", "Europe/Berlin"]
    assert parse_crontab(FILE, now=NOW)[2].schedule == CronSchedule(
        cron="30 2 * * 1-5", timezone="Europe/Berlin"
    )


def test_reasons_and_remedies():
    faults = {line.number: line.faults[0] for line in parse_crontab(FILE, now=NOW) if line.faults}
    assert "start of one machine" in faults[9].rule
    assert (faults[10].value, faults[10].suggestion) == (
        "Europe/Berln",
        "Europe/Berlin or Europe/Dublin or Europe/Belfast",
    )
    assert faults[11].field == "line 11.timezone"
    assert faults[13].suggestion == "0 22-23,0-2 * * *"
    assert faults[14].suggestion == '{"every": "PT90M"}'
    assert faults[15].suggestion == '{"every": "PT5M"}'
    assert faults[16].rule == "must be five fields and a command"


def test_line_ends_of_any_machine():
    assert [line.command for line in parse_crontab("0 0 * * * a\r\n0 1 * * * b", now=NOW)] == ["a", "b"]


def test_a_file_out_of_all_measure():
    with pytest.raises(Faults):
        parse_crontab("\n" * 10_001, now=NOW)
    (line,) = parse_crontab("0 0 * * * " + "x" * 5000, now=NOW)
    assert "longer than" in line.faults[0].rule
    assert len(line.text) < 5000
