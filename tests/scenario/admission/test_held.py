"""Those whom a switch held, beside those whom it did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.store import StoreBusyError
from fencepost.domain.model import Execution, Tier
from fencepost.domain.states import ExecutionState
from tests.support.admissions import Office
from tests.support.switches import halts

T = TypeVar("T")


def _joined(office: Office, number: int, **changes) -> Execution:
    record = office.firing(number, **changes)
    assert office.deliver(record) is None
    waits = office.read(record)
    assert waits.state is ExecutionState.WAITING
    return waits


def test_H04_what_a_switch_held_takes_turns_as_recovery_beside_what_is_live() -> None:
    """It is older than all that is live, and would otherwise have every turn until it is done."""
    office = Office.opened()
    office.team(cap=1, paused=True)
    held = [office.firing(number, job="held") for number in range(20)]
    for record in held:
        assert office.doors.backlog.hold(record, "the team was paused", office.now) is not None
    office.clock.advance(minutes=5)
    live = [_joined(office, number, job="live") for number in range(20)]
    office.team(cap=1)
    draws = iter([(2 * step + 1) / 8 for step in range(4)] * 5)
    called: list[Execution] = []
    for _ in range(16):
        office.dice.chosen = next(draws)
        if called:
            assert office.end(office.read(called[-1]))
        else:
            assert office.pump().handed_over == 1
        (identity,) = office.called()
        called.append(office.by_id(identity))
        assert office.deliver(called[-1]) is not None
    assert [each.id for each in called if each.job == "live"] == [each.id for each in live[:12]]
    assert [each.id for each in called if each.job == "held"] == [each.id for each in held[:4]]


def test_A1_who_dies_having_moved_a_waiting_record_leaves_it_under_a_mark() -> None:
    """Found by simulation: its message may be one that another hand has taken away, and wakes nobody."""
    dead: list[str] = []

    def dies(call: PortCall, proceed: Callable[[], T], /) -> T:
        if dead and call.method in {"get", "write", "query"}:
            raise StoreBusyError("nobody is there any more")
        answer = proceed()
        dead.extend(["dead"] if call.method == "transact" and dying else [])
        return answer

    dying: list[bool] = []
    office = Office.opened(dies)
    office.team(cap=1)
    assert office.deliver(office.firing()) is not None
    waits = _joined(office, 1)
    dying.append(True)
    with pytest.raises(StoreBusyError):
        office.doors.backlog.hold(waits, "the team was paused", office.now)
    dead.clear()
    moved = office.read(waits)
    assert moved.lane is not None
    assert moved.lane != waits.lane
    assert f"payments|{moved.lane}" in office.marks()


def test_E4_a_tier_that_is_shut_has_no_turn_and_makes_nobody_queue() -> None:
    office = Office.opened()
    office.team(cap=1)
    [halt] = halts(office.now, Tier.BULK)
    team = office.team(cap=1, halts=(halt,))
    slow = office.firing(tier=Tier.BULK)
    assert office.doors.backlog.hold(slow, halt.says, office.now) is not None
    assert office.read(slow).note == halt.says
    assert not office.doors.backlog.crowded(team, office.now)
    fast = office.deliver(office.firing(1))
    assert fast is not None
    assert office.end(fast)
    report = office.pump()
    assert (report.handed_over, report.waiting, report.held) == (0, 1, 1)
    assert len(office.marks()) == 1
    office.team(cap=1)
    assert office.pump().handed_over == 1
    assert office.called() == [slow.id]
