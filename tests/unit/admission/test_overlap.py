"""One firing of a job at a time (protocol E6, and the fences of D3)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.admission import LockBusy, LockHeld, QueueFull, waiting
from fencepost.application.codec import encode_execution
from fencepost.application.moves import cancelled, finished, moved
from fencepost.application.store import Delete, Item, Put, StoreBusyError, Won
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.states import ExecutionState, Move, Reason
from tests.support.admissions import LEASE, Dice, Office

SKIP, QUEUE = Overlap.SKIP, Overlap.QUEUE


def _lock(office: Office, record: Execution) -> Item | None:
    return office.store.get(keys.overlap_lock(record.id.uid))


def _take(office: Office, record: Execution) -> LockHeld | LockBusy:
    until = office.now + LEASE
    return office.doors.gate.take(record, fence=office.fence(record), until=until, now=office.now)


def _cancelled(office: Office, record: Execution) -> Execution:
    record = office.read(record)
    retention = timedelta(days=30)
    change = cancelled(record, Reason.DELETED, now=office.now, retention=retention)
    assert waiting.commit(office.context, record, change) == Won()
    return change.record


def test_E6_the_lock_names_execution_fence_and_end() -> None:
    office = Office.opened()
    record = office.firing(overlap=SKIP)
    held = _take(office, record)
    assert isinstance(held, LockHeld)
    lock = _lock(office, record)
    assert lock is not None
    assert (lock["x"], lock["f"]) == (str(record.id), held.fence)


def test_D3_fences_rise_across_the_firings_of_a_job_whatever_the_clock_does() -> None:
    office = Office.opened()
    office.team(cap=5)
    fences = []
    for number in range(4):
        office.clock.advance(seconds=-100)
        leased = office.deliver(office.firing(number, overlap=SKIP))
        assert leased is not None
        fences.append(leased.fence)
        assert office.end(leased)
    assert fences == sorted(set(fences))


def test_E6_taking_again_raises_the_fence_and_keeps_the_lock() -> None:
    office = Office.opened()
    record = office.firing(overlap=SKIP)
    first, second = _take(office, record), _take(office, record)
    assert isinstance(first, LockHeld)
    assert second == LockHeld(first.fence + 1)


def test_E6_the_lock_goes_with_the_final_state_and_keeps_the_last_fence() -> None:
    office = Office.opened()
    office.team()
    leased = office.deliver(office.firing(overlap=SKIP))
    assert leased is not None
    assert office.end(leased)
    lock = _lock(office, leased)
    assert lock is not None
    assert "x" not in lock
    assert lock["f"] == leased.fence


def _queued(office: Office, record: Execution) -> None:
    assert isinstance(_take(office, record), LockHeld)


def _waits_for_a_slot(office: Office, record: Execution) -> None:
    _queued(office, record)
    assert office.doors.backlog.join(record, office.teams["payments"], office.now) is not None


def _between_retries(office: Office, record: Execution) -> None:
    leased = office.deliver(record)
    assert leased is not None
    office.lose(leased)


def _running(office: Office, record: Execution) -> None:
    assert office.deliver(record, lease=timedelta(hours=2)) is not None


@pytest.mark.parametrize("stage", [_queued, _waits_for_a_slot, _between_retries, _running])
def test_E6_a_holder_that_is_not_final_keeps_the_lock_long_past_its_end(
    stage: Callable[[Office, Execution], None],
) -> None:
    office = Office.opened()
    office.team()
    holder = office.firing(overlap=SKIP)
    stage(office, holder)
    office.clock.advance(hours=1)
    assert _take(office, office.firing(1, overlap=SKIP)) == LockBusy(office.read(holder))


def test_E6_a_holder_that_lost_its_worker_is_named_so_that_it_is_judged_first() -> None:
    office = Office.opened()
    office.team()
    leased = office.deliver(office.firing(overlap=SKIP))
    assert leased is not None
    office.clock.advance(minutes=5)
    busy = _take(office, office.firing(1, overlap=SKIP))
    assert busy == LockBusy(leased)
    office.lose(leased)
    assert isinstance(_take(office, office.read(leased)), LockHeld)


def test_L02_a_crashed_holder_that_is_final_blocks_nobody() -> None:
    office = Office.opened()
    team = office.team()
    leased = office.deliver(office.firing(overlap=SKIP))
    assert leased is not None
    change = finished(leased, Move.DIE, now=office.now, retention=team.retention)
    assert waiting.commit(office.context, leased, change) == Won()
    held = _take(office, office.firing(1, overlap=SKIP))
    assert isinstance(held, LockHeld)
    assert held.fence > leased.fence


def test_E6_a_lock_whose_holder_has_no_record_is_taken_past_its_end_only() -> None:
    office = Office.opened()
    holder = office.firing(overlap=SKIP)
    _queued(office, holder)
    office.store.write(Delete(key=keys.execution(holder.id)))
    late = office.firing(1, overlap=SKIP)
    assert _take(office, late) == LockBusy(None)
    office.clock.advance(seconds=26)
    assert isinstance(_take(office, late), LockHeld)


def test_E6_letting_go_twice_or_late_frees_no_lock_of_somebody_else() -> None:
    office = Office.opened()
    office.team(cap=5)
    first = office.deliver(office.firing(overlap=SKIP))
    assert first is not None
    assert office.end(first)
    second = office.deliver(office.firing(1, overlap=SKIP))
    assert second is not None
    office.finish(office.read(first))
    lock = _lock(office, second)
    assert lock is not None
    assert lock["x"] == str(second.id)


def test_E6_what_is_owed_from_an_earlier_end_leaves_the_lock_of_a_redriven_execution() -> None:
    office = Office.opened()
    team = office.team(cap=5)
    leased = office.deliver(office.firing(overlap=SKIP))
    assert leased is not None
    died = finished(leased, Move.DIE, now=office.now, retention=team.retention)
    assert waiting.commit(office.context, leased, died) == Won()
    redriven = moved(died.record, Move.REDRIVE, slot=None, lease_until=None, attempt=0)
    assert waiting.commit(office.context, died.record, redriven) == Won()
    office.clock.advance(seconds=1)
    again = office.deliver(redriven.record)
    assert again is not None
    office.doors.gate.release(died.record, office.now)
    lock = _lock(office, again)
    assert lock is not None
    assert lock["x"] == str(again.id)


def test_E6_a_lock_that_a_rival_delivery_took_over_is_let_go_with_the_final_state() -> None:
    office = Office.opened()
    office.team()
    record = office.firing(overlap=SKIP)
    leased = office.deliver(record)
    assert leased is not None
    office.clock.advance(seconds=1)
    assert isinstance(_take(office, record), LockHeld)  # a second delivery that had read it before the lease
    assert office.end(leased)
    lock = _lock(office, record)
    assert lock is not None
    assert "x" not in lock


def test_E6_a_lock_that_changes_hands_each_time_is_a_busy_store() -> None:
    office = Office.opened()
    record = office.firing(overlap=SKIP)
    real = office.store.write
    turns = iter(range(1, 100))

    def write(write):
        if write.key == keys.overlap_lock(record.id.uid):
            real(Put(key=write.key, item={"v": 1, "f": next(turns)}))
        return real(write)

    office.store.write = write  # type: ignore[method-assign]  # a stand-in for one call
    with pytest.raises(StoreBusyError):
        _take(office, record)


def test_a_job_that_allows_overlap_has_no_lock() -> None:
    office = Office.opened()
    office.team()
    leased = office.deliver(office.firing())
    assert leased is not None
    assert office.end(leased)
    assert _lock(office, leased) is None


def test_E6_queued_firings_run_one_after_the_other_the_oldest_due_first() -> None:
    office = Office.opened()
    office.team(cap=9)
    firings = [office.firing(number, overlap=QUEUE) for number in range(5)]
    running = office.deliver(firings[0])
    for late in reversed(firings[1:]):
        assert office.deliver(late) is None
    order = []
    while running is not None:
        order.append(running.id)
        assert office.end(running)
        called = office.called()
        assert len(called) <= 1
        running = office.deliver(office.by_id(called[0])) if called else None
    assert order == [each.id for each in firings]
    assert not office.entries()


def test_E6_at_most_100_wait_in_a_jobs_lane() -> None:
    office = Office.opened()
    office.team()
    assert office.deliver(office.firing(overlap=QUEUE)) is not None
    results = [
        office.doors.gate.join(office.firing(number, overlap=QUEUE), office.now) for number in range(1, 103)
    ]
    assert [isinstance(each, Execution) for each in results] == [True] * 100 + [False] * 2
    assert isinstance(results[-1], QueueFull)
    assert len(office.entries()) == 100


def test_E6_a_newcomer_does_not_overtake_those_that_wait() -> None:
    office = Office.opened()
    team = office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    waits = office.firing(1, overlap=QUEUE)
    assert office.deliver(waits) is None
    assert running is not None
    change = finished(running, Move.SUCCEED, now=office.now, retention=team.retention)
    assert waiting.commit(office.context, running, change) == Won()  # and then its worker is killed
    newcomer = office.firing(2, overlap=QUEUE)
    assert _take(office, newcomer) == LockBusy(None)
    assert isinstance(office.doors.gate.join(newcomer, office.now), Execution)
    assert office.called() == [waits.id]


def test_E6_a_queue_whose_turn_nobody_has_is_pumped_under_its_mark() -> None:
    office = Office.opened()
    team = office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    waits = office.firing(1, overlap=QUEUE)
    assert office.deliver(waits) is None
    assert running is not None
    assert office.pump().turns_of_jobs == 0
    change = finished(running, Move.SUCCEED, now=office.now, retention=team.retention)
    assert waiting.commit(office.context, running, change) == Won()
    assert office.marks() == [f"payments|{keys.overlap_lane(running.id.uid)}"]
    assert office.pump().turns_of_jobs == 1
    assert office.called() == [waits.id]
    assert office.deliver(waits) is not None
    assert office.pump().marks_taken_down == 1
    assert not office.marks()


def test_E6_a_turn_that_was_given_and_not_taken_is_given_again_to_the_same() -> None:
    office = Office.opened()
    office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    older, younger = office.firing(1, overlap=QUEUE), office.firing(2, overlap=QUEUE)
    assert office.deliver(older) is None
    assert office.deliver(younger) is None
    assert running is not None
    assert office.end(running)
    assert office.called() == [older.id]  # and the message is lost
    assert office.pump().turns_of_jobs == 0
    office.clock.advance(seconds=61)
    assert office.pump().turns_of_jobs == 1
    assert office.called() == [older.id]


def test_E6_a_turn_given_to_one_that_was_cancelled_meanwhile_goes_on_to_the_next() -> None:
    office = Office.opened()
    office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    older, younger = office.firing(1, overlap=QUEUE), office.firing(2, overlap=QUEUE)
    assert office.deliver(older) is None
    assert office.deliver(younger) is None
    assert running is not None
    assert office.end(running)
    office.called()
    office.finish(_cancelled(office, older))
    assert office.called() == [younger.id]


def test_E6_a_turn_given_to_one_that_was_cancelled_is_found_by_the_pump_too() -> None:
    office = Office.opened()
    office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    older, younger = office.firing(1, overlap=QUEUE), office.firing(2, overlap=QUEUE)
    assert office.deliver(older) is None
    assert office.deliver(younger) is None
    assert running is not None
    assert office.end(running)
    office.called()
    _cancelled(office, older)  # and whoever did it is killed
    assert office.pump().turns_of_jobs == 1
    assert office.called() == [younger.id]


def test_E6_a_holder_whose_worker_was_lost_is_called_by_the_pump() -> None:
    office = Office.opened()
    office.team(cap=9)
    running = office.deliver(office.firing(overlap=QUEUE))
    assert running is not None
    assert office.deliver(office.firing(1, overlap=QUEUE)) is None
    office.clock.advance(seconds=26)
    office.pump()
    assert office.called() == []
    office.clock.advance(seconds=2)
    office.pump()
    assert office.called() == [running.id]


def test_E6_whoever_has_the_turn_and_finds_no_slot_waits_for_one_with_the_lock() -> None:
    office = Office.opened()
    office.team(cap=1)
    blocker = office.deliver(office.firing(job="other"))
    running = office.firing(1, overlap=QUEUE)
    assert office.deliver(running) is None
    assert office.read(running).state is ExecutionState.WAITING
    assert office.deliver(office.firing(2, overlap=QUEUE)) is None
    assert blocker is not None
    assert office.end(blocker)
    assert office.called() == [running.id]
    assert office.deliver(running) is not None
    assert [entry["pk"] for entry in office.entries()] == [keys.overlap_lane(running.id.uid)]


def test_R10_one_job_whose_record_nobody_understands_holds_up_no_other() -> None:
    office = Office.opened(dice=Dice(0.0))
    team = office.team(cap=9)
    for job in ("broken", "sound"):
        running = office.deliver(office.firing(job=job, overlap=QUEUE))
        assert running is not None
        assert office.deliver(office.firing(1, job=job, overlap=QUEUE)) is None
        change = finished(running, Move.SUCCEED, now=office.now, retention=team.retention)
        assert waiting.commit(office.context, running, change) == Won()
        if job == "broken":
            garbled = {**encode_execution(change.record), "state": "DREAMING"}
            office.store.write(Put(key=keys.execution(running.id), item=garbled))
    assert office.pump().turns_of_jobs == 1
    assert [each.uid for each in office.called()] == [office.firing(9, job="sound").id.uid]
