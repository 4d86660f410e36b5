"""Slots: who holds one, until when, and who may take it afterwards (protocol E3, E5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.seam import CallCounter
from fencepost.application import keys
from fencepost.application.admission import Full, SlotHeld
from fencepost.application.admission.holdings import RESERVED, Vacancy
from fencepost.application.codec import encode_execution
from fencepost.application.store import Absent, Put
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState
from tests.support.admissions import LEASE, Dice, Office


def test_E3_a_slot_names_execution_and_fence_and_lasts_ten_seconds_past_the_lease() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    (holding,) = office.slots().values()
    assert (holding.execution, holding.fence) == (str(leased.id), leased.fence)
    assert leased.lease_until is not None
    assert holding.until == leased.lease_until + timedelta(seconds=10)


def test_E3_a_team_never_gets_more_slots_than_its_cap() -> None:
    office = Office.opened()
    office.team(cap=3)
    taken = [office.take(office.firing(number)) for number in range(5)]
    assert [isinstance(each, SlotHeld) for each in taken] == [True, True, True, False, False]
    assert sorted(office.slots()) == [0, 1, 2]


def test_E3_taking_again_keeps_the_slot_and_renews_fence_and_end() -> None:
    office = Office.opened()
    office.team(cap=2)
    record = office.firing()
    first = office.take(record)
    office.clock.advance(seconds=3)
    assert office.take(record) == first
    (holding,) = office.slots().values()
    assert holding.fence == office.fence(record)
    assert holding.until == office.now + LEASE + timedelta(seconds=10)


def test_E3_taking_again_for_a_shorter_lease_never_shortens_the_slot() -> None:
    office = Office.opened()
    office.team(cap=1)
    record = office.firing()
    office.take(record, lease=timedelta(seconds=300))
    before = office.slots()[0].until
    office.take(record, lease=timedelta(seconds=20))
    assert office.slots()[0].until == before


def test_E3_a_slot_is_not_taken_before_ten_seconds_past_its_lease() -> None:
    office = Office.opened()
    office.team(cap=1)
    assert office.deliver(office.firing()) is not None
    office.clock.advance(seconds=34.9)  # the lease of 25 s is over, the slot is not
    assert office.take(office.firing(1)) == Full()
    office.clock.advance(seconds=0.3)  # the memory of "full" is over too
    assert office.take(office.firing(2)) == SlotHeld("0")


def test_E3_an_expired_slot_whose_execution_holds_a_live_lease_is_left_alone() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    prolonged = replace(leased, lease_until=office.now + timedelta(hours=1))
    _overwrite(office, prolonged)
    office.clock.advance(minutes=5)
    assert office.take(office.firing(1)) == Full()
    office.clock.advance(hours=1)
    assert office.take(office.firing(1)) == SlotHeld("0")


def test_E3_a_lapsed_reservation_of_an_execution_that_runs_in_another_slot_is_taken() -> None:
    office = Office.opened()
    office.team(cap=2)
    leased = office.deliver(office.firing(), lease=timedelta(hours=1))
    assert leased is not None
    (spare,) = {0, 1} - {int(str(leased.slot))}
    until = office.now + timedelta(seconds=60)
    assert office.doors.slots.reserve("payments", Vacancy(spare, Absent()), leased.id, until)
    assert office.take(office.firing(1)) == Full()
    office.clock.advance(seconds=60)
    assert office.take(office.firing(1)) == SlotHeld(str(spare))
    assert office.slots()[int(str(leased.slot))].execution == str(leased.id)


def test_E3_an_expired_slot_whose_execution_is_gone_or_unreadable_is_taken() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    office.store.write(Put(key=keys.execution(leased.id), item={"v": 1, "state": "DREAMING"}))
    office.clock.advance(seconds=36)
    assert office.take(office.firing(1)) == SlotHeld("0")


def test_E3_release_frees_the_slot_and_may_be_repeated() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    office.doors.slots.release(leased, office.now)
    assert not office.slots()
    other = office.deliver(office.firing(1))
    assert other is not None
    office.doors.slots.release(leased, office.now)
    assert office.slots()[0].execution == str(other.id)


def test_E3_a_stale_holder_frees_nothing() -> None:
    office = Office.opened()
    office.team(cap=1)
    stale = office.deliver(office.firing())
    assert stale is not None
    office.clock.advance(seconds=40)
    again = office.deliver(office.lose(stale))
    assert again is not None
    assert again.fence > stale.fence
    office.doors.slots.release(stale, office.now)
    assert office.slots()[0].fence == again.fence


def test_E3_a_heartbeat_extends_the_slot_of_its_own_fence_only() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    until = office.now + timedelta(minutes=5)
    assert office.doors.slots.extend(leased, until, office.now)
    assert office.slots()[0].until == until + timedelta(seconds=10)
    office.clock.advance(minutes=6)
    other = office.deliver(office.firing(1))
    assert other is not None
    assert not office.doors.slots.extend(leased, office.now + timedelta(minutes=5), office.now)
    assert office.slots()[0].execution == str(other.id)


def test_E3_an_extension_into_the_past_is_none() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    assert not office.doors.slots.extend(leased, office.now, office.now)


def test_E3_a_record_without_a_slot_extends_and_releases_nothing() -> None:
    office = Office.opened()
    office.team(cap=1)
    record = office.firing()
    office.doors.slots.release(record, office.now)
    office.doors.slots.forfeit(record, office.now)
    assert office.doors.slots.extend(record, office.now + LEASE, office.now)
    assert not office.slots()


def test_E3_a_lowered_cap_revokes_nothing_and_takes_nothing_above_it() -> None:
    office = Office.opened()
    office.team(cap=3)
    leased = [office.deliver(office.firing(number)) for number in range(3)]
    team = office.team(cap=1)
    assert office.in_flight()["payments"] == 3
    for each in leased:
        assert each is not None
        office.doors.slots.release(each, office.now)
    assert isinstance(office.take(office.firing(3)), SlotHeld)
    assert office.take(office.firing(4)) == Full()
    assert [vacancy.number for vacancy in office.doors.slots.vacancies(team, office.now)] == []


def test_a_paused_team_has_no_slots() -> None:
    office = Office.opened()
    office.team(cap=3, paused=True)
    assert office.take(office.firing()) == Full()


def test_E5_full_is_remembered_for_200_milliseconds() -> None:
    office = Office.opened()
    office.team(cap=1)
    leased = office.deliver(office.firing())
    assert leased is not None
    late = office.firing(1)
    assert office.take(late) == Full()
    office.doors.slots.release(leased, office.now)
    office.clock.advance(milliseconds=199)
    assert office.take(late) == Full()
    assert isinstance(office.another().take(late), SlotHeld)
    office.clock.advance(milliseconds=1)
    assert isinstance(office.take(late), SlotHeld)


def test_E5_slots_lie_in_lanes_of_32_and_a_firing_looks_into_two() -> None:
    office = Office.opened()
    team = office.team(cap=96)
    numbers = [
        held.number for n in range(96) if isinstance(held := office.another().take(_far(office, n)), SlotHeld)
    ]
    lanes = {keys.slot("payments", int(number), 32).pk for number in numbers}
    assert len(lanes) == 3
    assert len(numbers) == len(set(numbers)) >= 64
    left = 96 - len(numbers)
    assert sum(1 for _ in office.doors.slots.vacancies(team, office.now)) == left


@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.99])
def test_E5_after_the_first_try_at_most_two_free_slots_of_a_lane_are_tried(fraction: float) -> None:
    office = Office.opened(dice=Dice(fraction))
    office.team(cap=32)
    record = office.firing()
    tried: list[str] = []
    real = office.store.write

    def refuse(write):
        tried.append(write.key.sk)
        real(Put(key=write.key, item={"v": 1, "x": "b" * 20 + "-r-" + "0" * 24, "f": 1, "until": 2**42}))
        return real(write)

    office.store.write = refuse  # type: ignore[method-assign]  # a stand-in for one call
    assert office.take(record) == Full()
    assert len(set(tried)) == len(tried) == 3


def test_the_first_try_of_a_batch_needs_no_look_at_a_lane() -> None:
    calls = CallCounter()
    office = Office.opened(calls)
    office.team(cap=20)
    taken = {office.take(office.firing(number)) for number in range(20)}
    assert taken == {SlotHeld(str(number)) for number in range(20)}
    assert calls.of("store", "pages") == 0
    assert calls.of("store", "write") == 20


def test_a_slot_that_this_process_freed_is_drawn_again() -> None:
    calls = CallCounter()
    office = Office.opened(calls)
    office.team(cap=1)
    for number in range(3):
        leased = office.deliver(office.firing(number))
        assert leased is not None
        office.doors.slots.release(leased, office.now)
    assert calls.of("store", "pages") == 1  # the marks, once


def test_a_first_try_that_failed_is_not_made_again_for_a_second() -> None:
    calls = CallCounter()
    office = Office.opened(calls)
    office.team(cap=1)
    assert isinstance(office.another(arounds=()).take(office.firing()), SlotHeld)
    for wait, writes in ((0, 1), (900, 1), (300, 2)):
        office.clock.advance(milliseconds=wait)
        assert office.take(office.firing(wait + 1)) == Full()
        assert calls.of("store", "write") == writes


def test_E3_trying_again_finds_the_slot_of_the_first_try() -> None:
    office = Office.opened()
    office.team(cap=50)
    record = office.firing()
    first = office.take(record)
    assert [office.take(record), office.another().take(record)] == [first, first]
    assert len(office.slots()) == 1


def test_a_slot_that_nobody_understands_stays_taken_while_somebody_may_run_in_it() -> None:
    office = Office.opened()
    office.team(cap=2)
    office.store.write(Put(key=keys.slot("payments", 0, 32), item={"v": 1, "y": "?"}))
    assert office.take(office.firing()) == SlotHeld("1")
    office.clock.advance(minutes=119)
    assert office.take(office.firing(1)) == SlotHeld("1")


def test_E2_a_reservation_is_taken_over_by_its_execution_alone() -> None:
    office = Office.opened()
    office.team(cap=1)
    first = office.deliver(office.firing())
    assert first is not None
    waiting = office.firing(1)
    assert office.deliver(waiting) is None
    assert office.end(first)
    (holding,) = office.slots().values()
    assert (holding.execution, holding.fence) == (str(waiting.id), RESERVED)
    assert office.take(office.firing(2)) == Full()
    leased = office.deliver(waiting)
    assert leased is not None
    assert (leased.state, leased.slot, leased.lane) == (ExecutionState.RUNNING, "0", None)


def _overwrite(office: Office, record: Execution) -> None:
    office.store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))


def _far(office: Office, number: int) -> Execution:
    return office.firing(1000 * number)
