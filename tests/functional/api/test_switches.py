"""Switches of teams, tiers and the stage over the whole service: what comes due waits, and nothing is lost."""

from __future__ import annotations

from collections import Counter

import pytest

from fencepost.domain.outcome import Accepted, Failed
from tests.support.api import ADMIN, ADMIN_ROLE, HOOK, OWNER_ROLE, STRANGER, Front
from tests.support.clients import Machine

PAYMENTS = "/v1/teams/payments"
MINUTELY = {"cron": "* * * * *"}


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:30Z")


@pytest.fixture
def machine(front):
    return Machine(front)


def job(front, name="report", **more):
    assert front.job(name, more.pop("schedule", MINUTELY), **more).status in {200, 201}


def records(front, name="report"):
    return sorted(
        front.get(f"{PAYMENTS}/jobs/{name}/executions?limit=100").body["items"], key=lambda r: r["due"]
    )


def at(front, minute, name="report"):
    [found] = [record for record in records(front, name) if record["due"][14:16] == f"{minute:02}"]
    return found


def states(front, minutes, name="report"):
    return [at(front, minute, name)["state"] for minute in minutes]


class TestTeam:
    def test_E04_what_comes_due_waits_and_says_for_what(self, front, machine):
        job(front)
        front.post(PAYMENTS + "/pause", {"note": "the ledger is down"})
        machine.run("2026-03-01T12:03:30Z")
        assert states(front, (1, 2, 3)) == ["WAITING"] * 3
        assert at(front, 1)["note"] == f"team payments was paused by {OWNER_ROLE}: the ledger is down"
        assert front.stage.targets.calls == []

    def test_what_was_held_for_less_than_a_minute_runs(self, front, machine):
        job(front)
        machine.run("2026-03-01T12:00:40Z")
        front.post(PAYMENTS + "/pause")
        machine.run("2026-03-01T12:01:30Z")
        assert states(front, (1,)) == ["WAITING"]
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:01:50Z")
        assert states(front, (1,)) == ["SUCCEEDED"]

    @pytest.mark.parametrize(
        ("policy", "ran", "why"),
        [
            ("run_once_late", [5, 6], "a later run stands for it"),
            ("skip", [6], "its job skips what it missed"),
            ("catch_up", [1, 2, 3, 4, 5, 6], None),
        ],
    )
    def test_H01_each_jobs_misfire_policy_decides_about_what_was_held_longer(
        self, front, machine, policy, ran, why
    ):
        job(front, misfire={"policy": policy})
        front.post(PAYMENTS + "/pause", {"note": "moving"})
        machine.run("2026-03-01T12:06:30Z")
        assert states(front, range(1, 7)) == ["WAITING"] * 6
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:08:30Z")
        for minute in range(1, 7):
            record = at(front, minute)
            assert record["state"] == ("SUCCEEDED" if minute in ran else "SKIPPED"), (policy, minute)
            if minute not in ran:
                assert record["reason"] == "misfire"
                assert record["note"] == f"team payments was paused by {OWNER_ROLE}: moving; {why}"
        assert states(front, (7, 8)) == ["SUCCEEDED"] * 2

    @pytest.mark.parametrize(
        ("bounds", "why"),
        [
            ({"window_seconds": 240}, "it was older than the misfire window"),
            ({"max_runs": 3}, "more than 3 runs were missed"),
        ],
    )
    def test_catching_up_has_its_bounds(self, front, machine, bounds, why):
        job(front, misfire={"policy": "catch_up", **bounds})
        front.post(PAYMENTS + "/pause")
        machine.run("2026-03-01T12:07:30Z")
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:09:30Z")
        assert {at(front, minute)["note"].rpartition("; ")[2] for minute in (1, 2, 3)} == {why}
        assert states(front, range(4, 9)) == ["SUCCEEDED"] * 5

    def test_it_ends_by_itself(self, front, machine):
        job(front, misfire={"policy": "catch_up"})
        front.post(PAYMENTS + "/pause", {"until": "2026-03-01T12:04:10Z"})
        assert front.get(PAYMENTS).body["paused"] is True
        machine.run("2026-03-01T12:04:05Z")
        assert states(front, (1, 2, 3, 4)) == ["WAITING"] * 4
        machine.run("2026-03-01T12:06:30Z")
        assert set(states(front, range(1, 7))) == {"SUCCEEDED"}
        assert (front.get(PAYMENTS).body["paused"], front.get(PAYMENTS).body["pauses"]) == (False, [])

    def test_a_tier_waits_and_the_others_go_on(self, front, machine):
        job(front, "slow", tier="bulk")
        job(front, "fast", tier="critical")
        body = front.post(PAYMENTS + "/pause", {"tiers": ["bulk"], "note": "nightly"}).body
        assert (body["paused"], [pause["tier"] for pause in body["pauses"]]) == (False, ["bulk"])
        machine.run("2026-03-01T12:03:30Z")
        assert states(front, (1, 2, 3), "slow") == ["WAITING"] * 3
        fast = [at(front, minute, "fast") for minute in (1, 2, 3)]
        assert {record["state"] for record in fast} == {"SUCCEEDED"}
        assert max(record["lateness_ms"] for record in fast) < 2_000
        front.post(PAYMENTS + "/resume", {"tiers": ["bulk"]})
        machine.run("2026-03-01T12:04:30Z")
        assert states(front, (2, 3), "slow") == ["SUCCEEDED"] * 2

    def test_retries_wait_too_and_go_on_whatever_the_policy(self, front, machine):
        job(front, schedule={"in": "PT10S"}, misfire={"policy": "skip"}, retry={"initial_delay_seconds": 30})
        front.stage.targets.script = [Failed(status=500, error="answered 500")]
        machine.run("2026-03-01T12:00:41Z")
        assert [record["state"] for record in records(front)] == ["RETRY_WAIT"]
        front.post(PAYMENTS + "/pause")
        machine.run("2026-03-01T12:10:00Z")
        assert [record["state"] for record in records(front)] == ["WAITING"]
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:11:00Z")
        assert [record["state"] for record in records(front)] == ["SUCCEEDED"]

    def test_runs_by_hand_and_backfills_wait_and_then_run(self, front, machine):
        job(front, schedule={"cron": "0 * * * *"}, misfire={"policy": "skip"})
        front.post(PAYMENTS + "/pause")
        front.post(f"{PAYMENTS}/jobs/report/run")
        body = {"from": "2026-03-01T09:00:00Z", "to": "2026-03-01T12:00:00Z"}
        backfill = front.post(f"{PAYMENTS}/jobs/report/backfills", body).body
        machine.run("2026-03-01T12:05:00Z")
        assert {record["state"] for record in records(front)} == {"WAITING"}
        assert backfill["released"] == 0
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:10:00Z")
        assert Counter(record["origin"] for record in records(front)) == {"run_now": 1, "backfill": 3}
        assert {record["state"] for record in records(front)} == {"SUCCEEDED"}

    def test_long_work_that_runs_may_go_on_and_end(self, front, machine):
        front.stage.targets.then = Accepted()
        job(front, schedule={"in": "PT10S"}, lease_seconds=60)
        machine.run("2026-03-01T12:00:45Z")
        [record] = records(front)
        front.post(PAYMENTS + "/pause")
        path = f"{PAYMENTS}/executions/{record['id']}"
        assert front.post(path + "/heartbeat", {"fence": record["fence"]}).status == 200
        assert front.post(path + "/complete", {"fence": record["fence"]}).body["state"] == "SUCCEEDED"

    def test_a_job_that_is_paused_meanwhile_does_not_run_after_all(self, front, machine):
        job(front, misfire={"policy": "catch_up"})
        front.post(PAYMENTS + "/pause")
        machine.run("2026-03-01T12:02:30Z")
        cancelled = front.post(f"{PAYMENTS}/jobs/report/pause").body["cancelled"]
        assert len(cancelled) == len([record for record in records(front) if record["state"] == "CANCELLED"])
        front.post(PAYMENTS + "/resume")
        machine.run("2026-03-01T12:05:30Z")
        assert front.stage.targets.calls == []

    def test_every_flip_is_an_entry(self, front):
        front.post(PAYMENTS + "/pause", {"note": "moving", "tiers": ["bulk"]})
        front.post(PAYMENTS + "/resume", {"note": "moved"})
        first, second = front.get(PAYMENTS + "/revisions?limit=2").body["items"][::-1]
        assert (first["what"], first["note"], first["actor"]) == ("pause", "moving", OWNER_ROLE)
        assert [pause["tier"] for pause in first["after"]["pauses"]] == ["bulk"]
        assert (second["what"], second["before"]["pauses"], second["after"]["pauses"]) == (
            "resume",
            first["after"]["pauses"],
            [],
        )

    def test_a_stale_tag_loses(self, front):
        tag = front.get(PAYMENTS).etag
        assert front.post(PAYMENTS + "/pause", headers={"If-Match": tag}).status == 200
        assert front.post(PAYMENTS + "/resume", headers={"If-Match": tag}).status == 412

    def test_a_second_pause_keeps_the_beginning_of_the_first(self, front):
        first = front.post(PAYMENTS + "/pause", {"tiers": ["bulk"]}).body["pauses"]
        front.clock.advance(seconds=90)
        second = front.post(PAYMENTS + "/pause", {"note": "longer"}).body["pauses"]
        by_tier = {pause["tier"]: pause for pause in second}
        assert (by_tier["bulk"]["since"], by_tier["bulk"]["note"]) == (first[0]["since"], "longer")
        assert by_tier["critical"]["since"] > first[0]["since"]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"until": "2026-03-01T12:00:00Z"}, "until"),
            ({"until": "soon"}, "until"),
            ({"tiers": []}, "tiers"),
            ({"tiers": ["slow"]}, "tiers.0"),
            ({"reason": "x"}, "reason"),
        ],
    )
    def test_a_faulty_request_says_what_is_wrong(self, front, body, field):
        assert list(front.post(PAYMENTS + "/pause", body).faults) == [field]

    def test_an_edit_of_the_team_keeps_its_switches(self, front):
        front.post(PAYMENTS + "/pause")
        front.patch(PAYMENTS, {"retention_days": 60})
        front.put(PAYMENTS, {"principals": [OWNER_ROLE]})
        assert front.get(PAYMENTS).body["paused"] is True


class TestStage:
    def test_nobody_starts_and_then_everybody_does(self, front, machine):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        job(front)
        front.put("/v1/teams/ledger/jobs/report", {"schedule": MINUTELY, "target": HOOK})
        body = front.post("/v1/stage/pause", {"note": "upgrade"}, by=ADMIN).body
        assert (body["paused"], len(body["pauses"])) == (True, 4)
        machine.run("2026-03-01T12:03:30Z")
        assert front.stage.targets.calls == []
        assert at(front, 1)["note"] == f"the stage was paused by {ADMIN_ROLE}: upgrade"
        front.post("/v1/stage/resume", by=ADMIN)
        machine.run("2026-03-01T12:04:30Z")
        ran = Counter(call.execution[:20] for call in front.stage.targets.calls)
        assert sorted(ran.values()) == [3, 3]  # the latest that was held too long, the next, and one in time

    def test_it_is_honoured_within_two_seconds(self, front, machine):
        job(front)
        machine.run("2026-03-01T12:01:57Z")
        before = len(front.stage.targets.calls)
        front.post("/v1/stage/pause", by=ADMIN)
        machine.run("2026-03-01T12:02:30Z")
        assert len(front.stage.targets.calls) == before

    def test_anybody_may_read_and_only_administrators_may_flip(self, front):
        assert front.get("/v1/stage", by=STRANGER).body == {"revision": 1, "paused": False, "pauses": []}
        assert front.post("/v1/stage/pause").status == 403
        assert front.post("/v1/stage/pause", by=ADMIN).status == 200
        reply = front.get("/v1/stage", by=STRANGER)
        assert (reply.body["paused"], reply.body["revision"]) == (True, 2)
        assert front.get("/v1/stage", headers={"If-None-Match": reply.etag}).status == 304

    def test_a_team_that_is_paused_too_stays_so(self, front, machine):
        job(front)
        front.post(PAYMENTS + "/pause")
        front.post("/v1/stage/pause", by=ADMIN)
        front.post("/v1/stage/resume", by=ADMIN)
        machine.run("2026-03-01T12:02:30Z")
        assert front.stage.targets.calls == []
