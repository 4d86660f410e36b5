"""Teams that are deleted, and what deleted jobs leave behind, over the whole service."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.registry import sweep
from fencepost.application.store import Put, Table
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.outcome import Accepted, Failed
from tests.support.api import ADMIN, HOOK, OWNER, OWNER_ROLE, STRANGER, Front
from tests.support.clients import Machine
from tests.support.faults import Fault, FaultAt
from tests.support.steps import calling, errands_left, in_peace, stepping

PAYMENTS = "/v1/teams/payments"
HOURLY = {"cron": "0 * * * *"}
DAY = timedelta(days=1)


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:10:00Z")


@pytest.fixture
def machine(front):
    return Machine(front)


def leave(front, *, purge=False, **how):
    return front.delete(PAYMENTS + ("?purge=true" if purge else ""), **{"by": ADMIN, **how})


def expiries(front, uid):
    """When each item of a job expires, in days from now; None for never."""
    now = to_ms(front.clock.now()) // 1000
    found = [item for item in front.memory.everything(Table.JOBS) if item["pk"] == f"J#{uid}"]
    return {item["sk"]: None if "expires" not in item else (item["expires"] - now) / 86_400 for item in found}


class TestTeams:
    def test_a_team_with_jobs_stays_unless_it_is_purged(self, front):
        front.job()
        reply = leave(front)
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:not-allowed")
        assert "has 1 jobs" in reply.body["detail"]
        assert front.get(PAYMENTS).status == 200

    def test_a_team_without_jobs_goes_and_its_name_is_free_some_minutes_later(self, front, machine):
        reply = leave(front)
        assert (reply.status, reply.body["jobs_left"]) == (202, 0)
        assert front.get(PAYMENTS).status == 403
        again = front.put(PAYMENTS, {}, by=ADMIN)
        assert (again.status, again.body["type"]) == (409, "urn:fencepost:problem:being-deleted")
        machine.run("2026-03-01T12:14:00Z")
        assert errands_left(front) == []
        assert leave(front).status == 404
        assert front.put(PAYMENTS, {"principals": [OWNER_ROLE]}, by=ADMIN).status == 201
        assert front.job().status == 201

    def test_a_purge_takes_the_jobs_along(self, front, machine):
        for number in range(5):
            front.job(f"job-{number}", HOURLY)
        uid = front.get(PAYMENTS + "/jobs/job-0").body["uid"]
        assert leave(front, purge=True).status == 202
        machine.run("2026-03-01T12:14:00Z")
        assert leave(front, purge=True).status == 404
        left = [item["sk"] for item in front.memory.everything(Table.JOBS) if item["pk"] == "N#payments"]
        assert left == []
        gone = front.get(f"{PAYMENTS}/jobs/~{uid}", by=ADMIN).body
        entry = front.get(f"{PAYMENTS}/jobs/~{uid}/revisions?limit=1", by=ADMIN).body["items"][0]
        assert (gone["state"], entry["what"], entry["note"]) == ("DELETED", "delete", "its team was deleted")
        machine.run("2026-03-01T14:05:00Z")
        assert front.stage.targets.calls == []

    def test_what_runs_may_end_and_until_then_the_name_is_taken(self, front, machine):
        front.stage.targets.then = Accepted()
        front.job(schedule={"in": "PT10S"}, lease_seconds=600, max_run_seconds=600)
        machine.run("2026-03-01T12:10:30Z")
        [item] = [
            each for each in front.memory.everything(Table.EXECUTIONS) if each.get("state") == "RUNNING"
        ]
        leave(front, purge=True)
        machine.run("2026-03-01T12:18:00Z")
        assert front.put(PAYMENTS, {}, by=ADMIN).status == 409
        machine.run("2026-03-01T12:30:00Z")
        assert front.put(PAYMENTS, {}, by=ADMIN).status == 201
        [after] = [each for each in front.memory.everything(Table.EXECUTIONS) if each["pk"] == item["pk"]]
        assert after["state"] == "CANCELLED"

    def test_A1_what_a_switch_held_ends_with_the_team(self, front, machine, monkeypatch):
        """There may be more than a delete cancels at once, and nobody can resume a team that is gone."""
        monkeypatch.setattr(sweep, "LOOK", 2)
        front.job("often", {"every": "PT60S"})
        front.post(PAYMENTS + "/pause", {}, by=ADMIN)
        machine.run("2026-03-01T12:16:30Z")
        leave(front, purge=True)
        machine.run("2026-03-01T12:22:00Z")
        assert leave(front, purge=True).status == 404
        states = [item["state"] for item in front.memory.everything(Table.EXECUTIONS) if "state" in item]
        assert len(states) > 4
        assert set(states) == {"CANCELLED"}
        assert front.stage.targets.calls == []

    def test_another_team_of_the_name_finds_nothing_of_the_first(self, front, machine):
        front.stage.targets.then = Failed(status=500, error="answered 500")
        front.job(schedule={"in": "PT10S"}, retry={"max_attempts": 1})
        front.put(PAYMENTS + "/calendars/holidays", {"dates": ["2026-12-25"]})
        machine.run("2026-03-01T12:11:00Z")
        assert len(front.get(PAYMENTS + "/dead-letters").body["items"]) == 1
        leave(front, purge=True)
        machine.run("2026-03-01T12:15:00Z")
        front.put(PAYMENTS, {"principals": ["arn:aws:iam::444455556666:role/payments-deploy"]}, by=ADMIN)
        assert front.get(PAYMENTS, by=STRANGER).status == 200
        assert front.get(PAYMENTS, by=OWNER).status == 403
        assert front.get(PAYMENTS + "/dead-letters", by=STRANGER).body["items"] == []
        assert front.get(PAYMENTS + "/calendars", by=STRANGER).body["items"] == []
        assert front.get(PAYMENTS + "/jobs", by=STRANGER).body["items"] == []
        trail = front.get(PAYMENTS + "/revisions", by=STRANGER).body["items"]
        assert [entry["what"] for entry in trail] == ["create"]
        assert front.get(PAYMENTS + "/limits", by=STRANGER).body["max_jobs"]["used"] == 0

    def test_a_request_to_another_team_of_the_name_is_no_repetition(self, front, machine):
        def declared():
            headers = {"Idempotency-Key": "release-7"}
            body = {"schedule": HOURLY, "target": HOOK}
            return front.put(PAYMENTS + "/jobs/report", body, headers=headers).body["uid"]

        first = declared()
        assert declared() == first
        leave(front, purge=True)
        machine.run("2026-03-01T12:15:00Z")
        front.put(PAYMENTS, {"principals": [OWNER_ROLE]}, by=ADMIN)
        assert declared() != first
        assert front.get(PAYMENTS + "/jobs/report").status == 200

    def test_only_administrators_delete_teams(self, front):
        assert front.delete(PAYMENTS).status == 403
        assert front.delete("/v1/teams/nobody", by=ADMIN).status == 404

    def test_a_stale_tag_loses(self, front):
        tag = front.get(PAYMENTS).etag
        front.patch(PAYMENTS, {"retention_days": 60})
        assert leave(front, headers={"If-Match": tag}).status == 412

    def test_a_job_that_slipped_in_goes_with_the_team(self, front, machine):
        """Its writer found the team a moment before it was on its way out."""
        found = dict(front.memory.get(keys.team("payments")))
        leave(front)
        left = front.memory.get(keys.team("payments"))
        put_back(front, found)
        front.job("late", HOURLY)
        put_back(front, left)
        machine.run("2026-03-01T12:15:00Z")
        assert [item for item in front.memory.everything(Table.JOBS) if item["pk"] == "N#payments"] == []

    def test_what_is_left_of_a_team_expires(self, front, machine):
        leave(front)
        machine.run("2026-03-01T12:15:00Z")
        team = front.memory.get(keys.team("payments"))
        assert team is not None
        revisions = [
            each
            for each in front.memory.everything(Table.JOBS)
            if each["pk"] == "T#payments" and each["sk"] != "T"
        ]
        assert len(revisions) == 2
        assert all(each["expires"] < team["expires"] for each in revisions)
        assert team["expires"] > to_ms(front.clock.now() + 59 * DAY) // 1000

    @pytest.mark.parametrize("fault", Fault)
    def test_A1_a_failing_call_leaves_a_purge_to_its_next_step(self, fault):
        def opened():
            made = Front.at("2026-03-01T12:10:00Z")
            made.put(PAYMENTS + "/calendars/holidays", {"dates": ["2026-12-25"]})
            for number in range(3):
                made.job(f"job-{number}", HOURLY)
            made.memory.batch_delete([each.key for each in errands_left(made)])
            return made

        def asks(made, failing):
            calling(made, failing, "DELETE", PAYMENTS + "?purge=true", by=ADMIN)

        def finishes(made, failing):
            leave(made, purge=True)
            made.clock.advance(minutes=3)
            stepping(made, failing)

        for story in (asks, finishes):
            clean = FaultAt()
            story(opened(), clean)
            for place in range(0, len(clean.calls), 1 if fault is Fault.KILLED_BEFORE else 4):
                made = opened()
                story(made, FaultAt(place, fault))
                in_peace(made, minutes=5)
                assert errands_left(made) == [], (story, place)
                assert leave(made).status == 404
                assert made.put(PAYMENTS, {}, by=ADMIN).status == 201


def put_back(front, item):
    kept = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
    front.memory.write(Put(key=keys.team("payments"), item=kept))


class TestJobs:
    def test_all_that_a_deleted_job_leaves_expires_after_its_records(self, front, machine):
        front.job(schedule=HOURLY, overlap="skip")
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        front.job(schedule={"cron": "30 * * * *"}, payload={"new": True}, overlap="skip")
        machine.run("2026-03-01T12:35:00Z")
        front.post(
            f"{PAYMENTS}/jobs/report/backfills",
            {"from": "2026-03-01T08:00:00Z", "to": "2026-03-01T12:00:00Z"},
        )
        assert {sk[0] for sk, days in expiries(front, uid).items() if days is not None} <= {"B"}
        front.delete(PAYMENTS + "/jobs/report")
        machine.run("2026-03-01T12:40:00Z")
        found = expiries(front, uid)
        kinds = {sk.partition("#")[0] for sk in found}
        assert kinds == {"J", "R", "G", "P", "B"}
        assert all(days is not None and days > 59.9 for days in found.values()), found
        lock = front.memory.get(keys.overlap_lock(uid))
        assert lock is None or "expires" in lock

    @pytest.mark.parametrize("overlap", ["skip", "queue"])
    def test_F03_the_lock_of_a_firing_that_outlives_its_job_expires_all_the_same(
        self, front, machine, overlap
    ):
        front.stage.targets.then = Accepted()
        front.job(schedule={"in": "PT10S"}, overlap=overlap, max_run_seconds=3600)
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        machine.run("2026-03-01T12:11:00Z")
        [running] = front.get(f"{PAYMENTS}/jobs/~{uid}/executions").body["items"]
        front.delete(PAYMENTS + "/jobs/report")
        machine.run("2026-03-01T12:14:30Z")
        marked = front.memory.get(keys.overlap_lock(uid))
        assert marked is not None
        assert marked["x"] == running["id"]
        done = front.post(f"{PAYMENTS}/executions/{running['id']}/complete", {"fence": running["fence"]})
        assert done.status == 200, done.body
        released = front.memory.get(keys.overlap_lock(uid))
        assert released is not None
        assert "x" not in released
        assert released["expires"] == marked["expires"] > to_ms(front.clock.now() + 59 * DAY) // 1000

    def test_F03_a_lock_that_is_made_just_after_the_deletion_expires_too(self, front, machine):
        front.job(schedule=HOURLY, overlap="skip")
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        front.delete(PAYMENTS + "/jobs/report")
        machine.run("2026-03-01T12:11:30Z")
        late = Put(key=keys.overlap_lock(uid), item={"v": 1, "f": 1})
        front.memory.write(late)
        machine.run("2026-03-01T12:16:00Z")
        assert "expires" in (front.memory.get(keys.overlap_lock(uid)) or {})
        assert errands_left(front) == []

    def test_records_stay_readable_by_uid(self, front, machine):
        front.job(schedule={"in": "PT10S"})
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        machine.run("2026-03-01T12:11:00Z")
        front.delete(PAYMENTS + "/jobs/report")
        front.job(schedule=HOURLY)
        [record] = front.get(f"{PAYMENTS}/jobs/~{uid}/executions").body["items"]
        assert record["state"] == "SUCCEEDED"
        assert front.get(f"{PAYMENTS}/jobs/~{uid}").body["state"] == "DELETED"

    def test_B2_a_tombstone_outlives_every_timer_of_its_job(self, front):
        """A timer whose job is not there waits for ever: the one of an old generation lies ten months ahead."""
        front.job(schedule={"cron": "0 0 1 1 *"})
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        front.job(schedule={"cron": "0 * * * *"})
        front.post(PAYMENTS + "/jobs/report/pause")
        front.delete(PAYMENTS + "/jobs/report")
        tombstone = front.memory.get(keys.job(uid))
        assert tombstone is not None
        newyear = from_wire("2027-01-01T00:00:00+01:00")
        assert tombstone["expires"] >= to_ms(newyear + 60 * DAY) // 1000

    def test_an_instant_years_ahead_keeps_the_tombstone_as_long(self, front):
        front.job(schedule={"at": "2031-05-01T00:00:00Z"})
        uid = front.get(PAYMENTS + "/jobs/report").body["uid"]
        front.delete(PAYMENTS + "/jobs/report")
        tombstone = front.memory.get(keys.job(uid))
        assert tombstone is not None
        assert tombstone["expires"] == to_ms(from_wire("2031-05-01T00:00:00Z") + 60 * DAY) // 1000

    @pytest.mark.parametrize("fault", Fault)
    def test_A1_forgetting_goes_on_where_it_stopped(self, fault):
        clean, made = FaultAt(), Front.at("2026-03-01T12:10:00Z")
        made.job()
        made.delete(PAYMENTS + "/jobs/report")
        made.clock.advance(minutes=3)
        stepping(made, clean)
        assert len(clean.calls) > 3
        for place in range(len(clean.calls)):
            made = Front.at("2026-03-01T12:10:00Z")
            made.job()
            uid = made.get(PAYMENTS + "/jobs/report").body["uid"]
            made.delete(PAYMENTS + "/jobs/report")
            made.clock.advance(minutes=3)
            stepping(made, FaultAt(place, fault))
            in_peace(made, minutes=2)
            assert errands_left(made) == []
            assert None not in expiries(made, uid).values()


class TestDirectory:
    @pytest.fixture(autouse=True)
    def teams(self, front):
        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        front.put("/v1/teams/zebra", {"principals": []}, by=ADMIN)

    def names(self, reply):
        return [team["name"] for team in reply.body["items"]]

    def test_administrators_see_all_and_others_their_own(self, front):
        assert self.names(front.get("/v1/teams", by=ADMIN)) == ["ledger", "payments", "zebra"]
        assert self.names(front.get("/v1/teams")) == ["ledger", "payments"]
        assert self.names(front.get("/v1/teams", by=STRANGER)) == []

    def test_page_by_page(self, front):
        first = front.get("/v1/teams?limit=1")
        rest = front.get(f"/v1/teams?limit=1&cursor={first.body['next']}")
        assert (self.names(first), self.names(rest)) == (["ledger"], ["payments"])
        last = front.get(f"/v1/teams?limit=1&cursor={rest.body['next']}")
        assert (self.names(last), last.body["next"]) == ([], None)

    def test_a_team_on_its_way_out_is_not_listed(self, front, machine):
        leave(front)
        assert self.names(front.get("/v1/teams", by=ADMIN)) == ["ledger", "zebra"]
        machine.run("2026-03-01T12:15:00Z")
        assert self.names(front.get("/v1/teams", by=ADMIN)) == ["ledger", "zebra"]


class TestAudit:
    @pytest.fixture(autouse=True)
    def changes(self, front):
        for hour, retention, by in ((13, 40, OWNER), (14, 50, ADMIN), (15, 60, OWNER)):
            front.clock.set(f"2026-03-01T{hour}:00:00Z")
            front.patch(PAYMENTS, {"retention_days": retention}, by=by)

    def found(self, front, query):
        reply = front.get(f"{PAYMENTS}/revisions?{query}")
        return [entry["after"]["retention_days"] for entry in reply.body["items"]]

    def test_by_time_and_by_actor(self, front):
        assert self.found(front, "from=2026-03-01T14:00:00Z") == [60, 50]
        assert self.found(front, "to=2026-03-01T14:00:00Z") == [40, 30]
        assert self.found(front, "from=2026-03-01T13:00:00Z&to=2026-03-01T15:00:00Z") == [50, 40]
        assert self.found(front, f"actor={OWNER_ROLE}") == [60, 40]
        assert self.found(front, f"actor={OWNER_ROLE}&from=2026-03-01T14:00:00Z") == [60]

    def test_of_a_job_too(self, front):
        front.put(PAYMENTS + "/jobs/report", {"schedule": HOURLY, "target": HOOK}, by=ADMIN)
        front.put(PAYMENTS + "/jobs/report", {"schedule": HOURLY, "target": HOOK, "tier": "bulk"})
        path = f"{PAYMENTS}/jobs/report/revisions"
        assert [each["what"] for each in front.get(f"{path}?actor={OWNER_ROLE}").body["items"]] == ["edit"]
        assert front.get(f"{path}?from=soon").status == 422

    def test_of_the_stage(self, front):
        front.post("/v1/stage/pause", {"note": "upgrade"}, by=ADMIN)
        front.post("/v1/stage/resume", by=ADMIN)
        items = front.get("/v1/stage/revisions", by=ADMIN).body["items"]
        assert [(each["what"], each["note"]) for each in items] == [("resume", None), ("pause", "upgrade")]
        assert items[1]["before"] == {"pauses": []}
        assert front.get("/v1/stage/revisions").status == 403
