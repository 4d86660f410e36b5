"""Jobs whose stored items nobody can read: told clearly, replaced by PUT, removed by DELETE, in nobody's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fencepost.application import keys
from fencepost.application.codec import decode_timer, encode_timer
from fencepost.application.codec_job import decode_job
from fencepost.application.planting import fire_timer
from fencepost.application.registry.usage import noted
from fencepost.application.store import Delete, Item, Key, Lost, Put, Query, Table, items
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from tests.support.api import ADMIN, HOOK, Front
from tests.support.clients import Machine
from tests.support.meanwhile import Meanwhile

JOBS = "/v1/teams/payments/jobs"
BAD = JOBS + "/bad"
MINUTELY = {"cron": "* * * * *"}
UNREADABLE = "urn:fencepost:problem:unreadable-state"

Garble = Callable[[Item], dict[str, Any]]
WHOLE: dict[str, Garble] = {
    "without its version": lambda item: {name: value for name, value in item.items() if name != "v"},
    "with nothing in it": lambda _: {"v": 1},
    "with nothing at all": lambda _: {},
    "all words": lambda item: {name: value if name == "v" else "?" for name, value in item.items()},
    "all lists": lambda item: {
        name: value if name == "v" else [1, {"a": None}] for name, value in item.items()
    },
    "with numbers beyond all time": lambda item: {
        name: 10**30 if isinstance(value, int) and name != "v" else value for name, value in item.items()
    },
    "without a schedule": lambda item: {name: value for name, value in item.items() if name != "schedule"},
    "with a generation that is a word": lambda item: {**item, "gen": "?"},
    "with a generation that is too small": lambda item: {**item, "gen": 1, "state": "?"},
    "with a generation that is too large": lambda item: {**item, "gen": 77, "state": "?"},
    "with a revision that is a list": lambda item: {**item, "rev": [3]},
}


def garble(front: Front, key: Key, how: Garble) -> None:
    item = front.memory.get(key)
    assert item is not None
    facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
    front.memory.write(Put(key=key, item=how(facts)))


def uid_of(front: Front, name: str = "bad") -> str:
    item = front.memory.get(keys.name_claim("payments", name))
    assert item is not None
    return str(item["uid"])


def detail_key(front: Front) -> Key:
    query = Query(table=Table.JOBS, pk=keys.job(uid_of(front)).pk, first="P#", last="P#~")
    [item] = items(front.memory, query)
    return Key(Table.JOBS, item["pk"], item["sk"])


@pytest.fixture
def front() -> Front:
    """Three generations of `bad`, the last one active, beside `good`."""
    made = Front.at("2026-03-01T12:00:30Z")
    made.put("/v1/teams/payments/calendars/holidays", {"dates": ["2026-12-24"]})
    made.job("bad", {**MINUTELY, "exclude": ["holidays"]})
    made.job("good", MINUTELY)
    made.post(BAD + "/pause")
    made.post(BAD + "/resume")
    return made


@pytest.fixture(params=WHOLE)
def garbled(front: Front, request: pytest.FixtureRequest) -> Front:
    garble(front, keys.job(uid_of(front)), WHOLE[request.param])
    return front


def unfinished(front: Front, uid: str) -> list[Item]:
    final = {"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"}
    found = items(front.memory, Query(table=Table.EXECUTIONS, pk=uid))
    return [item for item in found if item["state"] not in final]


def timers_of(front: Front, uid: str) -> list[Item]:
    return [
        item for item in front.memory.everything(Table.TIMERS) if uid in item["sk"] and item["pk"][0] != "Q"
    ]


class TestWhole:
    def test_it_is_told_with_its_name_and_what_to_do(self, garbled: Front) -> None:
        for reply in (
            garbled.get(BAD),
            garbled.post(BAD + "/pause"),
            garbled.post(BAD + "/resume"),
            garbled.post(BAD + "/run"),
            garbled.patch(BAD, {"tier": "bulk"}),
        ):
            assert (reply.status, reply.body["type"]) == (409, UNREADABLE)
            assert "job bad of team payments" in reply.body["detail"]
            assert "PUT" in reply.body["detail"]
            assert "DELETE" in reply.body["detail"]

    def test_its_revisions_and_records_can_be_read(self, garbled: Front) -> None:
        assert len(garbled.get(BAD + "/revisions").body["items"]) == 3
        assert garbled.get(BAD + "/executions").status == 200

    def test_lists_show_the_rest_and_name_it(self, garbled: Front) -> None:
        page = garbled.get(JOBS).body
        assert [job["name"] for job in page["items"]] == ["good"]
        assert [(each["name"], each["uid"]) for each in page["unreadable"]] == [("bad", uid_of(garbled))]
        assert [job["name"] for job in garbled.get(JOBS + "?limit=1").body["items"]] == ["good"]
        for path in ("forecast", "audit"):
            found = garbled.get(f"/v1/teams/payments/{path}").body
            assert [each["name"] for each in found["unreadable"]] == ["bad"]
        refreshed = garbled.post("/v1/teams/payments/tz-refresh").body
        assert [each["name"] for each in refreshed["unreadable"]] == ["bad"]

    def test_delete_frees_the_name_and_says_what_it_could_not_read(self, garbled: Front) -> None:
        uid = uid_of(garbled)
        reply = garbled.delete(BAD)
        assert (reply.status, reply.body["state"], reply.body["uid"]) == (200, "DELETED", uid)
        assert reply.body["unreadable"]
        assert garbled.get(BAD).status == 404
        assert garbled.delete(BAD).status == 404
        entry = garbled.get(f"{JOBS}/~{uid}/revisions").body["items"][0]
        assert (entry["what"], entry["after"]["state"]) == ("delete", "DELETED")
        assert entry["before"]["unreadable"] == reply.body["unreadable"]
        assert noted(garbled.memory, "payments").jobs == 1
        assert noted(garbled.memory, "payments").daily_firings == 1440
        assert garbled.delete("/v1/teams/payments/calendars/holidays").status in {200, 204}

    def test_B2_timers_of_every_generation_are_superseded(self, garbled: Front) -> None:
        uid = uid_of(garbled)
        garbled.delete(BAD)
        tombstone = decode_job(garbled.memory.get(keys.job(uid)) or {})
        for generation in (1, 2, 3):  # those of the last one lie there anyway
            instant = from_wire(f"2026-03-01T12:0{generation + 1}:00Z")
            timer = fire_timer(tombstone, instant, ordinal=1, now=instant, limits=Limits(shards=4))
            key = keys.timer(timer)
            key = Key(key.table, key.pk, key.sk[:-15] + f"{generation:015d}")
            garbled.memory.write(Put(key=key, item=encode_timer(timer)))
            assert decode_timer(garbled.memory.get(key) or {}).generation == generation
        assert tombstone.generation > 3
        Machine(garbled).run("2026-03-01T12:07:00Z")
        assert timers_of(garbled, uid) == []
        assert unfinished(garbled, uid) == []
        assert not [item for item in garbled.memory.everything(Table.TIMERS) if item["pk"].startswith("Q#")]

    def test_put_replaces_it_by_another_job_in_one_write(self, garbled: Front) -> None:
        uid = uid_of(garbled)
        reply = garbled.job("bad", {"cron": "*/2 * * * *", "exclude": ["holidays"]})
        assert (reply.status, reply.body["generation"]) == (201, 1)
        assert reply.body["uid"] == uid_of(garbled) != uid
        gone = garbled.get(f"{JOBS}/~{uid}")
        assert gone.status == 409 or gone.body["state"] == "DELETED"
        assert noted(garbled.memory, "payments").jobs == 2
        assert noted(garbled.memory, "payments").daily_firings == 1440 + 720
        assert garbled.get(JOBS).body["unreadable"] == []
        Machine(garbled).run("2026-03-01T12:06:30Z")
        assert timers_of(garbled, uid) == []
        assert unfinished(garbled, uid) == []
        ran = garbled.get(BAD + "/executions").body["items"]
        assert [each["due"][11:16] for each in ran if each["state"] == "SUCCEEDED"] == [
            "12:06",
            "12:04",
            "12:02",
        ]

    def test_put_needs_no_room_for_one_more(self, garbled: Front) -> None:
        garbled.patch("/v1/teams/payments", {"max_jobs": 2}, by=ADMIN)
        assert garbled.job("third", MINUTELY).status == 422
        assert garbled.job("bad", MINUTELY).status == 201

    def test_a_dry_run_changes_nothing(self, garbled: Front) -> None:
        before = garbled.memory.everything(Table.JOBS)
        assert garbled.delete(BAD + "?dry_run=true").body["before"] is None
        assert garbled.put(BAD + "?dry_run=true", {"schedule": MINUTELY, "target": HOOK}).status == 200
        assert garbled.memory.everything(Table.JOBS) == before

    def test_preconditions_hold(self, garbled: Front) -> None:
        body = {"schedule": MINUTELY, "target": HOOK}
        assert garbled.put(BAD, body, headers={"If-None-Match": "*"}).status == 412
        assert garbled.put(BAD, body, headers={"If-Match": '"99"'}).status == 412
        assert garbled.delete(BAD, headers={"If-Match": '"99"'}).status == 412

    def test_whoever_mends_it_meanwhile_is_not_overwritten(self, garbled: Front, front: Front) -> None:
        """The delete finds the mended job at its next try, and deletes that by the usual rules."""
        uid = uid_of(garbled)

        def mended() -> None:
            assert garbled.job("bad", {"cron": "0 7 * * *"}).status == 201

        slow = Front.at("2026-03-01T12:00:30Z", team=False)
        slow.memory = garbled.memory
        slow.through(Meanwhile(garbled.memory, mended))
        reply = slow.delete(BAD)
        assert (reply.status, reply.body.get("unreadable")) == (200, None)
        assert reply.body["uid"] != uid
        assert garbled.get(BAD).status == 404

    def test_bulk_and_purge_take_it_along(self, garbled: Front) -> None:
        reply = garbled.post("/v1/teams/payments/bulk", {"items": [{"name": "bad"}, {"name": "good"}]})
        assert [each["status"] for each in reply.body["results"]] == [200, 200]
        assert garbled.get(JOBS).body["items"] == []


class TestDetail:
    """The job is readable, and what it sends is not."""

    @pytest.fixture(params=["garbled", "gone"])
    def bad(self, front: Front, request: pytest.FixtureRequest) -> Front:
        key = detail_key(front)
        if request.param == "gone":
            front.memory.write(Delete(key=key))
        else:
            garble(front, key, lambda _: {"v": 1, "target": "?"})
        return front

    def test_it_is_told(self, bad: Front) -> None:
        reply = bad.get(BAD)
        assert (reply.status, reply.body["type"]) == (409, UNREADABLE)
        assert [job["name"] for job in bad.get(JOBS).body["items"]] == ["bad", "good"]

    def test_the_same_declaration_mends_it(self, bad: Front) -> None:
        uid, before = uid_of(bad), bad.get(JOBS).body["items"][0]
        reply = bad.job("bad", {**MINUTELY, "exclude": ["holidays"]})
        assert (reply.status, reply.body["uid"]) == (200, uid)
        assert reply.body["revision"] == before["revision"] + 1
        assert (
            reply.body["generation"] == before["generation"]
        )  # when it fires could be read, and is the same
        assert bad.get(BAD).body["target"] == reply.body["target"]
        entry = bad.get(BAD + "/revisions").body["items"][0]
        assert "unreadable" in entry["before"]
        assert entry["before"]["schedule"] == entry["after"]["schedule"]
        assert (
            bad.job("bad", {**MINUTELY, "exclude": ["holidays"]}).body["revision"] == reply.body["revision"]
        )
        Machine(bad).run("2026-03-01T12:04:30Z")
        ran = bad.get(BAD + "/executions").body["items"]
        assert {each["state"] for each in ran if each["due"] < "2026-03-01T12:04:30"} == {"SUCCEEDED"}

    def test_a_worker_that_has_met_it_sends_what_is_mended(self, bad: Front) -> None:
        machine = Machine(bad)
        machine.run("2026-03-01T12:01:30Z")
        assert bad.get(BAD + "/executions?state=DEAD").body["items"]
        bad.job("bad", {**MINUTELY, "exclude": ["holidays"]})
        machine.run("2026-03-01T12:03:30Z")
        ran = bad.get(BAD + "/executions?state=SUCCEEDED").body["items"]
        assert [each["due"][11:16] for each in ran] == ["12:03", "12:02"]

    def test_another_schedule_begins_a_generation(self, bad: Front) -> None:
        generation = bad.get(JOBS).body["items"][0]["generation"]
        assert bad.job("bad", {"cron": "0 7 * * *"}).body["generation"] == generation + 1

    def test_delete_works(self, bad: Front) -> None:
        reply = bad.delete(BAD)
        assert (reply.status, reply.body["state"], reply.body["schedule"]["cron"]) == (
            200,
            "DELETED",
            "* * * * *",
        )
        assert reply.body["unreadable"]
        assert noted(bad.memory, "payments").jobs == 1
        assert noted(bad.memory, "payments").daily_firings == 1440

    def test_it_can_be_paused_and_what_it_sends_stays_as_it_is(self, bad: Front) -> None:
        """What one does in an emergency; nothing is lost that somebody may still mend."""
        stored = [item for item in bad.memory.everything(Table.JOBS) if item["sk"].startswith("P#")]
        dry = bad.post(BAD + "/pause?dry_run=true", {"note": "quiet"}).body
        assert (dry["before"], dry["after"]["state"], dry["after"].get("target")) == (None, "PAUSED", None)
        reply = bad.post(BAD + "/pause", {"note": "quiet"})
        assert (reply.status, reply.body["state"], reply.body["state_reason"]) == (200, "PAUSED", "quiet")
        assert reply.body["unreadable"]
        again = bad.post(BAD + "/pause", {"note": "quiet"})
        assert (again.status, again.body["revision"]) == (200, reply.body["revision"])
        assert [item for item in bad.memory.everything(Table.JOBS) if item["sk"].startswith("P#")] == stored
        entry = bad.get(BAD + "/revisions").body["items"][0]
        assert (entry["what"], entry["after"]["state"]) == ("pause", "PAUSED")
        for side in ("before", "after"):
            assert entry[side]["unreadable"] == reply.body["unreadable"]
            assert "target" not in entry[side]
        assert noted(bad.memory, "payments").daily_firings == 1440
        Machine(bad).run("2026-03-01T12:04:30Z")
        assert {each["state"] for each in bad.get(BAD + "/executions").body["items"]} <= {"CANCELLED"}
        assert bad.post(BAD + "/pause", {"note": "other"}).status == 409
        assert bad.post(BAD + "/pause", headers={"If-Match": '"1"'}).status == 412
        assert bad.post(BAD + "/resume").status == 409

    def test_a_pause_ends_once_it_is_mended(self, bad: Front) -> None:
        bad.post(BAD + "/pause")
        mended = bad.job("bad", {**MINUTELY, "exclude": ["holidays"]})
        assert (mended.status, mended.body["state"]) == (200, "PAUSED")
        assert bad.post(BAD + "/resume").body["state"] == "ACTIVE"
        Machine(bad).run("2026-03-01T12:03:30Z")
        ran = bad.get(BAD + "/executions?state=SUCCEEDED").body["items"]
        assert [each["due"][11:16] for each in ran] == ["12:03", "12:02", "12:01"]

    def test_a_lost_pause_is_answered_under_its_key(self, bad: Front) -> None:
        key = {"Idempotency-Key": "k"}
        first = bad.post(BAD + "/pause", headers=key)
        again = bad.post(BAD + "/pause", headers=key)
        assert (again.body, again.headers["Idempotency-Replayed"]) == (first.body, "true")

    def test_a_patch_cannot_keep_what_it_does_not_name(self, bad: Front) -> None:
        assert bad.patch(BAD, {"tier": "bulk"}).status == 409


def test_what_a_later_version_wrote_is_refused_as_before(front: Front) -> None:
    later = {"job": keys.job(uid_of(front)), "detail": detail_key(front)}
    for key in later.values():
        item = dict(front.memory.get(key) or {})
        facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        front.memory.write(Put(key=key, item={**facts, "v": 2}))
        assert front.delete(BAD).status == 503
        assert front.job("bad", MINUTELY).status == 503
        assert front.get(BAD).status == 503
        assert not isinstance(front.memory.write(Put(key=key, item=facts)), Lost)


def test_R10_a_pause_that_expires_at_it_is_set_aside_with_the_reason(front: Front) -> None:
    for name in ("bad", "good"):
        front.post(f"{JOBS}/{name}/pause", {"until": "2026-03-01T12:05:00Z"})
    garble(front, keys.job(uid_of(front)), WHOLE["all words"])
    Machine(front).run("2026-03-01T12:06:30Z")
    assert front.get(JOBS + "/good").body["state"] == "ACTIVE"
    agenda = [item for item in front.memory.everything(Table.CONTROL) if item["pk"].startswith("A#")]
    [aside] = [item for item in agenda if uid_of(front) in item["sk"]]
    assert f"job J#{uid_of(front)}/J" in aside["why"]
    assert front.job("bad", MINUTELY).status == 201
    Machine(front).run("2026-03-01T13:08:30Z")
    assert front.get(BAD).body["state"] == "ACTIVE"
    assert not [item for item in front.memory.everything(Table.CONTROL) if "why" in item]


def test_a_name_that_does_not_say_whose_it_is_hides_no_other(front: Front) -> None:
    garble(front, keys.name_claim("payments", "bad"), lambda _: {"v": 1})
    assert [job["name"] for job in front.get(JOBS).body["items"]] == ["good"]
    assert front.get(BAD).status == 409
    assert front.job("bad", MINUTELY).status == 409
