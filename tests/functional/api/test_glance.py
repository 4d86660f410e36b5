"""What somebody sees who looks at a whole team: outcomes, the coming day, the backlog, and what a firing sends."""

from __future__ import annotations

from collections import Counter

import pytest

from fencepost.adapters.seam import PortCall, seamed
from fencepost.application.registry import forecast as forecasting
from fencepost.client import Fencepost, cron, every, webhook
from tests.support.api import ADMIN, OWNER_ROLE, Front
from tests.support.clients import Machine, client
from tests.support.world import BROKEN, OK

TEAM = "/v1/teams/payments"
HOOK = webhook("https://example.com/hook")


@pytest.fixture
def front() -> Front:
    return Front.at("2026-03-01T12:00:00Z")


@pytest.fixture
def payments(front: Front) -> Fencepost:
    return client(front)


def outcomes(front: Front, *uids: str, last: int = 20):
    query = "&".join(f"uid={uid}" for uid in uids)
    items = front.get(f"{TEAM}/outcomes?last={last}&{query}").body["items"]
    return {item["uid"]: item["outcomes"] for item in items}


class TestOutcomes:
    def test_the_newest_occurrences_of_several_jobs(self, front, payments):
        front.stage.targets.then = lambda delivery: BROKEN if "doomed" in str(delivery.target) else OK
        good = payments.job("good").put(schedule=cron("* * * * *"), target=HOOK)
        doomed = payments.job("doomed").put(
            schedule=cron("* * * * *"),
            target=webhook("https://doomed.example.com/"),
            retry={"max_attempts": 1},
        )
        Machine(front).run("2026-03-01T12:04:00Z")

        found = outcomes(front, good.uid, doomed.uid, last=50)

        assert [each["due"][11:16] for each in found[good.uid]] == sorted(
            (each["due"][11:16] for each in found[good.uid]), reverse=True
        )
        assert Counter(each["state"] for each in found[good.uid]) >= Counter(SUCCEEDED=3)
        assert Counter(each["state"] for each in found[doomed.uid]) >= Counter(DEAD=3)
        late = [each["lateness_ms"] for each in found[good.uid] if each["state"] == "SUCCEEDED"]
        assert all(each is not None and each >= 0 for each in late)
        assert len(outcomes(front, good.uid, last=2)[good.uid]) == 2

    def test_what_is_claimed_ahead_is_no_outcome_yet(self, front, payments):
        job = payments.job("often").put(schedule=every("PT20S"), target=HOOK)
        Machine(front).run("2026-03-01T12:03:00Z")

        assert max(each["due"] for each in outcomes(front, job.uid)[job.uid]) <= "2026-03-01T12:03:00.000Z"
        newest = front.get(f"{TEAM}/jobs/often/executions?limit=1").body["items"][0]
        assert (newest["state"], newest["due"] > "2026-03-01T12:03:00.000Z") == ("QUEUED", True)

    def test_another_teams_job_has_none_here(self, front, payments):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        theirs = payments.for_team("ledger").job("x").put(schedule=cron("* * * * *"), target=HOOK)
        Machine(front).run("2026-03-01T12:03:00Z")

        assert outcomes(front, theirs.uid) == {theirs.uid: []}

    @pytest.mark.parametrize("query", ["uid=nightly", "last=0&uid=" + "a" * 20, "last=51", "uid=" + "a" * 21])
    def test_a_parameter_that_is_wrong_is_a_fault(self, front, query):
        assert front.get(f"{TEAM}/outcomes?{query}").status == 422

    def test_no_more_than_fifty_jobs_at_once(self, front):
        many = "&".join(f"uid={'a' * 18}{first}{second}" for first in "abcdefgh" for second in "abcdefgh")
        assert set(front.get(f"{TEAM}/outcomes?{many}").faults) == {"uid"}


def test_a_page_of_jobs_costs_one_query_and_one_for_each_visible_rows_outcomes(front, payments):
    """However many jobs there are besides."""
    for number in range(120):
        payments.job(f"job-{number:03}").put(schedule=cron("0 9 * * *"), target=HOOK)
    calls: list[PortCall] = []

    def note(call, proceed):
        calls.append(call)
        return proceed()

    front.through(seamed(front.memory, "store", note))
    page = front.get(f"{TEAM}/jobs?limit=50").body
    queries = [call.args[0] for call in calls if call.method == "pages" and call.page == 0]
    reads = [call for call in calls if call.method == "batch_get"]
    assert (len(page["items"]), len(queries), len(reads)) == (50, 1, 1)
    assert (queries[0].limit, len(reads[0].args[0])) == (50, 50)

    calls.clear()
    visible = [item["uid"] for item in page["items"][:18]]
    outcomes(front, *visible)
    queries = [call.args[0] for call in calls if call.method == "pages" and call.page == 0]
    assert [query.pk for query in queries] == visible
    assert not [call for call in calls if call.method == "batch_get"]


class TestForecast:
    def test_each_minute_of_the_next_day_holds_what_is_declared(self, front, payments):
        payments.job("daily").put(schedule=cron("30 2 * * *", "Europe/Berlin"), target=HOOK)
        payments.job("often").put(schedule=every("PT20S"), target=HOOK)
        payments.job("paused").put(schedule=cron("* * * * *"), target=HOOK)
        payments.job("paused").pause("not now")

        found = front.get(f"{TEAM}/forecast").body

        assert (found["start"], found["next"]) == ("2026-03-01T12:00:00.000Z", None)
        assert sum(found["minutes"]) == 1 + 24 * 60 * 3
        assert found["minutes"][13 * 60 + 30] == 4
        assert found["states"] == {"ACTIVE": 2, "PAUSED": 1}
        assert found["troubled"] == []

    def test_a_pause_that_ends_within_the_day_counts_from_its_end(self, front):
        front.job(schedule={"cron": "0 * * * *"})
        front.post(f"{TEAM}/jobs/report/pause", {"until": "2026-03-01T20:00:00Z"})
        assert sum(front.get(f"{TEAM}/forecast").body["minutes"]) == 16

    def test_what_the_service_stopped_is_named(self, front, payments):
        front.stage.targets.then = BROKEN
        payments.job("doomed").put(
            schedule=cron("* * * * *"), target=HOOK, retry={"max_attempts": 1}, pause_after_dead=2
        )
        Machine(front).run("2026-03-01T12:05:00Z")

        [stopped] = front.get(f"{TEAM}/forecast").body["troubled"]

        assert (stopped["name"], stopped["state"], stopped["paused_by"]) == ("doomed", "PAUSED", "fencepost")

    def test_pages_add_up(self, front, payments, monkeypatch):
        monkeypatch.setattr(forecasting, "LOOK", 3)
        for number in range(8):
            payments.job(f"job-{number}").put(schedule=cron(f"{number} 13 * * *"), target=HOOK)
        jobs, minutes, cursor = 0, [0] * 1440, ""
        for _ in range(3):
            page = front.get(f"{TEAM}/forecast{cursor}").body
            jobs += page["states"]["ACTIVE"]
            minutes = [one + other for one, other in zip(minutes, page["minutes"], strict=True)]
            cursor = f"?cursor={page['next']}"
        assert (page["next"], jobs, minutes[60:69]) == (None, 8, [1] * 8 + [0])

    def test_a_finished_job_is_completed(self, front):
        front.job(schedule={"in": "PT10S"})
        assert front.get(f"{TEAM}/forecast").body["states"] == {"COMPLETED": 1}


class TestBacklog:
    def test_nobody_waits(self, front):
        assert front.get(f"{TEAM}/backlog").body == {"items": []}

    def test_who_waits_for_a_switch_is_counted(self, front, payments):
        payments.job("often").put(schedule=every("PT20S"), target=HOOK, tier="bulk")
        front.post(f"{TEAM}/pause", {"tiers": ["bulk"]})
        Machine(front).run("2026-03-01T12:02:00Z")

        [line] = front.get(f"{TEAM}/backlog").body["items"]

        assert (line["tier"], line["held"], line["at_least"]) == ("bulk", True, False)
        assert line["count"] >= 3
        assert line["oldest_due"].startswith("2026-03-01T12:00")


class TestRequest:
    def test_what_the_attempts_sent_stands_whatever_the_job_says_now(self, front, payments):
        payments.job("report").put(schedule=cron("* * * * *"), target=HOOK, payload={"n": 1})
        Machine(front).run("2026-03-01T12:02:00Z")
        records = front.get(f"{TEAM}/jobs/report/executions?state=SUCCEEDED").body["items"]
        payments.job("report").put(schedule=cron("* * * * *"), target=HOOK, payload={"n": 2})

        found = front.get(f"{TEAM}/executions/{records[0]['id']}/request").body

        assert (found["pinned"], found["payload"]) == (True, {"n": 1})
        assert found["target"]["webhook"]["url"] == "https://example.com/hook"

    def test_before_the_first_attempt_it_is_what_the_job_says_now(self, front):
        front.job(schedule={"in": "PT10S"}, payload={"n": 1})
        [record] = front.get(f"{TEAM}/jobs/report/executions").body["items"]
        found = front.get(f"{TEAM}/executions/{record['id']}/request").body
        assert (found["pinned"], found["payload"]) == (False, {"n": 1})

    def test_no_record_no_request(self, front):
        assert front.get(f"{TEAM}/executions/{'a' * 20}-s-1772366400000/request").status == 404


def test_a_record_says_since_when_it_waited(front, payments):
    payments.job("often").put(schedule=every("PT30S"), target=HOOK)
    front.post(f"{TEAM}/pause", {})
    Machine(front).run("2026-03-01T12:01:00Z")
    [record] = [
        each
        for each in front.get(f"{TEAM}/jobs/often/executions").body["items"]
        if each["state"] == "WAITING"
    ][-1:]

    assert record["waited_from"] >= record["due"]
    front.post(f"{TEAM}/resume", {})
    Machine(front).run("2026-03-01T12:02:30Z")
    after = front.get(f"{TEAM}/executions/{record['id']}").body
    assert after["state"] in {"SUCCEEDED", "SKIPPED"}
    assert after["waited_from"] == record["waited_from"]
