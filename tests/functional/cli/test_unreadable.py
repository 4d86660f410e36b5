"""What nobody can read: named by the client library's lists, and by a warning of the program below its tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.application import keys
from fencepost.application.store import Put
from fencepost.cli import yamls


@pytest.fixture
def uid(front, payments):
    """Of `doomed`, whose item is garbled, as is the calendar `maintenance`."""
    uid = payments.job("doomed").get().uid
    for key in (keys.job(uid), keys.calendar("payments", "maintenance")):
        assert front.memory.get(key) is not None
        front.memory.write(Put(key=key, item={"v": 1}))
    return uid


def test_lists_of_the_library_name_it_once_they_are_used_up(payments, uid):
    jobs = payments.jobs()
    assert jobs.unreadable == ()

    assert [job.name for job in jobs] == ["nightly", "report"]

    assert [(each.name, each.uid) for each in jobs.unreadable] == [("doomed", uid)]
    assert jobs.unreadable[0].why
    calendars = payments.upkeep.calendars()
    assert list(calendars) == []
    assert calendars.unreadable == ("maintenance",)


def test_pages_of_the_library_name_it(payments, uid):
    audited = [each.name for page in payments.audit() for each in page.unreadable]
    refreshed = [each.name for step in payments.upkeep.refresh_zones() for each in step.unreadable]

    assert audited == refreshed == ["doomed"]


@pytest.mark.parametrize("words", [("job", "list"), ("next",), ("audit",), ("tz", "refresh")])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_commands_warn_of_a_job_beside_the_rest(fencepost, uid, words, more):
    ran = fencepost(*words, *more)

    assert f"nobody can read job doomed (~{uid}): " in ran.err
    assert ran.err.count("nobody can read") == 1
    assert "doomed" not in ran.out or more


@pytest.mark.parametrize("words", [("audit",), ("tz", "refresh")])
def test_answers_that_are_objects_say_it_as_json(fencepost, uid, words):
    assert [each["name"] for each in fencepost(*words, "--json").json["unreadable"]] == ["doomed"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_calendar_is_warned_of(fencepost, uid, more):
    assert "nobody can read calendar maintenance: " in fencepost("calendar", "list", *more).err


def test_nothing_is_said_where_everything_can_be_read(fencepost):
    for words in (("job", "list"), ("calendar", "list"), ("audit",)):
        assert fencepost(*words).err == ""


LABELLED = ("--prune", "--prune-label", "app:ledger")


@pytest.mark.parametrize("prune", [("--prune",), LABELLED])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_pruning_names_it_and_says_that_it_is_left(fencepost, payments, uid, prune, more):
    Path("jobs.yaml").write_text("version: 1\njobs: {}\n")

    ran = fencepost("plan", "-f", "jobs.yaml", *prune, *more)

    says = "--prune leaves it: fencepost job delete doomed removes it, whatever its labels were"
    (line,) = ran.err.strip().splitlines()
    assert line.startswith(f"nobody can read job doomed (~{uid}): ")
    assert line.endswith(says)
    assert more or "1 unreadable and left as they are" in ran.out
    assert "doomed" not in ran.out


def test_applying_names_what_it_does_not_prune_and_leaves_it(fencepost, payments, uid):
    Path("jobs.yaml").write_text("version: 1\njobs: {}\n")

    ran = fencepost("apply", "-f", "jobs.yaml", "--prune", "--yes")

    assert ran.status == 0
    assert "--prune leaves it" in ran.err
    assert list(jobs := payments.jobs()) == []
    assert [each.name for each in jobs.unreadable] == ["doomed"]
    assert fencepost("job", "delete", "doomed", "--yes").status == 0
    assert fencepost("plan", "-f", "jobs.yaml", "--prune").err == ""


def test_pruning_says_of_one_that_the_file_declares_that_it_is_replaced(fencepost, payments, uid):
    job = {"schedule": {"cron": "0 * * * *"}, "target": {"webhook": {"url": "https://example.com/hook"}}}
    Path("jobs.yaml").write_text(yamls.write({"version": 1, "jobs": {"doomed": job}}))

    ran = fencepost("apply", "-f", "jobs.yaml", "--prune", "--yes")

    assert ran.err.strip().endswith("; the file declares it anew")
    assert [job.name for job in payments.jobs()] == ["doomed"]
    assert "unreadable" not in ran.out
