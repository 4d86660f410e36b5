"""The audit on the command line: what it says, and its exit status."""

from __future__ import annotations

import pytest

from fencepost.application import keys
from fencepost.application.store import Delete
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from tests.support.clients import Machine


@pytest.fixture
def later(front, payments, fencepost):
    """Half an hour of `nightly`, so that something is old enough to be judged."""
    front.stage.targets.script = []
    Machine(front).run("2026-03-01T12:32:00Z")
    fencepost.clock.set(front.clock.now())
    return fencepost


def lose(front, payments, at):
    """Takes away the record of one occurrence of `nightly`."""
    uid = payments.job("nightly").get().uid
    front.memory.write(Delete(key=keys.execution(ExecutionId.occurrence(uid, from_wire(at)))))


def test_a_ledger_that_is_right_exits_0(later):
    ran = later("audit", "--job", "nightly")

    assert ran.status == 0
    assert "every occurrence is explained, once" in ran.out


def test_a_finding_exits_1_and_says_which_occurrence(later, front, payments):
    lose(front, payments, "2026-03-01T12:05:00Z")

    ran = later("audit", "--job", "nightly", "--from", "2h")

    assert ran.status == 1
    assert "missing" in ran.out
    assert "2026-03-01 12:05:00Z" in ran.out


def test_outside_of_the_window_it_is_not_looked_for(later, front, payments):
    lose(front, payments, "2026-03-01T12:05:00Z")

    ran = later("audit", "--from", "2026-03-01T12:06:00Z", "--to", "2026-03-01T12:20:00Z")

    assert ran.status == 0


def test_the_whole_team_as_json(later, front, payments):
    lose(front, payments, "2026-03-01T12:05:00Z")

    ran = later("audit", "--json")

    assert ran.status == 1
    assert [(each["job"], each["kind"]) for each in ran.json["items"]] == [("nightly", "missing")]
    assert ran.json["records"] > 0


def test_who_changed_what_is_told_by_revisions(later):
    ran = later("revisions", "--job", "report")

    assert ran.status == 0
    assert "pause" in ran.out
