"""Older code beside a later version: what it does not know survives its writes, and a later shape is passed by, whole."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError
from fencepost.application.messages import read_grave, read_scan, read_upkeep, read_wake
from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import Key, Put, Table
from fencepost.domain.instants import from_wire
from tests.support.api import ADMIN, Front
from tests.support.clients import Machine
from tests.upgrade.kinds import kind_of
from tests.upgrade.story import MINUTELY, PAYMENTS, START, Story

NOVEL = {"something": ["that", 0, "knows"]}
IN_PLACE = {"team", "job", "execution", "backfill", "dead letter", "calendar", "stage"}
"""The kinds that are written as differences; all others are written once, or replaced whole."""


def stored(front, kind, of=""):
    """The items of a kind, of the job or team whose uid or name is in their key."""
    found = [(table, item) for table in Table for item in front.memory.everything(table)]
    return [
        (Key(table, item["pk"], item["sk"]), item)
        for table, item in found
        if kind_of(table, item) == kind and of in f"{item['pk']}/{item['sk']}/{item.get('x', '')}"
    ]


def rewrite(front, key, item):
    rest = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
    front.memory.write(Put(key=key, item=rest))


class Told(Story):
    """The story with an unknown attribute in every item that is changed in place, as soon as it lies there."""

    def __init__(self):
        super().__init__()
        self.marked = {}

    def minutes(self, count):
        self._mark()
        super().minutes(count)

    def ask(self, method, path, body=None, **how):
        self._mark()
        return super().ask(method, path, body, **how)

    def _mark(self):
        for kind in IN_PLACE:
            for key, item in stored(self.front, kind):
                if key not in self.marked:
                    self.marked[key] = kind, {**item, "novel": NOVEL}
                    rewrite(self.front, key, {**item, "novel": NOVEL})


def test_U2_what_this_version_does_not_know_survives_all_that_it_writes():
    told = Told()
    told.tell()
    written = set()
    for key, (kind, before) in told.marked.items():
        now = told.front.memory.get(key)
        if now is None or (kind == "team" and "born-again" in key.pk):
            continue  # a dead letter that was sent again, a team that began anew
        assert now.get("novel") == NOVEL, (kind, key)
        if now != before:
            written.add(kind)
    assert written == IN_PLACE - {"dead letter"} | ({"dead letter"} & written)


@pytest.fixture
def front():
    return Front.at(START)


@pytest.fixture
def uid(front):
    """`theirs` will have something that a later version wrote; `ours` is its neighbour in every bucket."""
    front.job("theirs", MINUTELY, overlap="skip")
    front.job("ours", MINUTELY)
    front.put("/v1/teams/others", {"principals": []}, by=ADMIN)
    claim = front.memory.get(keys.name_claim("payments", "theirs"))
    Machine(front).run(front.clock.now() + timedelta(minutes=2))
    return claim["uid"]


def ended(front, job):
    """The minutes of a job whose firing is over, and how."""
    items = front.get(f"{PAYMENTS}/jobs/{job}/executions?limit=100").body["items"]
    return {item["due"][11:16]: item["state"] for item in items if item["ended_at"]}


ASKED_AGAIN = {QueueName.SCAN, QueueName.PUMP}
"""What is asked for there is asked for anew each minute."""
PINNED = ["job", "timer", "execution", "detail", "lock"]


@pytest.mark.parametrize("kind", PINNED)
def test_U3_a_later_shape_stays_whole_while_its_neighbours_fire_and_fires_when_it_is_known(front, uid, kind):
    """Nothing of it is set aside, buried, failed or written over; the later version finds all there was."""
    mine = [pair for pair in stored(front, kind, uid) if kind != "execution" or pair[1]["state"] == "QUEUED"]
    assert mine
    later = {key: {**item, "v": 2, "novel": NOVEL} for key, item in mine}
    for key, item in later.items():
        rewrite(front, key, item)
    Machine(front).run("2026-03-01T12:08:30Z")
    assert {key: front.memory.get(key) for key in later} == later
    assert set(ended(front, "ours").values()) == {"SUCCEEDED"}
    assert {f"12:0{minute}" for minute in range(3, 8)} <= ended(front, "ours").keys()
    assert stored(front, "quarantined timer") == stored(front, "dead letter") == []
    for key, item in mine:
        rewrite(front, key, item)
    Machine(front).run("2026-03-01T12:14:30Z")
    over = ended(front, "theirs")
    assert set(over.values()) <= {"SUCCEEDED", "SKIPPED"}
    assert {"12:12", "12:13"} <= over.keys()
    unfinished = [item for _, item in stored(front, "execution", uid) if item["state"] == "QUEUED"]
    assert all(item["due"] > (from_wire("2026-03-01T12:14:00Z")).timestamp() * 1000 for item in unfinished)


def test_U3_a_timer_that_nobody_can_read_stays_while_its_job_is_a_later_versions(front, uid):
    [(key, item)] = stored(front, "job", uid)
    rewrite(front, key, {**item, "v": 2})
    [(where, timer)] = stored(front, "timer", uid)
    rewrite(front, where, {name: value for name, value in timer.items() if name != "due"})
    before = front.memory.get(key), front.memory.get(where)
    Machine(front).run("2026-03-01T12:08:30Z")
    assert (front.memory.get(key), front.memory.get(where)) == before
    rewrite(front, key, item)
    Machine(front).run("2026-03-01T12:10:30Z")
    assert (front.memory.get(key)["state"], front.memory.get(where)) == ("ERROR", None)


def test_U3_an_api_call_that_needs_a_later_shape_is_refused_with_the_reason_and_changes_nothing(front, uid):
    [(key, item)] = stored(front, "job", uid)
    rewrite(front, key, {**item, "v": 2})
    before = front.memory.get(key)
    for reply in (
        front.get(PAYMENTS + "/jobs/theirs"),
        front.patch(PAYMENTS + "/jobs/theirs", {"tier": "bulk"}),
        front.post(PAYMENTS + "/jobs/theirs/pause"),
        front.delete(PAYMENTS + "/jobs/theirs"),
    ):
        assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
        assert "version 2" in reply.body["detail"]
    assert front.memory.get(key) == before


def test_U3_a_slot_of_a_later_version_is_held(front, uid):
    front.patch(PAYMENTS, {"max_concurrency": 1}, by=ADMIN)
    slot = keys.slot("payments", 0, front.stage.settings.limits.slots_per_lane)
    front.memory.write(Put(key=slot, item={"v": 2, "who": "somebody"}))
    kept = front.memory.get(slot)
    Machine(front).run("2026-03-01T12:06:30Z")
    assert front.memory.get(slot) == kept
    assert "12:05" not in ended(front, "ours")


@pytest.mark.parametrize("read", [read_wake, read_scan, read_upkeep, read_grave])
def test_U3_a_message_of_a_later_version_is_known_as_such(read):
    with pytest.raises(NewerShapeError, match="version 2, this service knows up to 1"):
        read('{"v":2,"shape":"unheard of"}')


@pytest.mark.parametrize("queue", [name for name in QueueName if name not in ASKED_AGAIN])
def test_U3_a_message_of_a_later_version_waits_for_it_on_every_queue(front, queue):
    """It comes back each minute; where it comes too often, it is the dead-letter queue that keeps it."""
    body = '{"v":2,"shape":"unheard of"}'
    front.stage.queues.send([Outgoing(queue=queue, body=body)])
    Machine(front).run("2026-03-01T12:30:30Z")
    kept = [each.body for name in QueueName for each in front.stage.queues.waiting(name)]
    assert kept.count(body) == 1
    assert stored(front, "message set aside") == []


def test_U3_an_errand_of_a_kind_that_only_a_later_version_knows_is_left_to_it(front):
    body = '{"v":1,"errand":"compact#payments#report"}'
    front.stage.queues.send([Outgoing(queue=QueueName.PUMP, body=body)])
    Machine(front).run("2026-03-01T12:03:30Z")
    assert [each.body for each in front.stage.queues.waiting(QueueName.PUMP)].count(body) == 1
    assert stored(front, "message set aside") == []
