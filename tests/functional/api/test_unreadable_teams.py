"""Teams whose stored item nobody can read: told to whom they belong, replaced by an administrator's PUT."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fencepost.application import keys
from fencepost.application.codec_job import decode_team
from fencepost.application.store import Item, Put, Table
from fencepost.domain.model import Team
from fencepost.runtime import scanning
from tests.support.api import ADMIN, OWNER, OWNER_ROLE, STRANGER, Front
from tests.support.clients import Machine
from tests.support.meanwhile import Meanwhile

TEAM = "/v1/teams/payments"
JOBS = TEAM + "/jobs"
UNREADABLE = "urn:fencepost:problem:unreadable-state"
DECLARED = {"principals": [OWNER_ROLE], "max_concurrency": 7, "notify_on": ["dead"]}

Garble = Callable[[Item], dict[str, Any]]


def without(*names: str) -> Garble:
    return lambda item: {name: value for name, value in item.items() if name not in names}


OWNED: dict[str, Garble] = {
    "without its version": without("v"),
    "without its cap": without("cap"),
    "with a revision that is a word": lambda item: {**item, "rev": "?"},
    "with a revision that is a list": lambda item: {**item, "rev": [3]},
    "with tiers that nobody knows": lambda item: {**item, "tiers": ["gold"]},
    "with a retention beyond all time": lambda item: {**item, "retention": 10**30},
    "with halts that are a word": lambda item: {**item, "halts": "?"},
    "with a principal that is a number": lambda item: {**item, "principals": [1, OWNER_ROLE], "v": "?"},
}
NOBODYS: dict[str, Garble] = {
    "with nothing in it": lambda _: {"v": 1},
    "with nothing at all": lambda _: {},
    "all words": lambda item: {name: value if name == "v" else "?" for name, value in item.items()},
    "all lists": lambda item: {
        name: value if name == "v" else [1, {"a": None}] for name, value in item.items()
    },
    "without its principals": without("principals"),
}


def facts(front: Front) -> dict[str, Any]:
    item = front.memory.get(keys.team("payments")) or {}
    return {name: value for name, value in item.items() if name not in {"pk", "sk"}}


def garble(front: Front, how: Garble) -> None:
    front.memory.write(Put(key=keys.team("payments"), item=how(facts(front))))


def stored(front: Front) -> Team:
    return decode_team(front.memory.get(keys.team("payments")) or {})


@pytest.fixture
def front() -> Front:
    made = Front.at("2026-03-01T12:00:30Z")
    made.post(TEAM + "/keys", {"scheme": "v1"})
    made.job("minutely", {"cron": "* * * * *"})
    return made


@pytest.fixture(params=OWNED)
def owned(front: Front, request: pytest.FixtureRequest) -> Front:
    garble(front, OWNED[request.param])
    return front


@pytest.fixture(params=NOBODYS)
def nobodys(front: Front, request: pytest.FixtureRequest) -> Front:
    garble(front, NOBODYS[request.param])
    return front


@pytest.fixture(params=[*OWNED, *NOBODYS])
def garbled(front: Front, request: pytest.FixtureRequest) -> Front:
    garble(front, {**OWNED, **NOBODYS}[request.param])
    return front


def tried(front: Front, by: str) -> list[Any]:
    """Reads and writes of every kind."""
    return [
        front.get(TEAM, by=by),
        front.get(JOBS, by=by),
        front.post(TEAM + "/pause", by=by),
        front.patch(TEAM, {"notify_on": ["dead"]}, by=by),
        front.post(JOBS + "/minutely/pause", by=by),
        front.post(TEAM + "/bulk", {"items": [{"name": "minutely"}]}, by=by),
    ]


def test_its_owners_are_told_what_is_wrong_and_who_can_help(owned: Front) -> None:
    for reply in (*tried(owned, OWNER), owned.put(TEAM, DECLARED)):
        assert (reply.status, reply.body["type"]) == (409, UNREADABLE)
        assert "team payments is there and cannot be read" in reply.body["detail"]
        assert "an administrator can declare it in full with PUT" in reply.body["detail"]
    assert [entry["what"] for entry in owned.get(TEAM + "/revisions").body["items"]][-1] == "create"
    assert owned.delete(TEAM).status == 403


def test_E08_strangers_are_told_nothing_and_nobody_is_where_its_principals_are_gone(
    nobodys: Front, front: Front
) -> None:
    for reply in (*tried(nobodys, OWNER), nobodys.put(TEAM, DECLARED), nobodys.get(TEAM + "/revisions")):
        assert (reply.status, reply.body["type"]) == (403, "urn:fencepost:problem:forbidden")
    none = [(each.status, each.body) for each in tried(front, STRANGER)]
    front.memory.write(Put(key=keys.team("payments"), item={"v": 1, "principals": [OWNER_ROLE]}))
    assert [(each.status, each.body) for each in tried(front, STRANGER)] == none


def test_lists_show_the_rest_and_name_it_to_whom_it_belongs(garbled: Front, request: Any) -> None:
    for name in ("ledger", "risk"):
        garbled.put(f"/v1/teams/{name}", {"principals": [OWNER_ROLE]}, by=ADMIN)
    page = garbled.get("/v1/teams", by=ADMIN).body
    assert [team["name"] for team in page["items"]] == ["ledger", "risk"]
    assert page["unreadable"] == ["payments"]
    mine = garbled.get("/v1/teams").body["unreadable"]
    assert mine == ([] if request.node.callspec.params["garbled"] in NOBODYS else ["payments"])
    assert garbled.get("/v1/teams", by=STRANGER).body["unreadable"] == []
    one = garbled.get("/v1/teams?limit=1", by=ADMIN).body
    rest = garbled.get(f"/v1/teams?limit=5&cursor={one['next']}", by=ADMIN).body
    assert (one["unreadable"], rest["unreadable"]) == ([], ["payments"])
    garbled.put(TEAM, DECLARED, by=ADMIN)
    assert garbled.get("/v1/teams", by=ADMIN).body["unreadable"] == []


def test_administrators_are_told_and_see_what_it_was(garbled: Front) -> None:
    for reply in tried(garbled, ADMIN):
        assert (reply.status, reply.body["type"]) == (409, UNREADABLE)
    assert garbled.delete(TEAM, by=ADMIN).status == 409
    entries = garbled.get(TEAM + "/revisions", by=ADMIN).body["items"]
    assert entries[-1]["after"]["principals"] == [OWNER_ROLE]


def test_a_complete_put_of_an_administrator_replaces_it(garbled: Front, front: Front) -> None:
    newest = garbled.get(TEAM + "/revisions", by=ADMIN).body["items"][0]["revision"]
    reply = garbled.put(TEAM, DECLARED, by=ADMIN)
    assert (reply.status, reply.body["max_concurrency"]) == (200, 7)
    assert (reply.body["revision"], reply.etag) == (newest + 1, f'"{newest + 1}"')
    entry, *_ = garbled.get(TEAM + "/revisions").body["items"]
    assert (entry["what"], entry["after"]["max_concurrency"]) == ("edit", 7)
    assert set(entry["before"]) == {"unreadable"}
    assert garbled.get(TEAM).body == reply.body
    assert garbled.put(TEAM, DECLARED, by=ADMIN).body["revision"] == reply.body["revision"]
    assert garbled.post(TEAM + "/resume").status == 200
    Machine(garbled).run("2026-03-01T12:03:30Z")
    ran = garbled.get(JOBS + "/minutely/executions?state=SUCCEEDED").body["items"]
    assert "2026-03-01T12:03:00.000Z" in {each["due"] for each in ran}


def test_what_came_due_meanwhile_runs_after_the_next_sweep(front: Front) -> None:
    garble(front, without("cap"))
    machine = Machine(front)
    machine.run("2026-03-01T12:04:30Z")
    front.put(TEAM, DECLARED, by=ADMIN)
    machine.run("2026-03-01T13:30:30Z")
    early = JOBS + "/minutely/executions?before=2026-03-01T12:05:00Z"
    assert {each["state"] for each in front.get(early).body["items"]} == {"QUEUED"}
    found = scanning.sweep(front.stage).run(front.clock.now())
    assert (found.forgotten_executions, found.unreadable) == (4, [])
    machine.run("2026-03-01T13:33:30Z")
    assert [each["state"] for each in front.get(early).body["items"]] == ["SUCCEEDED"] * 4


def test_what_no_declaration_says_goes_on_where_it_can_be_read(owned: Front) -> None:
    before = facts(owned)
    owned.put(TEAM, DECLARED, by=ADMIN)
    after = facts(owned)
    for name in ("keys", "external_id", "created"):
        assert after[name] == before[name]
    assert owned.get(TEAM + "/keys").body["items"]


def test_what_its_role_trusts_is_drawn_anew_where_it_is_lost(front: Front) -> None:
    garble(front, NOBODYS["with nothing in it"])
    assert front.put(TEAM, DECLARED, by=ADMIN).body["external_id"]


@pytest.mark.parametrize(
    ("halts", "held"),
    [
        (lambda halts: halts, {"bulk"}),
        (lambda halts: [*halts, {"tier": "critical"}], {"critical", "standard", "bulk", "recovery"}),
        (lambda _: "?", {"critical", "standard", "bulk", "recovery"}),
        (None, set()),
    ],
)
def test_what_was_stopped_does_not_start_because_it_was_spoiled(
    front: Front, halts: Callable[[Any], Any] | None, held: set[str]
) -> None:
    front.post(TEAM + "/pause", {"tiers": ["bulk"], "note": "moving"})

    def spoiled(item: Mapping[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in item.items() if name not in {"cap", "halts"}}
        return rest if halts is None else {**rest, "halts": halts(item["halts"])}

    garble(front, spoiled)
    front.put(TEAM, DECLARED, by=ADMIN)
    assert {each["tier"] for each in front.get(TEAM).body["pauses"]} == held
    front.post(TEAM + "/resume")
    assert front.get(TEAM).body["pauses"] == []


def test_preconditions_hold(front: Front) -> None:
    garble(front, without("cap"))
    assert front.put(TEAM, DECLARED, by=ADMIN, headers={"If-None-Match": "*"}).status == 412
    assert front.put(TEAM, DECLARED, by=ADMIN, headers={"If-Match": '"9"'}).status == 412
    assert front.put(TEAM, DECLARED, by=ADMIN, headers={"If-Match": '"2"'}).status == 200


def test_a_faulty_or_partial_declaration_changes_nothing(front: Front) -> None:
    garble(front, without("cap"))
    before = front.memory.everything(Table.JOBS)
    assert front.put(TEAM, {"max_concurrency": 0}, by=ADMIN).status == 422
    assert front.patch(TEAM, {"max_concurrency": 5}, by=ADMIN).status == 409
    assert front.memory.everything(Table.JOBS) == before


def test_whoever_mends_it_meanwhile_is_not_overwritten(garbled: Front) -> None:
    """The second finds the mended team at its next try, and changes that by the usual rules."""

    def mended() -> None:
        assert garbled.put(TEAM, {**DECLARED, "max_jobs": 5}, by=ADMIN).status == 200

    slow = Front.at("2026-03-01T12:00:30Z", team=False)
    slow.memory = garbled.memory
    slow.through(Meanwhile(garbled.memory, mended))
    reply = slow.put(TEAM, DECLARED, by=ADMIN)
    first, second, *_ = garbled.get(TEAM + "/revisions").body["items"]
    assert (reply.status, reply.body["revision"]) == (200, first["revision"])
    assert set(second["before"]) == {"unreadable"}
    assert first["before"] == second["after"]


def test_another_team_of_the_name_stays_hidden(front: Front) -> None:
    """The trail says where this one began, though the item no longer does."""
    front.delete(TEAM + "?purge=true", by=ADMIN)
    Machine(front).run("2026-03-01T12:20:00Z")
    garble(front, without("cap"))
    assert front.put(TEAM, DECLARED, by=ADMIN).status == 201
    began = stored(front).revision
    assert [each["what"] for each in front.get(TEAM + "/revisions").body["items"]] == ["create"]
    assert front.get(TEAM + "/keys").body["items"] == []
    garble(front, without("cap", "born"))
    assert front.put(TEAM, DECLARED, by=ADMIN).status == 200
    assert stored(front).born == began
    assert [each["what"] for each in front.get(TEAM + "/revisions").body["items"]] == ["edit", "create"]


def test_what_a_later_version_wrote_is_refused_as_before(front: Front) -> None:
    before = facts(front)
    garble(front, lambda item: {**item, "v": 2})
    assert front.put(TEAM, DECLARED, by=ADMIN).status == 503
    assert front.get(TEAM).status == 503
    assert facts(front) == {**before, "v": 2}
