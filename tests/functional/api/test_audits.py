"""The audit as a client sees it: pages, bounds, and a stranger's place outside."""

from __future__ import annotations

import pytest

from fencepost.application.auditing import teams
from fencepost.application.auditing.audit import audit_job
from fencepost.client import cron
from tests.support.api import STRANGER
from tests.support.audits import Past

AUDIT = "/v1/teams/payments/audit"
FIVE = cron("*/5 * * * *")


@pytest.fixture
def past() -> Past:
    """Three jobs that fired for half an hour, as they should."""
    past = Past()
    for name in ("alpha", "beta", "gamma"):
        past.put(name, FIVE)
    past.run("2026-03-01T11:01:00Z")
    return past


def test_a_team_whose_ledger_is_right_has_no_finding(past):
    found = past.front.get(AUDIT).body

    assert (found["items"], found["next"], found["jobs"]) == ([], None, 3)
    assert found["explained"] == found["records"] > 0
    assert found["judged_to"] == "2026-03-01T10:51:00.000Z"


def test_a_finding_names_its_job_its_instant_and_what_is_wrong(past):
    lost = past.record("beta", "2026-03-01T10:35:00Z")
    past.lose(lost)

    [found] = past.front.get(AUDIT).body["items"]

    assert (found["job"], found["uid"], found["kind"]) == ("beta", lost.id.uid, "missing")
    assert (found["at"], found["last"], found["execution"]) == ("2026-03-01T10:35:00.000Z", None, None)


def test_one_job_by_its_name_and_a_deleted_one_by_its_uid(past):
    lost = past.record("beta", "2026-03-01T10:35:00Z")
    past.lose(lost)
    past.owner.job("beta").delete()

    assert past.front.get(f"{AUDIT}?job=alpha").body["items"] == []
    assert past.front.get(f"{AUDIT}?job=beta").status == 404
    assert len(past.front.get(f"{AUDIT}?job=~{lost.id.uid}").body["items"]) == 1


def test_only_what_lies_in_the_window_is_looked_at(past):
    past.lose(past.record("beta", "2026-03-01T10:35:00Z"))

    inside = past.front.get(f"{AUDIT}?from=2026-03-01T10:35:00Z&to=2026-03-01T10:40:00Z").body
    beside = past.front.get(f"{AUDIT}?from=2026-03-01T10:36:00Z&to=2026-03-01T10:50:00Z").body

    assert (len(inside["items"]), beside["items"]) == (1, [])


def test_pages_come_to_the_same_as_one_page(past, monkeypatch):
    for name in ("alpha", "gamma"):
        past.lose(past.record(name, "2026-03-01T10:45:00Z"))
    whole = past.front.get(AUDIT).body["items"]
    monkeypatch.setattr(teams, "JOBS", 1)

    page = past.front.get(AUDIT).body
    pages = [page["items"]]
    while page["next"] is not None:
        page = past.front.get(f"{AUDIT}?cursor={page['next']}").body
        pages.append(page["items"])

    assert len(pages) == 4
    assert [found for page in pages for found in page] == whole


def test_a_page_that_takes_long_is_answered_and_goes_on_from_there(past, monkeypatch):
    """A stage so slow that each job takes four seconds: two of them are enough for one call."""
    past.lose(past.record("gamma", "2026-03-01T10:45:00Z"))
    judged = past.front.get(AUDIT).body["judged_to"]

    def slow(*given, **more):
        past.front.clock.advance(seconds=4)
        return audit_job(*given, **more)

    monkeypatch.setattr("fencepost.application.auditing.teams.audit_job", slow)
    to = f"to={judged}"
    first = past.front.get(f"{AUDIT}?{to}").body
    second = past.front.get(f"{AUDIT}?{to}&cursor={first['next']}").body

    assert [(page["jobs"], len(page["items"])) for page in (first, second)] == [(2, 0), (1, 1)]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-03-01T11:00:00Z&to=2026-03-01T10:00:00Z", "from"),
        ("from=yesterday", "from"),
        ("job=NoSuchName", "job"),
        ("cursor=invented", "cursor"),
    ],
)
def test_a_question_with_a_fault_says_which(past, query, field):
    reply = past.front.get(f"{AUDIT}?{query}")

    assert (reply.status, list(reply.faults)) == (422, [field])


def test_a_stranger_learns_nothing(past):
    assert past.front.get(AUDIT, by=STRANGER).status == 403
