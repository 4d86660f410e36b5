"""Races of admission, driven call by call: every rival stops before each call of a port."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.application import keys
from fencepost.application.admission import Full, SlotHeld, waiting
from fencepost.application.admission.lanes import heads
from fencepost.application.admission.marks import Marks
from fencepost.application.moves import cancelled, finished
from fencepost.application.store import Won
from fencepost.domain.model import Execution, Overlap, Team
from fencepost.domain.states import ExecutionState, Move, Reason
from tests.support.admissions import LEASE, Office
from tests.support.interleaving import Stage

SCHEDULES = st.lists(st.integers(min_value=0, max_value=5), max_size=80)


def _opened(cap: int = 1) -> tuple[Stage, Office, Team]:
    stage = Stage()
    office = Office.opened(stage)
    return stage, office, office.team(cap=cap)


def _play(stage: Stage, schedule: list[int]) -> None:
    """Lets the actors take turns as `schedule` says, then to their end one after the other."""
    for choice in schedule:
        alive = stage.alive()
        if not alive:
            return
        stage.step(alive[choice % len(alive)])
    stage.finish()


def _joined(office: Office, number: int = 1, **changes) -> Execution:
    record = office.firing(number, **changes)
    assert office.deliver(record) is None
    return office.read(record)


def test_E1_who_joins_while_the_last_slot_is_freed_is_called_by_the_one_who_frees_it() -> None:
    stage, office, _ = _opened()
    leased = office.deliver(office.firing())
    other = _joined(office, 1)
    retention = timedelta(days=30)
    over = cancelled(other, Reason.DELETED, now=office.now, retention=retention)
    assert waiting.commit(office.context, other, over) == Won()  # the team is marked, and nobody waits
    assert leased is not None
    stage.enter("ends", lambda: office.end(leased))
    stage.until("ends", "pages")  # it knows the mark, and reads the line
    while stage.before("ends") != "write":
        stage.step("ends")
    late = office.firing(2)
    joiner = office.another(arounds=())
    assert joiner.deliver(late) is None
    assert office.called() == []  # the joiner saw the slot taken
    stage.finish("ends")
    assert office.called() == [late.id]


@settings(max_examples=60)
@given(schedule=SCHEDULES, crash_after=st.none() | st.integers(min_value=0, max_value=12))
def test_E1_no_interleaving_and_no_crash_leaves_a_waiting_execution_without_a_mark(
    schedule: list[int], crash_after: int | None
) -> None:
    stage, office, team = _opened()
    assert office.deliver(office.firing()) is not None
    record = office.firing(1)
    lane = keys.backlog_lane(record, 8)
    Marks(office.context).put_up("payments", lane, office.now)
    first, second = office.another(), office.another()
    stage.enter("pump", lambda: first.doors.backlog.pump("payments", office.now))
    stage.enter("clears", lambda: Marks(second.context).take_down("payments", lane))
    stage.enter("joins", lambda: office.doors.backlog.join(record, team, office.now))
    if crash_after is not None:
        for _ in range(crash_after):
            stage.step("clears")
        stage.crash("clears")
    _play(stage, schedule)
    assert office.read(record).state is ExecutionState.WAITING
    assert office.marks() == [f"payments|{lane}"]


@settings(max_examples=60)
@given(schedule=SCHEDULES)
def test_E2_of_two_that_hand_over_each_gives_its_slot_to_another(schedule: list[int]) -> None:
    stage, office, _ = _opened(cap=2)
    leased = [office.deliver(office.firing(number)) for number in range(2)]
    waits = [_joined(office, number) for number in range(2, 6)]
    for number, each in enumerate(leased):
        assert each is not None
        stage.enter(f"ends {number}", partial(office.another().end, each))
    _play(stage, schedule)
    called = office.called()
    assert len(set(called)) == len(called) == 2
    assert {holding.execution for holding in office.slots().values()} == {str(each) for each in called}
    assert set(called) <= {each.id for each in waits}


@settings(max_examples=100)
@given(
    schedule=SCHEDULES,
    crash=st.none() | st.tuples(st.integers(min_value=0, max_value=1), st.integers(min_value=0, max_value=9)),
)
def test_E3_rival_deliveries_of_one_execution_never_hold_more_than_its_slot(
    schedule: list[int], crash: tuple[int, int] | None
) -> None:
    stage, office, _ = _opened(cap=2)
    record = office.firing()
    first = office.another()
    stage.enter("first", lambda: first.deliver(record))
    office.clock.advance(milliseconds=5)
    stage.enter("second", lambda: office.another().deliver(record))
    if crash is not None:
        victim = ["first", "second"][crash[0]]
        for _ in range(crash[1]):
            stage.step(victim)
        stage.crash(victim)
    _play(stage, schedule)
    running = office.read(record)
    if running.state is ExecutionState.RUNNING:
        owned = office.slots()[int(str(running.slot))]
        assert owned.execution == str(record.id)
        if crash is None:
            assert owned.fence == running.fence
            assert len(office.slots()) == 1
            assert office.end(running)
            assert not office.slots()


def test_E3_a_winner_gets_back_the_slot_that_a_rival_took_over() -> None:
    stage, office, _ = _opened()
    record = office.firing()
    stage.enter("first", lambda: office.another().deliver(record))
    stage.until("first", "write")
    stage.step("first")  # it holds the slot, and stands before its lease
    office.clock.advance(milliseconds=5)
    stage.enter("second", lambda: office.another().deliver(record))
    stage.until("second", "write")
    stage.step("second")  # it took the slot over
    stage.finish("first")  # leased
    leased = office.read(record)
    assert office.slots()[0].fence > leased.fence
    assert office.doors.slots.extend(leased, office.now + LEASE, office.now)  # a heartbeat is not refused
    stage.finish("second")
    assert office.slots()[0].fence == leased.fence
    assert office.end(leased)
    assert not office.slots()


def test_E3_a_winner_that_ends_while_it_gets_its_slot_back_leaves_it_free() -> None:
    stage, office, _ = _opened()
    record = office.firing()
    stage.enter("first", lambda: office.another().deliver(record))
    stage.until("first", "write")
    stage.step("first")
    office.clock.advance(milliseconds=5)
    stage.enter("second", lambda: office.another().deliver(record))
    stage.until("second", "write")
    stage.step("second")
    stage.finish("first")
    leased = office.read(record)
    stage.step("second")  # lost the lease
    stage.until("second", "write")  # has read the winner, and stands before giving the slot back
    assert office.another(arounds=()).end(leased)
    stage.finish("second")
    assert not office.slots()


def test_E3_a_slot_given_back_to_a_winner_that_just_missed_it_is_freed() -> None:
    stage, office, _ = _opened()
    record = office.firing()
    stage.enter("first", lambda: office.another().deliver(record))
    stage.until("first", "write")
    stage.step("first")
    office.clock.advance(milliseconds=5)
    stage.enter("second", lambda: office.another().deliver(record))
    stage.until("second", "write")
    stage.step("second")
    stage.finish("first")
    leased = office.read(record)
    stage.step("second")  # lost the lease
    stage.until("second", "write")  # has read the winner, and stands before giving the slot back
    stage.enter("ends", lambda: office.another().end(leased))
    stage.until("ends", "get")  # its slot names the rival: it looks whether anybody can need it
    stage.until("ends", "write")
    stage.step("second")  # now the slot names the winner, and the winner frees the rival's
    stage.finish("ends")
    assert office.slots()
    stage.finish("second")
    assert not office.slots()


def test_E3_a_winner_frees_the_slot_that_a_killed_rival_had_taken_over() -> None:
    stage, office, _ = _opened()
    record = office.firing()
    stage.enter("first", lambda: office.another().deliver(record))
    stage.until("first", "write")
    stage.step("first")
    office.clock.advance(milliseconds=5)
    stage.enter("second", lambda: office.another().deliver(record))
    stage.until("second", "write")
    stage.step("second")
    stage.crash("second")
    stage.finish("first")
    assert office.end(office.read(record))
    assert not office.slots()


def test_E3_a_take_is_conditioned_on_the_expiry_that_it_read() -> None:
    stage, office, _ = _opened()
    leased = office.deliver(office.firing())
    assert leased is not None
    office.clock.advance(seconds=35)
    stage.enter("taker", lambda: office.another().take(office.firing(1)))
    stage.until("taker", "get")
    stage.until("taker", "write")  # the lease is over, and so is the slot
    hour = office.now + timedelta(hours=1)
    assert office.doors.slots.extend(leased, hour, office.now)  # by a clock that is late
    stage.finish("taker")
    assert stage.result("taker") == Full()
    assert office.slots()[0].execution == str(leased.id)


def test_E6_who_joins_between_the_look_at_the_queue_and_the_release_is_called() -> None:
    stage, office, _ = _opened(cap=5)
    leased = office.deliver(office.firing(overlap=Overlap.QUEUE))
    assert leased is not None
    lock = keys.overlap_lock(leased.id.uid)
    stage.enter("ends", lambda: office.another().doors.gate.release(over, office.now))
    over = finished(leased, Move.SUCCEED, now=office.now, retention=timedelta(days=30)).record
    stage.until("ends", "write")  # nobody waits, as it saw
    late = office.firing(1, overlap=Overlap.QUEUE)
    assert office.another(arounds=()).deliver(late) is None
    assert office.called() == []
    done = finished(leased, Move.SUCCEED, now=office.now, retention=timedelta(days=30))
    assert waiting.commit(office.context, leased, done) == Won()
    stage.finish("ends")
    assert office.called() == [late.id]
    item = office.store.get(lock)
    assert item is not None
    assert item["x"] == str(late.id)


def test_E3_a_delivery_that_wakes_after_its_slot_was_taken_leases_nothing_by_it() -> None:
    stage, office, _ = _opened()
    record = office.firing()
    office.clock.advance(milliseconds=10)
    stage.enter("slow", lambda: office.another().deliver(record))
    stage.until("slow", "write")
    stage.step("slow")  # holds the slot, paused before its lease
    office.clock.advance(seconds=36)
    other = office.deliver(office.firing(1))
    assert other is not None
    stage.finish("slow")
    late = office.read(record)
    assert late.lease_until is not None
    assert late.lease_until < office.now  # born expired
    assert office.in_flight()["payments"] == 1
    assert not office.doors.slots.extend(late, office.now + LEASE, office.now)
    assert office.slots()[0].execution == str(other.id)


@settings(max_examples=60)
@given(schedule=SCHEDULES)
def test_E3_a_lapsing_reservation_goes_to_its_execution_or_to_another_never_to_both(
    schedule: list[int],
) -> None:
    stage, office, _ = _opened()
    leased = office.deliver(office.firing())
    waits = _joined(office, 1)
    assert leased is not None
    assert office.end(leased)
    office.clock.advance(seconds=60)
    rival = office.firing(2)
    stage.enter("called", lambda: office.another().deliver(waits))
    stage.enter("rival", lambda: office.another().take(rival))
    stage.enter("pump", lambda: office.another().pump())
    _play(stage, schedule)
    assert office.in_flight()["payments"] <= 1
    held = stage.result("rival")
    (holding,) = office.slots().values()
    assert (holding.execution == str(rival.id)) == isinstance(held, SlotHeld)
    assert isinstance(held, SlotHeld) or held == Full()


@settings(max_examples=60)
@given(schedule=SCHEDULES)
def test_E2_a_cancel_and_a_lease_of_one_waiting_execution_have_one_winner(schedule: list[int]) -> None:
    stage, office, team = _opened()
    leased = office.deliver(office.firing())
    waits = _joined(office, 1)
    assert leased is not None
    assert office.end(leased)

    def cancel() -> object:
        change = cancelled(waits, Reason.PAUSED, now=office.now, retention=team.retention)
        return waiting.commit(office.another().context, waits, change)

    stage.enter("cancels", cancel)
    stage.enter("called", lambda: office.another().deliver(waits))
    _play(stage, schedule)
    won = isinstance(stage.result("cancels"), Won)
    assert (office.read(waits).state is ExecutionState.CANCELLED) == won
    assert (stage.result("called") is None) == won
    assert not office.entries()


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE])
def test_E6_of_two_firings_of_a_job_one_runs_in_every_interleaving(overlap: Overlap) -> None:
    @settings(max_examples=60)
    @given(schedule=SCHEDULES)
    def story(schedule: list[int]) -> None:
        stage, office, _ = _opened(cap=5)
        firings = [office.firing(number, overlap=overlap) for number in range(3)]
        for number, record in enumerate(firings):
            stage.enter(f"delivers {number}", partial(office.another().deliver, record))
        _play(stage, schedule)
        running = [each for each in office.records() if each.state is ExecutionState.RUNNING]
        assert len(running) <= 1
        waits = [each for each in office.records() if each.state is ExecutionState.WAITING]
        if overlap is Overlap.QUEUE and not running:
            assert office.called()  # then the turn was given to one that waits
        if overlap is Overlap.QUEUE:
            assert len(waits) + len(running) == 3

    story()


@settings(max_examples=60)
@given(schedule=SCHEDULES)
@example(
    schedule=[0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
)  # let go while the newcomer's entry was claimed
def test_E6_who_joins_a_jobs_queue_while_the_turn_is_let_go_is_called(schedule: list[int]) -> None:
    stage, office, _ = _opened(cap=5)
    leased = office.deliver(office.firing(overlap=Overlap.QUEUE))
    late = office.firing(1, overlap=Overlap.QUEUE)
    assert leased is not None
    stage.enter("ends", lambda: office.another().end(leased))
    stage.enter("late", lambda: office.another().deliver(late))
    _play(stage, schedule)
    ran = stage.result("late") is not None
    assert ran == (office.called() != [late.id])
    assert ran == (office.read(late).state is ExecutionState.RUNNING)


def test_E5_one_line_gives_each_entry_to_one_caller() -> None:
    _, office, _ = _opened()
    assert office.deliver(office.firing()) is not None
    waits = [_joined(office, number) for number in range(1, 4)]
    lines = office.doors.backlog._lines
    taken = [lines.next(office.teams["payments"], office.now) for _ in range(3)]
    assert [each.execution for each in taken if each is not None] == [each.id for each in waits]
    assert lines.next(office.teams["payments"], office.now) is None
    assert len(heads(office.context, str(waits[0].lane), office.now).open) >= 1
