"""Who goes next, and what holds up nobody: caps, tiers, order, storms, faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.admission import Full, SlotHeld, waiting
from fencepost.application.moves import finished
from fencepost.application.store import StoreBusyError, Won
from fencepost.domain.model import Execution, Tier
from fencepost.domain.states import ExecutionState, Move
from tests.support.admissions import Office

T = TypeVar("T")
RETENTION = timedelta(days=30)


def _full_team(cap: int = 1, **changes) -> tuple[Office, list[Execution]]:
    """A team whose slots are all taken, and who holds them."""
    office = Office.opened(**changes)
    office.team(cap=cap)
    leased = [office.deliver(office.firing(number)) for number in range(cap)]
    return office, [each for each in leased if each is not None]


def _joined(office: Office, number: int, **changes) -> Execution:
    record = office.firing(number, **changes)
    assert office.deliver(record) is None
    waits = office.read(record)
    assert waits.state is ExecutionState.WAITING
    return waits


def test_E3_a_slot_above_a_lowered_cap_is_not_handed_over() -> None:
    office, leased = _full_team(cap=3)
    _joined(office, 3)
    office.team(cap=1)
    above = [each for each in leased if each.slot != "0"]
    for each in above:
        assert office.end(each)
    assert office.called() == []
    (within,) = set(office.slots())
    assert within == 0


def test_E4_tiers_take_turns_by_weight_and_none_is_starved() -> None:
    office = Office.opened()
    office.team(cap=1, paused=True)
    for number in range(40):
        for tier in Tier:
            _joined(office, number, tier=tier, job=f"{tier}-job")
    office.team(cap=1)
    draws = iter([(2 * step + 1) / 26 for step in range(13)] * 4)
    called: list[Execution] = []
    for _ in range(26):
        office.dice.chosen = next(draws)
        if called:
            assert office.end(office.read(called[-1]))
        else:
            assert office.pump().handed_over == 1
        (identity,) = office.called()
        called.append(office.by_id(identity))
        assert office.deliver(called[-1]) is not None
    assert Counter(each.tier for each in called) == {
        Tier.CRITICAL: 16,
        Tier.STANDARD: 6,
        Tier.BULK: 2,
        Tier.RECOVERY: 2,
    }
    for tier in Tier:
        dues = [each.due for each in called if each.tier is tier]
        assert dues == sorted(dues)


def test_E4_the_oldest_due_goes_first_whoever_joined_first() -> None:
    office, (leased,) = _full_team()
    numbers = [7, 3, 9, 1, 5, 8, 2, 6, 4, 30, 11, 20]
    for number in numbers:
        _joined(office, number)
    order = []
    running: Execution | None = leased
    while running is not None and office.end(running):
        called = office.called()
        office.clock.advance(milliseconds=50)
        running = office.deliver(office.by_id(called[0])) if called else None
        order.extend(called)
    dues = [office.by_id(each).due for each in order]
    assert len(dues) == len(numbers)
    assert dues == sorted(dues)


def test_E4_while_the_team_is_marked_newcomers_join_whatever_is_free() -> None:
    office, leased = _full_team(cap=2)
    waits = _joined(office, 2)
    office.doors.slots.release(leased[0], office.now)
    newcomer = office.firing(3)
    assert office.deliver(newcomer) is None
    assert office.read(newcomer).state is ExecutionState.WAITING
    assert office.called() == [waits.id]


def test_E4_a_storm_leaves_no_mark_behind() -> None:
    office, leased = _full_team(cap=2)
    waits = [_joined(office, number) for number in range(2, 30)]
    running = list(leased)
    while running:
        assert office.end(running.pop())
        running.extend(filter(None, (office.deliver(office.by_id(each)) for each in office.called())))
        office.clock.advance(milliseconds=300)
    assert all(office.read(each).state is ExecutionState.SUCCEEDED for each in waits)
    assert not office.marks()
    assert not office.slots()
    assert not office.entries()


def test_F01_one_teams_storm_does_not_hold_up_another_team() -> None:
    office = Office.opened()
    office.team("loud", cap=5)
    office.team("quiet", cap=5)
    storm = [office.firing(number, team="loud", job="storm") for number in range(300)]
    single = office.firing(300, team="quiet", job="single")
    leased = [office.deliver(record) for record in storm]  # a plain queue: all of the storm comes first
    assert sum(each is not None for each in leased) == 5
    assert office.deliver(single) is not None
    assert office.in_flight() == {"loud": 5, "quiet": 1}


@pytest.mark.parametrize("fails", ["pages", "write"])
def test_L04_a_slot_that_cannot_be_freed_rolls_nothing_back(fails: str) -> None:
    broken: list[str] = []

    def fail(call: PortCall, proceed: Callable[[], T], /) -> T:
        if call.method in broken:
            raise StoreBusyError("busy")
        return proceed()

    office = Office.opened(fail)
    team = office.team(cap=1)
    leased = office.deliver(office.firing())
    waits = _joined(office, 1)
    assert leased is not None
    done = finished(leased, Move.SUCCEED, now=office.now, retention=RETENTION)
    assert waiting.commit(office.context, leased, done) == Won()
    office.clock.advance(seconds=2)
    broken.append(fails)
    with pytest.raises(StoreBusyError):
        office.doors.backlog.hand_over(done.record, team, office.now)
    broken.clear()
    assert office.read(leased).state is ExecutionState.SUCCEEDED
    office.clock.advance(seconds=61)
    office.pump()
    assert waits.id in office.called()


def test_L01_a_slot_of_a_crashed_worker_comes_free_by_its_expiry_alone() -> None:
    office, (leased,) = _full_team()
    waits = _joined(office, 1)
    office.clock.advance(seconds=34)
    assert office.pump().handed_over == 0
    office.clock.advance(seconds=2)
    assert office.pump().handed_over == 1
    assert office.called() == [waits.id]
    assert office.read(leased).state is ExecutionState.RUNNING  # nobody had to touch it


def test_a_waiting_execution_that_was_called_by_nobody_may_take_what_is_free() -> None:
    office, (leased,) = _full_team()
    waits = _joined(office, 1)
    office.doors.slots.release(leased, office.now)
    assert office.take(waits) == Full()  # remembered
    office.clock.advance(milliseconds=200)
    assert office.take(waits) == SlotHeld("0")
