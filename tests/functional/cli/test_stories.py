"""What happened, what will, and why not."""

from __future__ import annotations

import pytest

from fencepost.client import cron, every, webhook
from fencepost.domain.outcome import Accepted
from tests.support.clients import Machine
from tests.support.world import BROKEN, OK

HOOK = webhook("https://example.com/hook")


def test_why_it_ran(fencepost):
    ran = fencepost("why", "nightly", "--at", "2026-03-01T12:00:00Z")

    assert ran.status == 0
    assert "it ran, " in ran.out
    assert "SUCCEEDED" in ran.out


@pytest.mark.parametrize(
    ("job", "at", "says"),
    [
        ("nightly", "2026-03-01T12:00:30Z", "not an occurrence of the schedule"),
        ("nightly", "2026-03-01T11:00:00Z", "did not exist yet"),
        ("nightly", "2026-03-01T13:00:00Z", "not due yet: in 57m 59s"),
        (
            "doomed",
            "2026-03-01T12:00:00Z",
            "dead letter: every attempt that the job allows was made; the last of 1: answered 500",
        ),
        ("report", "2026-03-02T09:00:00Z", "the job was paused then"),
        ("nothing", "2026-03-02T09:00:00Z", "there is no job nothing"),
    ],
)
def test_why_not(fencepost, job, at, says):
    ran = fencepost("why", job, "--at", at)

    assert says in ran.out + ran.err


def test_why_a_pause_left_it_out(fencepost, front, payments):
    payments.job("nightly").pause()
    Machine(front).run("2026-03-01T12:10:00Z")
    payments.job("nightly").resume()

    ran = fencepost("why", "nightly", "--at", "2026-03-01T12:07:00Z")

    assert "it is one of" in ran.out
    assert "the job was paused" in ran.out


def test_why_by_the_definition_of_that_time(fencepost, front, payments):
    front.clock.advance(minutes=1)
    payments.job("report").resume()
    payments.job("report").patch(schedule=every("PT1H"))

    ran = fencepost("why", "report", "--at", "2026-03-01T12:02:00Z")

    assert "the job was paused then" in ran.out


def test_why_it_is_still_under_way(fencepost, front, payments):
    front.stage.targets.then = BROKEN
    payments.job("slow").put(schedule=cron("3 12 * * *"), target=HOOK)
    Machine(front).run("2026-03-01T12:03:05Z")

    ran = fencepost("why", "slow", "--at", "2026-03-01T12:03:00Z")

    assert "an attempt failed, and the next one waits (again at 2026-03-01 12:03:" in ran.out


def test_why_nobody_claimed_it_yet(fencepost, front, payments):
    payments.job("late").put(schedule=cron("30 13 * * *"), target=HOOK)
    front.clock.advance(hours=2)

    ran = fencepost("why", "late", "--at", "2026-03-01T13:30:00Z")

    assert "due and not claimed yet; the service is" in ran.out


def test_why_a_single_instant_is_not_another(fencepost, front, payments):
    payments.job("once").put(schedule={"at": "2026-03-01T12:03:00Z"}, target=HOOK)
    Machine(front).run("2026-03-01T12:05:00Z")

    assert "not an occurrence" in fencepost("why", "once", "--at", "2026-03-01T12:04:00Z").out
    assert "it ran" in fencepost("why", "once", "--at", "2026-03-01T12:03:00Z").out


def test_why_as_json(fencepost):
    found = fencepost("why", "nightly", "--at", "2026-03-01T12:00:00Z", "--json").json

    assert found["execution"]["state"] == "SUCCEEDED"
    assert found["says"].startswith("it ran")


def test_history_is_a_line_of_bars(fencepost, front, payments):
    payments.job("mixed").put(schedule=cron("* * * * *"), target=HOOK, retry={"max_attempts": 1})
    front.stage.targets.script = [OK, BROKEN, OK]
    front.stage.targets.then = OK
    payments.job("nightly").pause()
    Machine(front).run("2026-03-01T12:06:00Z")

    ran = fencepost("history", "mixed")

    line, words, late, *_ = ran.out.splitlines()
    assert (len(line.strip()), line.count("✗")) == (4 + line.count("○"), 1)
    assert "3 SUCCEEDED" in words
    assert "1 DEAD" in words
    assert "at the 99th percentile" in late


def test_history_of_a_job_that_never_fired(fencepost, payments):
    ran = fencepost("history", "report")

    assert ran.status == 0


def test_next_shows_the_whole_team_in_time(fencepost, payments):
    payments.job("often").put(schedule=cron("*/30 * * * *"), target=HOOK, tier="critical")

    found = fencepost("next", "--within", "1h", "--json").json

    assert [each["at"] for each in found] == sorted(each["at"] for each in found)
    assert {each["job"] for each in found} == {"nightly", "often", "doomed"}
    table = fencepost("next", "--within", "1h", "--limit", "2")
    assert len(table.out.splitlines()) == 3
    assert "the next 5 are known" in table.err


def test_watch_shows_each_firing_once_per_state(fencepost, front, payments):
    machine = Machine(front)
    sleeping = fencepost.clock.sleep

    def sleep(duration):
        sleeping(duration)
        machine.run(fencepost.clock.now())

    fencepost.clock.sleep = sleep
    front.stage.targets.then = lambda delivery: BROKEN if "doomed" in str(delivery.target) else OK
    payments.job("flaky").put(schedule=cron("3 12 * * *"), target=HOOK)
    front.stage.targets.script = [BROKEN]

    ran = fencepost("watch", "--for", "2m")

    lines = ran.out.splitlines()
    assert [line.split()[3] for line in lines if " nightly " in line and "12:03:00Z" in line][-1:] == [
        "SUCCEEDED"
    ]
    assert len(lines) == len(set(lines))
    assert sum("12:04:00Z" in line for line in lines) >= 1


def test_watch_follows_one_job_to_its_end(fencepost, front, payments):
    front.stage.targets.then = Accepted(status=202)
    payments.job("import").put(schedule=cron("3 12 * * *"), target=HOOK)
    machine = Machine(front)
    sleeping = fencepost.clock.sleep

    def sleep(duration):
        sleeping(duration)
        machine.run(fencepost.clock.now())
        for record in payments.job("import").executions(state="RUNNING"):
            if fencepost.clock.now() >= record.due.replace(second=20):
                payments.execution(record.id).complete(record.fence)

    fencepost.clock.sleep = sleep

    ran = fencepost("watch", "import", "--for", "90s", "--json")
    states = [ran.read(line)["state"] for line in ran.out.splitlines()]

    assert states[-2:] == ["RUNNING", "SUCCEEDED"]
    assert len(states) == len(set(states))
