"""What fails for one entry, lane, slot or job of a team holds up none of the others, in the same pass of the pump."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.admission import waiting
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.codec import encode_execution
from fencepost.application.moves import finished
from fencepost.application.store import Key, OutcomeUnknownError, Put, StoreBusyError, Table, Won
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.states import Move
from tests.support.admissions import Dice, Office
from tests.support.faults import Fault, FaultAt
from tests.support.steps import Gate

T = TypeVar("T")
QUEUE = Overlap.QUEUE
HURT = (Fault.BUSY, Fault.NO_ANSWER_LOST, Fault.NO_ANSWER_DONE)


def crowded(around: Callable[..., object]) -> tuple[Office, Gate, list[Execution]]:
    """Three that wait for slots that came free unseen, one whose place outlived it, and two jobs whose turns are free."""
    gate = Gate(around)  # type: ignore[arg-type]  # any around will do
    office = Office.opened(gate, dice=Dice(0.0))
    team = office.team(cap=9)
    turns = []
    for job in ("alpha", "beta"):
        holder, turn = office.firing(job=job, overlap=QUEUE), office.firing(6, job=job, overlap=QUEUE)
        leased = office.deliver(holder)
        assert leased is not None
        assert office.deliver(turn) is None
        office.doors.backlog.hand_over(_over(office, leased), team, office.now)
        turns.append(turn)
    office.team(cap=2)
    blockers = [office.deliver(office.firing(number)) for number in (0, 1)]
    waiters, stray = [office.firing(number) for number in (2, 3, 4)], office.firing(5)
    for record in (*waiters, stray):
        assert office.deliver(record) is None
    astray = {**encode_execution(office.read(stray)), "state": "RETRY_WAIT", "lane": "x"}
    office.store.write(Put(key=keys.execution(stray.id), item=astray))
    for blocker in blockers:
        assert blocker is not None
        _over(office, blocker)
    office.clock.advance(seconds=90)
    office.called()
    return office, gate, [*waiters, *turns]


def _over(office: Office, leased: Execution) -> Execution:
    """It succeeded, and nobody paid its duties."""
    change = finished(leased, Move.SUCCEED, now=office.now, retention=timedelta(days=30))
    assert waiting.commit(office.context, leased, change) == Won()
    return change.record


def passed(around: Callable[..., object]) -> tuple[Office, set[str], bool]:
    """One pass that meets `around`: who was called, and whether it said that something was left."""
    office, gate, _ = crowded(around)
    gate.open = True
    said = True
    with suppress(*TRANSIENT):
        office.pump()
        said = False
    gate.open = False
    return office, {str(each) for each in office.called()}, said


def test_a_pass_without_trouble_calls_two_waiters_and_both_jobs() -> None:
    _, called, said = passed(FaultAt())
    assert (len(called), said) == (4, False)


@pytest.mark.parametrize("fault", HURT)
def test_R10_one_call_that_fails_costs_its_own_turn_at_most(fault: Fault) -> None:
    clean = FaultAt()
    passed(clean)
    first = 2 + next(place for place, call in enumerate(clean.calls) if call == "store.pages")
    for place in range(len(clean.calls)):
        office, called, _ = passed(FaultAt(place, fault))
        # On the team and its marks everything hangs, on a list of slots or of jobs half of it: then the pass is repeated.
        fewest = 0 if place <= first else 2 if clean.calls[place] == "store.pages" else 3
        assert len(called) >= fewest, (place, clean.calls[place], called)
        for _ in range(3):
            office.clock.advance(seconds=61)
            office.pump()
            called |= {str(each) for each in office.called()}
        assert len(called) >= 4, (place, clean.calls[place], called)


def refusing(error: Exception, concerns: Callable[[PortCall], bool]) -> Callable[..., object]:
    """An around that fails whatever `concerns` somebody, each time."""

    def around(call: PortCall, proceed: Callable[[], T]) -> T:
        if concerns(call):
            raise error
        return proceed()

    return around


@pytest.mark.parametrize("error", [StoreBusyError("busy"), OutcomeUnknownError("no answer")])
def test_R10_a_record_that_can_never_be_read_keeps_no_other_from_its_turn(error: Exception) -> None:
    names: set[str] = set()

    def concerns(call: PortCall) -> bool:
        key = call.args[0] if call.args else None
        return call.method == "get" and isinstance(key, Key) and key.sk in names

    office, gate, _ = crowded(refusing(error, concerns))
    stray = next(each for each in office.records() if each.lane == "x")
    names.add(keys.execution(stray.id).sk)
    gate.open = True
    with pytest.raises(type(error)):
        office.pump()
    assert len(office.called()) == 4


def test_R10_marks_slots_and_locks_that_nobody_understands_keep_no_other_from_its_turn() -> None:
    office, _, _ = crowded(FaultAt())
    office.team(cap=3)
    office.store.write(Put(key=keys.mark("payments", "B#payments#dreams#1"), item={"v": 1}))
    slot = keys.slot("payments", 2, office.limits.slots_per_lane)
    office.store.write(Put(key=slot, item={"v": 1, "x": "garbled", "f": 1, "until": 1}))
    lock = Key(Table.CONTROL, keys.overlap_lock(office.firing(job="alpha").id.uid).pk, "L")
    office.store.write(Put(key=lock, item={"v": 1, "x": "garbled", "f": 1}))
    office.pump()
    assert len(office.called()) == 4


def test_R10_a_job_is_not_blocked_for_ever_by_a_holder_that_nobody_understands() -> None:
    office = Office.opened()
    office.team(cap=9)
    holder = office.deliver(office.firing(job="alpha", overlap=QUEUE))
    assert holder is not None
    office.store.write(Put(key=keys.execution(holder.id), item={"v": 1, "state": "DREAMING"}))
    later = office.firing(1, job="alpha", overlap=QUEUE)
    assert office.deliver(later) is None  # until the lock's own end it may run
    office.clock.advance(seconds=60)
    office.pump()
    assert office.called() == [later.id]
    assert office.deliver(later) is not None
