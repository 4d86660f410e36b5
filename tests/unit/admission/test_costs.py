"""What admission costs: counted at the port, in write units as DynamoDB bills them (items are far below 1 KB)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from fencepost.adapters.seam import CallCounter, PortCall
from fencepost.application.store import Check, Table
from fencepost.domain.model import Overlap
from tests.support.admissions import Office

T = TypeVar("T")


class WriteUnits:
    """An around that counts write units on the control table: one for a write, two for each in a transaction."""

    def __init__(self) -> None:
        self.units: Counter[str] = Counter()

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        if call.method == "write":
            self._add(call.args[0].key, 1)
        elif call.method == "transact":
            for action in call.args[0]:
                assert not isinstance(action, Check)
                self._add(action.key, 2)
        return proceed()

    def _add(self, key, units: int) -> None:
        if key.table is Table.CONTROL:
            self.units[key.pk[0]] += units


def test_a_slot_costs_two_write_units_and_two_calls() -> None:
    units, calls = WriteUnits(), CallCounter()
    office = Office.opened(units, calls)
    office.team()
    record = office.firing()
    assert not office.doors.backlog.crowded(
        office.teams["payments"], office.now
    )  # once a second for the whole team
    calls.clear()
    leased = office.deliver(record)
    assert leased is not None
    assert office.end(leased)
    assert units.units == {"S": 2}
    # slot taken, lease, outcome, slot freed
    assert calls.of("store", "write") == calls.of("store") == 4


def test_a_slot_that_is_handed_over_costs_one_write_and_the_claim_of_an_entry() -> None:
    units = WriteUnits()
    office = Office.opened(units)
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert office.deliver(office.firing(1)) is None
    assert leased is not None
    units.units.clear()
    assert office.end(leased)
    assert units.units == {"S": 1, "B": 1}


def test_a_turn_costs_one_write_on_the_slot_and_the_entry_with_the_lease() -> None:
    units = WriteUnits()
    office = Office.opened(units)
    office.team(cap=1)
    leased = office.deliver(office.firing())
    waits = office.firing(1)
    assert office.deliver(waits) is None
    assert leased is not None
    assert office.end(leased)
    units.units.clear()
    assert office.deliver(waits) is not None
    assert units.units == {"S": 1, "B": 2}


def test_joining_a_marked_lane_costs_the_entry_alone() -> None:
    units = WriteUnits()
    office = Office.opened(units)
    office.team(cap=1)
    assert office.deliver(office.firing()) is not None
    first = office.firing(20)
    assert office.deliver(first) is None  # it tried a slot, and found out that the team is busy
    lanes = {office.read(first).lane: True}
    for number in range(1, 20):
        units.units.clear()
        record = office.firing(number)
        assert office.deliver(record) is None
        lane = office.read(record).lane
        assert units.units == ({"B": 2} if lane in lanes else {"B": 2, "M": 1})
        lanes[lane] = True


def test_a_lock_costs_two_write_units() -> None:
    units = WriteUnits()
    office = Office.opened(units)
    office.team()
    for number, overlap in enumerate([Overlap.SKIP, Overlap.QUEUE]):
        units.units.clear()
        leased = office.deliver(office.firing(number, overlap=overlap))
        assert leased is not None
        assert office.end(leased)
        assert units.units == {"S": 2, "L": 2}
        office.doors.gate.release(office.read(leased), office.now)
        assert units.units["L"] == 2  # what is free is not freed again


def test_F01_a_waiting_firing_costs_no_more_calls_than_three_deliveries() -> None:
    calls = CallCounter()
    office = Office.opened(calls)
    office.team(cap=5)
    running = [office.deliver(office.firing(number)) for number in range(5)]
    waiting = [office.firing(number) for number in range(5, 205)]
    calls.clear()
    for record in waiting:
        assert office.deliver(record) is None
    done = 0
    while running:
        leased = running.pop(0)
        assert leased is not None
        assert office.end(leased)
        done += 1
        office.clock.advance(milliseconds=40)
        running.extend(office.deliver(office.by_id(each)) for each in office.called())
    assert done == 205
    assert (calls.of("store") + calls.of("queues")) / 205 <= 11
