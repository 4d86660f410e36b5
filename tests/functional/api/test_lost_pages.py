"""Requests that do many things, and die anywhere between: the repeat ends where the first would have, and tells the truth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from fencepost.adapters.seam import Around, PortCall
from fencepost.application import keys
from fencepost.application.store import Delete
from fencepost.domain.outcome import Failed
from functions.api.handler import build
from tests.support.api import HOOK, NINE, Front, Reply
from tests.support.clients import Machine
from tests.support.faults import Fault, FaultAt, Killed
from tests.support.steps import Gate, behind

TEAM = "/v1/teams/payments"
JOBS = TEAM + "/jobs"
BULK = TEAM + "/bulk"
REDRIVE = TEAM + "/dead-letters/redrive"
KEY = {"Idempotency-Key": "k-1"}
LATER = {"schedule": {"in": "PT30S"}, "target": HOOK}
ITEMS = {
    "items": [
        {"name": "new", "job": {"schedule": NINE, "target": HOOK}},
        {"name": "later", "job": LATER},
        {"name": "old"},
        {"name": "kept", "job": {"schedule": NINE, "target": HOOK, "tier": "bulk"}, "revision": 1},
        {"name": "none"},
    ]
}


def at_risk(front: Front, around: Around) -> Front:
    """The same stage through a process whose ports are behind `around`."""
    gate = Gate(around)
    risky = replace(front, handler=build(behind(front.stage, gate)))
    gate.open = True
    return risky


def said_again(front: Front, around: Around, path: str, body: Any) -> Reply:
    """The answer of the request; where the first copy died, that of the second, a minute later."""
    with suppress(Killed):
        reply = at_risk(front, around).post(path, body, headers=KEY)
        if reply.status < 300:
            return reply
    front.clock.advance(seconds=61)
    return front.post(path, body, headers=KEY)


def places(opened: Callable[[], Front], path: str, body: Any) -> int:
    clean = FaultAt()
    at_risk(opened(), clean).post(path, body, headers=KEY)
    return len(clean.calls)


def with_jobs() -> Front:
    made = Front.at("2026-03-01T12:00:00Z")
    made.job("old")
    made.job("kept")
    return made


def trail(front: Front, name: str) -> list[str]:
    return [entry["what"] for entry in front.get(f"{JOBS}/{name}/revisions").body["items"]]


@pytest.mark.parametrize("fault", [Fault.KILLED_BEFORE, Fault.KILLED_AFTER])
def test_a_bulk_call_that_dies_anywhere_is_answered_as_if_it_had_not(fault: Fault) -> None:
    first = with_jobs().post(BULK, ITEMS, headers=KEY).body["results"]
    assert [each["status"] for each in first] == [201, 201, 200, 200, 404]
    for place in range(places(with_jobs, BULK, ITEMS)):
        front = with_jobs()
        old = front.get(JOBS + "/old").body["uid"]
        reply = said_again(front, FaultAt(place, fault), BULK, ITEMS)
        results = reply.body["results"]
        expected = [201, 422, 200, 200, 404] if nothing_done(results) else [201, 201, 200, 200, 404]
        assert (reply.status, [each["status"] for each in results]) == (200, expected), place
        assert [each["revision"] for each in results if each["name"] != "later"] == [1, 2, 2, None]
        assert trail(front, "new") == ["create"]
        assert trail(front, "kept") == ["edit", "create"]
        assert [entry["what"] for entry in front.get(f"{JOBS}/~{old}/revisions").body["items"]] == [
            "delete",
            "create",
        ]
        again = front.post(BULK, ITEMS, headers=KEY)
        assert (again.body, again.headers["Idempotency-Replayed"]) == (reply.body, "true")


def nothing_done(results: list[dict[str, Any]]) -> bool:
    """The first copy died before it came to the delay, which has run out by the time of the second."""
    return bool(results[1]["status"] == 422)


@pytest.mark.parametrize("fault", [Fault.NO_ANSWER_DONE, Fault.NO_ANSWER_LOST, Fault.BUSY])
def test_an_item_whose_write_was_not_answered_is_told_as_it_is(fault: Fault) -> None:
    for place in range(places(with_jobs, BULK, ITEMS)):
        front = with_jobs()
        results = said_again(front, FaultAt(place, fault), BULK, ITEMS).body["results"]
        for each in results:
            there = front.get(f"{JOBS}/{each['name']}")
            if each["status"] == 201:
                assert there.status == 200, place
            elif each["name"] == "old" and each["status"] == 200:
                assert there.status == 404, place


def test_what_others_changed_since_is_not_undone_by_the_repeat() -> None:
    front, last = with_jobs(), places(with_jobs, BULK, ITEMS) - 1
    with pytest.raises(Killed):
        at_risk(front, FaultAt(last, Fault.KILLED_BEFORE)).post(BULK, ITEMS, headers=KEY)
    front.patch(JOBS + "/new", {"tier": "critical"})
    front.clock.advance(seconds=61)
    results = front.post(BULK, ITEMS, headers=KEY).body["results"]
    assert [(each["status"], each["revision"]) for each in results[:2]] == [(201, 2), (201, 1)]
    assert front.get(JOBS + "/new").body["tier"] == "critical"


def test_two_copies_that_both_work_do_each_item_once() -> None:
    """The first is slow and not dead; what the second has done meanwhile, the first answers as done or has no time for. The
    first answer that was kept stands.
    """
    front, met = with_jobs(), list[Reply]()

    class Slow:
        def __call__(self, call: PortCall, proceed: Callable[[], Any], /) -> Any:
            if call.method == "transact" and not met:
                met.append(Reply(status=0, body=None, headers={}))
                front.clock.advance(seconds=61)
                met.append(front.post(BULK, ITEMS, headers=KEY))
            return proceed()

    first = at_risk(front, Slow()).post(BULK, ITEMS, headers=KEY)
    second = met[-1]
    assert [each["status"] for each in second.body["results"]] == [201, 422, 200, 200, 404]
    statuses = [each["status"] for each in first.body["results"]]
    assert statuses == [201, 503, 503, 503, 503]
    assert front.post(BULK, ITEMS, headers=KEY).body == second.body
    assert trail(front, "new") == ["create"]
    assert trail(front, "kept") == ["edit", "create"]


def test_a_key_that_is_used_again_after_its_time_meets_no_old_marks() -> None:
    front = with_jobs()
    front.post(BULK, {"items": [{"name": "kept"}]}, headers=KEY)
    front.job("kept")
    front.clock.advance(hours=25)
    front.memory.write(Delete(key=keys.idempotency("payments", "k-1")))
    assert front.post(BULK, {"items": [{"name": "kept"}]}, headers=KEY).body["results"][0]["status"] == 200
    assert front.get(JOBS + "/kept").status == 404


def with_letters() -> Front:
    made = Front.at("2026-03-01T12:00:00Z")
    made.stage.targets.then = Failed(status=500, error="answered 500")
    for number in range(4):
        made.job(f"job-{number}", {"in": f"PT{10 + number}S"}, retry={"max_attempts": 1})
    Machine(made).run("2026-03-01T12:02:00Z")
    made.delete(JOBS + "/job-2")
    return made


def dead(front: Front) -> list[str]:
    return [each["job"] for each in front.get(TEAM + "/dead-letters").body["items"]]


@pytest.mark.parametrize("fault", Fault)
def test_a_page_of_redrives_that_dies_anywhere_redrives_that_page_and_no_other(fault: Fault) -> None:
    page = {"limit": 3}
    whole = with_letters()
    assert dead(whole) == ["job-3", "job-2", "job-1", "job-0"]
    first = whole.post(REDRIVE, page, headers=KEY).body
    names = [each.partition("-")[0] for each in first["redriven"]]
    assert (len(names), len(first["left"]), first["more"]) == (2, 1, True)
    for place in range(places(with_letters, REDRIVE, page)):
        front = with_letters()
        reply = said_again(front, FaultAt(place, fault), REDRIVE, page)
        assert reply.status == 200, place
        assert "job-0" in dead(front), place
        left = {each["id"] for each in reply.body["left"]}
        told = {*reply.body["redriven"], *left}
        assert (len(told), len(reply.body["redriven"]) + len(left)) == (3, 3), place
        gone = {each["id"] for each in front.get(TEAM + "/dead-letters").body["items"]}
        assert gone.isdisjoint(reply.body["redriven"]), place
        assert left <= gone, place
        if fault in {Fault.KILLED_BEFORE, Fault.KILLED_AFTER}:
            assert (set(reply.body["redriven"]), reply.body["more"]) == (set(first["redriven"]), True), place


def test_what_was_redriven_and_died_again_is_not_redriven_by_the_repeat() -> None:
    front, page = with_letters(), {"limit": 2}
    last = places(with_letters, REDRIVE, page) - 1
    with pytest.raises(Killed):
        at_risk(front, FaultAt(last, Fault.KILLED_BEFORE)).post(REDRIVE, page, headers=KEY)
    assert dead(front) == ["job-2", "job-1", "job-0"]
    Machine(front).run("2026-03-01T12:06:00Z")
    assert dead(front) == ["job-3", "job-2", "job-1", "job-0"]
    calls = len(front.stage.targets.calls)
    reply = front.post(REDRIVE, page, headers=KEY).body
    assert (len(reply["redriven"]), len(reply["left"])) == (1, 1)
    Machine(front).run("2026-03-01T12:10:00Z")
    assert len(front.stage.targets.calls) == calls


def test_a_slow_page_is_repeated_from_where_it_stopped() -> None:
    """However late the repeat comes, it has its own time."""
    front = with_jobs()
    with pytest.raises(Killed):
        at_risk(front, FaultAt(3, Fault.KILLED_BEFORE)).post(BULK, ITEMS, headers=KEY)
    front.clock.advance(minutes=20)
    results = front.post(BULK, ITEMS, headers=KEY).body["results"]
    assert [each["status"] for each in results if each["name"] != "later"] == [201, 200, 200, 404]
