from __future__ import annotations

import pytest

from fencepost.application.registry import listing, records
from tests.support.api import ADMIN, OWNER_ROLE, Front

JOBS = "/v1/teams/payments/jobs"


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


def names(reply):
    return [item["name"] for item in reply.body["items"]]


def walk(front, path):
    """All items of a list, page by page."""
    items, cursor = [], None
    while True:
        glue = "&" if "?" in path else "?"
        page = front.get(path + (f"{glue}cursor={cursor}" if cursor else "")).body
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


class TestJobs:
    @pytest.fixture(autouse=True)
    def jobs(self, front):
        for number in range(7):
            tier = "bulk" if number % 2 else "critical"
            front.job(f"job-{number}", {"cron": f"{number} 13 * * *"}, tier=tier, labels={"n": str(number)})
        front.job("other", {"cron": "0 0 1 1 *"}, labels={"env": "prod", "n": "1"})
        front.post(f"{JOBS}/job-3/pause")

    def test_pages_hold_every_job_once_in_order_of_names(self, front):
        found = [item["name"] for item in walk(front, JOBS + "?limit=3")]
        assert found == [*(f"job-{number}" for number in range(7)), "other"]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("state=PAUSED", ["job-3"]),
            ("tier=bulk&state=ACTIVE", ["job-1", "job-5"]),
            ("label=n:1", ["job-1", "other"]),
            ("label=n:1&label=env:prod", ["other"]),
            ("prefix=oth", ["other"]),
            ("prefix=job-6", ["job-6"]),
            (
                "next_after=2026-03-01T13:05:00Z&next_before=2026-03-01T14:00:00Z",
                ["job-5", "job-6"],
            ),
            ("next_before=2026-03-01T12:30:00Z", []),
        ],
    )
    def test_filters(self, front, query, expected):
        assert names(front.get(f"{JOBS}?{query}")) == expected

    def test_a_bounded_look_says_when_it_stopped_early(self, front, monkeypatch):
        monkeypatch.setattr(listing, "LOOK", 4)
        page = front.get(JOBS + "?label=env:prod").body
        assert (page["items"], page["stopped_early"]) == ([], True)
        assert [item["name"] for item in walk(front, JOBS + "?label=env:prod")] == ["other"]

    def test_a_deleted_job_leaves_the_list(self, front):
        front.delete(f"{JOBS}/job-0")
        assert "job-0" not in names(front.get(JOBS))

    @pytest.mark.parametrize(
        "query",
        [
            "limit=0",
            "limit=101",
            "limit=x",
            "limit=1&limit=2",
            "state=DEAD",
            "tier=recovery",
            "label=prod",
            "prefix=A",
            "next_after=tomorrow",
            "cursor=abc",
            "cursor=",
            "color=red",
        ],
    )
    def test_a_parameter_that_is_wrong_is_a_fault(self, front, query):
        reply = front.get(f"{JOBS}?{query}")
        assert reply.status == 422
        assert set(reply.faults) == {query.split("=")[0]}


class TestCursors:
    @pytest.fixture
    def cursor(self, front):
        for name in ("a", "b", "c"):
            front.job(name)
        return front.get(JOBS + "?limit=1").body["next"]

    def test_a_cursor_goes_to_no_other_team(self, front, cursor):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        assert front.get(f"/v1/teams/ledger/jobs?cursor={cursor}").status == 422

    def test_nor_to_another_list_nor_to_other_filters(self, front, cursor):
        assert front.get(f"/v1/teams/payments/dead-letters?cursor={cursor}").status == 422
        assert front.get(f"{JOBS}?cursor={cursor}&tier=bulk").status == 422
        assert front.get(f"{JOBS}?cursor={cursor}&limit=2").status == 200

    @pytest.mark.parametrize("position", [0, 5, 20, -1])
    def test_it_cannot_be_forged(self, front, cursor, position):
        other = "A" if cursor[position] != "A" else "B"
        forged = list(cursor)
        forged[position] = other
        assert front.get(f"{JOBS}?cursor={''.join(forged)}").status in {200, 422}
        if position != -1:
            assert front.get(f"{JOBS}?cursor={''.join(forged)}").status == 422


class TestExecutions:
    REPORT = "/v1/teams/payments/jobs/report"

    @pytest.fixture(autouse=True)
    def job(self, front):
        """Hourly, paused over four of its occurrences, resumed, then run by hand."""
        front.job(schedule={"cron": "0 * * * *"})
        front.clock.set("2026-03-01T12:30:00Z")
        front.post(self.REPORT + "/pause")
        front.clock.set("2026-03-01T16:59:00Z")
        front.post(self.REPORT + "/resume")
        front.post(self.REPORT + "/run")

    def test_the_newest_instant_comes_first(self, front):
        items = walk(front, self.REPORT + "/executions?limit=1")
        assert [(item["due"][11:16], item["state"], item["origin"]) for item in items] == [
            ("17:00", "QUEUED", "schedule"),
            ("16:59", "QUEUED", "run_now"),
            ("13:00", "SKIPPED", "schedule"),
        ]

    def test_a_range_is_counted_when_it_is_read(self, front):
        item = front.get(self.REPORT + "/executions?state=SKIPPED").body["items"][0]
        assert item["coalesced"] == {"until": "2026-03-01T16:00:00.000Z", "count": 4, "at_least": False}
        assert front.get(f"/v1/teams/payments/executions/{item['id']}").body == item

    @pytest.mark.parametrize("hour", [13, 14, 16])
    def test_B11_a_range_is_found_by_any_instant_in_it(self, front, hour):
        items = front.get(f"{self.REPORT}/executions?at=2026-03-01T{hour}:00:00Z").body["items"]
        assert [item["reason"] for item in items] == ["paused"]

    def test_B12_an_instant_with_its_own_record_is_explained_by_that(self, front):
        [item] = front.get(f"{self.REPORT}/executions?at=2026-03-01T17:00:00Z").body["items"]
        assert item["state"] == "QUEUED"

    def test_an_instant_that_nothing_explains_yet(self, front):
        assert front.get(f"{self.REPORT}/executions?at=2026-03-02T17:00:00Z").body["items"] == []

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("since=2026-03-01T17:00:00Z", ["17:00"]),
            ("before=2026-03-01T16:59:00Z", ["13:00"]),
            ("since=2026-03-01T15:00:00Z&before=2026-03-01T17:00:00Z", ["16:59", "13:00"]),
            ("since=2026-03-01T16:30:00Z&before=2026-03-01T16:45:00Z", []),
        ],
    )
    def test_a_span_of_time(self, front, query, expected):
        items = front.get(f"{self.REPORT}/executions?{query}").body["items"]
        assert [item["due"][11:16] for item in items] == expected

    def test_a_bounded_look_says_so(self, front, monkeypatch):
        monkeypatch.setattr(records, "LOOK", 1)
        page = front.get(self.REPORT + "/executions?state=SKIPPED").body
        assert (page["items"], page["stopped_early"]) == ([], True)
        assert len(walk(front, self.REPORT + "/executions?state=SKIPPED")) == 1

    def test_a_deleted_jobs_records_stay_readable_by_uid(self, front):
        uid = front.delete(self.REPORT).body["uid"]
        assert front.get(self.REPORT + "/executions").status == 404
        assert len(front.get(f"/v1/teams/payments/jobs/~{uid}/executions").body["items"]) == 3

    def test_another_teams_record_is_not_there(self, front):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        [item] = front.get(self.REPORT + "/executions?limit=1").body["items"]
        assert front.get(f"/v1/teams/ledger/executions/{item['id']}").status == 404
        uid = front.get(self.REPORT).body["uid"]
        assert front.get(f"/v1/teams/ledger/jobs/~{uid}").status == 404

    @pytest.mark.parametrize("identity", ["x", "a" * 20 + "-s-1", "%00", "..", "a-b-c"])
    def test_what_is_no_id_is_not_there(self, front, identity):
        assert front.get(f"/v1/teams/payments/executions/{identity}").status == 404


def test_M12_a_long_range_is_counted_up_to_a_bound(front):
    front.job(schedule={"cron": "* * * * *"})
    front.post(f"{JOBS}/report/pause")
    front.clock.advance(days=9)
    front.post(f"{JOBS}/report/resume")
    [item] = front.get(f"{JOBS}/report/executions?state=SKIPPED").body["items"]
    assert item["coalesced"]["at_least"] is True
    whole = front.get(f"/v1/teams/payments/executions/{item['id']}").body
    assert (whole["coalesced"]["count"], whole["coalesced"]["at_least"]) == (10_000, True)
