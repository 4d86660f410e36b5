"""A host that keeps failing: its team is told of each opening of its circuit, at least once, and under one id."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from fencepost.application import keys
from fencepost.application.store import Put, Table
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification
from fencepost.domain.outcome import Failed, TimedOut
from tests.support.api import Front
from tests.support.clients import Machine
from tests.support.faults import Fault, FaultAt
from tests.support.steps import delivering_once, errands_left, in_peace
from tests.support.world import OK

PAYMENTS = "/v1/teams/payments"
HOST = "dead.example.com"
HOOK = {"webhook": {"url": f"https://{HOST}/hook"}}
SILENT = TimedOut(error="no answer within 10 s")


@pytest.fixture
def front():
    opened = Front.at("2026-03-01T12:00:00Z")
    opened.stage.targets.then = SILENT
    return opened


@pytest.fixture
def machine(front):
    return Machine(front)


def failing(front, *, jobs=6, cron="1 12 * * *", **more):
    retry = {"max_attempts": 20, "initial_delay_seconds": 5, "max_delay_seconds": 20}
    for number in range(jobs):
        assert front.job(f"job-{number}", {"cron": cron}, target=HOOK, retry=retry, **more).status == 201


def openings(front):
    return [notice for notice in front.stage.notifier.told if notice.kind.value == "circuit_open"]


def test_R03_the_owner_is_told_when_a_circuit_opens(front, machine):
    failing(front)
    machine.run("2026-03-01T12:03:00Z")
    [notice] = openings(front)
    assert (notice.team, notice.job, notice.host) == ("payments", "", HOST)
    assert notice.reason == "failures in a row: 5; it is called again when a probe gets through"
    assert notice.at >= from_wire("2026-03-01T12:01:00Z")
    assert errands_left(front) == []


def test_R03_a_probe_that_fails_is_no_new_opening(front, machine):
    failing(front)
    machine.run("2026-03-01T12:06:00Z")
    probes = [call.at for call in front.stage.targets.calls if call.at > from_wire("2026-03-01T12:01:30Z")]
    assert len(probes) >= 3
    assert len(openings(front)) == 1


def test_R03_a_circuit_that_closed_and_opens_again_is_told_again_under_another_id(front, machine):
    failing(front, cron="1-59/10 12 * * *")
    machine.run("2026-03-01T12:03:00Z")
    front.stage.targets.then = OK
    machine.run("2026-03-01T12:10:30Z")
    front.stage.targets.then = SILENT
    machine.run("2026-03-01T12:14:00Z")
    first, second = openings(front)
    assert first.id != second.id
    assert second.at > from_wire("2026-03-01T12:11:00Z")


def test_R03_an_opening_long_after_the_last_one_is_a_new_one_though_nobody_closed_it(front, machine):
    key = keys.circuit(f"payments/{HOST}")
    front.memory.write(Put(key=key, item={"v": 1, "until": to_ms(from_wire("2026-03-01T10:59:00Z"))}))
    failing(front)
    machine.run("2026-03-01T12:03:00Z")
    assert len(openings(front)) == 1


def test_R03_whoever_does_not_want_to_be_told_is_not(front, machine):
    front.patch(PAYMENTS, {"notify_on": ["dead"]})
    failing(front)
    machine.run("2026-03-01T12:03:00Z")
    assert openings(front) == []
    assert front.memory.get(keys.circuit(f"payments/{HOST}")) is not None


def test_R03_a_circuit_that_nobody_can_read_is_closed_and_stops_no_firing(front, machine):
    key = keys.circuit(f"payments/{HOST}")
    front.memory.write(Put(key=key, item={"v": 1, "until": "soon", "probe": [10**40]}))
    failing(front)
    machine.run("2026-03-01T12:03:00Z")
    assert len(openings(front)) == 1
    assert isinstance((front.memory.get(key) or {})["until"], int)


@dataclass
class SameHost:
    """A team whose notices go to the host that fails: none is taken."""

    tried: list[tuple[str, str]] = field(default_factory=list)

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        del targets
        self.tried.append((notification.kind.value, notification.id))
        return False


def test_R03_notices_to_the_failing_host_itself_make_no_loop(front):
    refusing = SameHost()
    front.stage.notifier = refusing
    failing(front, jobs=6)
    Machine(front).run("2026-03-01T15:00:00Z")
    told = [each for kind, each in refusing.tried if kind == "circuit_open"]
    assert len(set(told)) == 1
    assert 5 <= len(told) <= 10  # after 1, 2, 4, ... minutes, then each hour
    [left] = [item for item in front.memory.everything(Table.CONTROL) if str(item["pk"]).startswith("C#")]
    assert left["pk"] == f"C#payments/{HOST}"


@pytest.mark.parametrize("fault", Fault)
def test_A1_whoever_dies_while_a_circuit_opens_leaves_one_opening_told(fault):
    def due():
        made = Front.at("2026-03-01T12:00:00Z")
        made.stage.targets.then = Failed(status=503, error="answered 503")
        failing(made)
        machine = Machine(made)
        machine.run("2026-03-01T12:00:50Z")
        made.clock.set("2026-03-01T12:01:00Z")
        return made

    clean = FaultAt()
    delivering_once(due(), clean)
    opening = [place for place, call in enumerate(clean.calls) if call == "store.transact"]
    assert len(opening) == 1
    for place in range(opening[0] - 2, opening[0] + 3):
        front = due()
        delivering_once(front, FaultAt(place, fault))
        in_peace(front, minutes=6)
        assert len({notice.id for notice in openings(front)}) == 1, (place, clean.calls[place])
