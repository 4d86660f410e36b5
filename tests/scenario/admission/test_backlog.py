"""Stories of the backlog: joining, turns, and the pump (protocol E1, E2, E4; behaviours F01, L01, L04)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.admission import Full, SlotHeld, waiting
from fencepost.application.admission.holdings import RESERVED
from fencepost.application.admission.lanes import claim, heads
from fencepost.application.moves import cancelled, moved
from fencepost.application.ports import QueueName, QueueUnavailableError
from fencepost.application.store import Delete, OutcomeUnknownError, Won
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState, Move, Reason
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


def test_E1_whoever_finds_no_slot_waits_with_an_entry_under_a_mark() -> None:
    office, _ = _full_team()
    waits = _joined(office, 1)
    (entry,) = office.entries()
    assert entry["pk"] == waits.lane
    assert office.marks() == [f"payments|{waits.lane}"]
    assert office.called() == []


def test_E1_a_joiner_reads_the_slots_again_and_hands_over_what_came_free() -> None:
    office, (leased,) = _full_team()
    late = office.firing(1)
    assert office.take(late) == Full()
    office.doors.slots.release(leased, office.now)  # by a process that knows of no mark yet
    assert office.doors.backlog.join(late, office.teams["payments"], office.now) is not None
    assert office.called() == [late.id]
    assert office.slots()[0].execution == str(late.id)


def test_E1_a_joiner_hands_over_to_whoever_is_older_than_itself() -> None:
    office, (leased,) = _full_team()
    older = _joined(office, 1)
    office.doors.slots.release(leased, office.now)
    _joined(office, 2)
    assert office.called() == [older.id]


def test_E1_whoever_waits_already_is_marked_again() -> None:
    office, _ = _full_team()
    waits = _joined(office, 1)
    office.store.write(Delete(key=keys.mark("payments", str(waits.lane))))
    again = office.doors.backlog.join(waits, office.teams["payments"], office.now)
    assert again == waits
    assert office.marks() == [f"payments|{waits.lane}"]


def test_E1_a_race_lost_at_joining_leaves_no_trace() -> None:
    office, _ = _full_team()
    record = office.firing(1)
    change = cancelled(record, Reason.PAUSED, now=office.now, retention=RETENTION)
    assert waiting.commit(office.context, record, change) == Won()
    assert office.doors.backlog.join(record, office.teams["payments"], office.now) is None
    assert not office.entries()
    assert not office.marks()


def test_E1_the_first_mark_asks_for_a_pump_once_everybody_knows_of_it() -> None:
    office, (leased,) = _full_team()
    elsewhere = office.another()
    assert not elsewhere.doors.backlog.crowded(office.teams["payments"], office.now)
    waits = _joined(office, 1)
    _joined(office, 2)
    elsewhere.end(leased)  # believes that nobody waits, and frees the slot
    assert office.called() == []
    assert office.pumps_asked() == ["payments"]
    (message,) = office.queues.waiting(QueueName.PUMP)
    assert message.visible_at == office.now + timedelta(seconds=2)
    office.clock.advance(seconds=2)
    assert office.pump().handed_over == 1
    assert office.called() == [waits.id]


def test_E1_the_pump_hands_over_every_free_and_deserted_slot_in_batches_of_eight() -> None:
    sent: list[int] = []

    def watch(call: PortCall, proceed: Callable[[], T], /) -> T:
        if call.method == "send":
            sent.append(len(call.args[0]))
        return proceed()

    office = Office.opened(watch)
    office.team(cap=20)
    lost = [office.deliver(office.firing(number)) for number in range(20)]
    waits = [_joined(office, 20 + number) for number in range(25)]
    for each in lost[:6]:
        assert each is not None
        office.doors.slots.release(each, office.now)
    office.clock.advance(seconds=36)  # the others died; their slots have lapsed
    sent.clear()
    report = office.pump()
    assert report.handed_over == 20
    assert sent == [8, 8, 4]
    assert sorted(office.called(), key=str) == [each.id for each in waits[:20]]


def test_E1_the_pump_stops_when_nothing_is_free() -> None:
    office, _ = _full_team(cap=3)
    _joined(office, 3)
    report = office.pump()
    assert (report.handed_over, report.unfinished) == (0, False)
    assert len(office.marks()) == 1


def test_E1_the_pump_stops_when_its_time_is_over_and_says_so() -> None:
    office = Office.opened(limits=replace(Limits(), pump_budget=timedelta(0)))
    office.team(cap=1, paused=True)
    for number in range(3):
        _joined(office, number)
    office.team(cap=3)
    report = office.pump()
    assert (report.handed_over, report.unfinished) == (1, True)
    assert office.pump().handed_over == 1


def test_E1_the_pump_takes_down_the_mark_of_an_empty_lane() -> None:
    office, (leased,) = _full_team()
    waits = _joined(office, 1)
    change = cancelled(waits, Reason.DELETED, now=office.now, retention=RETENTION)
    assert waiting.commit(office.context, waits, change) == Won()
    assert office.pump().marks_taken_down == 1
    assert not office.marks()
    assert office.end(leased)
    assert not office.slots()


def test_E1_a_paused_team_waits_under_its_marks_and_goes_on_when_resumed() -> None:
    office, (leased,) = _full_team()
    waits = _joined(office, 1)
    office.team(cap=1, paused=True)
    assert office.end(leased)
    assert office.pump().handed_over == 0
    assert len(office.marks()) == 1
    office.team(cap=1)
    assert office.pump().handed_over == 1
    assert office.called() == [waits.id]


def test_E1_a_team_without_an_item_is_cleared_up_and_handed_nothing() -> None:
    office, _ = _full_team()
    waits = _joined(office, 1)
    office.store.write(Delete(key=keys.team("payments")))
    office.clock.advance(minutes=5)
    assert office.pump().handed_over == 0
    change = cancelled(waits, Reason.DELETED, now=office.now, retention=RETENTION)
    assert waiting.commit(office.context, waits, change) == Won()
    assert office.pump().marks_taken_down == 1


def test_E2_the_entry_is_claimed_then_the_slot_reserved_then_the_message_sent() -> None:
    order: list[str] = []

    def watch(call: PortCall, proceed: Callable[[], T], /) -> T:
        if call.method == "write":
            order.append(call.args[0].key.pk[0])
        elif call.method in {"send", "transact"}:
            order.append(call.method)
        return proceed()

    office = Office.opened(watch)
    office.team(cap=1)
    leased = office.deliver(office.firing())
    waits = _joined(office, 1)
    assert leased is not None
    order.clear()
    office.doors.backlog.hand_over(leased, office.teams["payments"], office.now)
    assert order == ["B", "S", "send"]
    (holding,) = office.slots().values()
    assert (holding.execution, holding.fence) == (str(waits.id), RESERVED)
    assert holding.until == office.now + timedelta(seconds=60)
    assert office.read(waits) == waits  # it waits until its lease, which takes the entry along
    assert len(office.entries()) == 1
    assert office.deliver(waits) is not None
    assert not office.entries()


def test_E2_a_turn_that_was_not_taken_lapses_and_is_given_again() -> None:
    office, (leased,) = _full_team()
    waits = _joined(office, 1)
    assert office.end(leased)
    assert office.called() == [waits.id]  # and the message is lost
    office.clock.advance(seconds=59)
    assert office.pump().handed_over == 0
    office.clock.advance(seconds=1)
    assert office.pump().handed_over == 1
    assert office.called() == [waits.id]


def test_E2_an_unsent_wake_up_is_sent_once_more_and_then_left_to_the_pump() -> None:
    refusals = [QueueUnavailableError("no answer"), None]

    def refuse(call: PortCall, proceed: Callable[[], T], /) -> T:
        failure = refusals.pop(0) if call.method == "send" and refusals else None
        if failure is not None:
            raise failure
        return proceed()

    office = Office.opened(refuse)
    office.team(cap=1)
    leased = office.deliver(office.firing())
    refusals.clear()
    waits = _joined(office, 1)
    refusals[:] = [QueueUnavailableError("no answer"), None]
    assert leased is not None
    assert office.end(leased)
    assert office.called() == [waits.id]
    refusals[:] = [QueueUnavailableError("no answer")] * 2
    assert office.deliver(waits) is not None
    later = _joined(office, 2)
    assert office.end(office.read(waits))
    assert office.called() == []
    office.clock.advance(seconds=61)
    assert office.pump().handed_over == 1
    assert office.called() == [later.id]


def test_E2_an_entry_whose_execution_is_over_is_deleted_on_sight() -> None:
    office, (leased,) = _full_team()
    stray, waits = _joined(office, 1), _joined(office, 2)
    gone = moved(stray, Move.LEASE, fence=1, lease_until=office.now, slot="7")
    office.store.write(gone.write)  # what no code of ours does: the record alone
    assert office.pump().discarded == 1
    assert office.end(leased)
    assert office.called() == [waits.id]


def test_E2_hand_over_is_safe_to_repeat() -> None:
    office, (leased,) = _full_team()
    first, second = _joined(office, 1), _joined(office, 2)
    assert office.end(leased)
    office.finish(office.read(leased))
    office.finish(office.read(leased))
    assert office.called() == [first.id]
    assert office.deliver(first) is not None
    assert office.read(second).state is ExecutionState.WAITING
    assert office.in_flight()["payments"] == 1


def test_E2_a_slot_that_is_gone_gives_the_entry_back() -> None:
    office, (leased,) = _full_team(cap=1)
    waits = _joined(office, 1)
    team = office.teams["payments"]
    office.doors.slots.release(leased, office.now)
    other = office.firing(2)
    assert isinstance(office.another().take(other), SlotHeld)
    office.doors.backlog.hand_over(leased, team, office.now)
    assert office.called() == []
    assert waiting.reserved_slot(office.context, waits) is None
    assert office.slots()[0].execution == str(other.id)


def test_E2_a_reservation_without_an_answer_is_called_all_the_same() -> None:
    lost: list[str] = []

    def lose(call: PortCall, proceed: Callable[[], T], /) -> T:
        result = proceed()
        if lost and call.method == "write" and call.args[0].key.pk.startswith(lost[0]):
            lost.clear()
            raise OutcomeUnknownError("no answer")
        return result

    office = Office.opened(lose)
    office.team(cap=1)
    leased = office.deliver(office.firing())
    waits = _joined(office, 1)
    assert leased is not None
    lost.append("S#")
    assert office.end(leased)
    assert office.called() == [waits.id]
    assert office.deliver(waits) is not None


def test_E2_a_turn_of_an_execution_that_is_over_goes_to_the_next_at_hand_over() -> None:
    office, (leased,) = _full_team()
    stray, waits = _joined(office, 1), _joined(office, 2)
    (entry,) = heads(office.context, str(stray.lane), office.now).open
    assert claim(office.context, entry, None, office.now) is not None
    gone = moved(stray, Move.LEASE, fence=1, lease_until=office.now, slot="7")
    office.store.write(gone.write)  # what no code of ours does: the record alone
    office.clock.advance(seconds=60)
    assert office.end(leased)
    assert office.called() == [waits.id]
    assert len(office.entries()) == 1


def test_E1_a_joiner_is_called_whatever_the_process_remembers_of_the_line() -> None:
    office, leased = _full_team(cap=2)
    first, second = _joined(office, 2), _joined(office, 3)
    assert office.end(leased[0])  # this process has read the line, and has the second one left in mind
    assert office.another().end(leased[1])
    assert office.called() == [first.id, second.id]
    running = [office.another().deliver(each) for each in (first, second)]
    for each in running:
        assert each is not None
        office.doors.slots.release(each, office.now)
    late = _joined(office, 4)
    assert office.called() == [late.id]


def test_E5_a_lane_read_to_its_eighth_is_read_on_before_a_younger_one_has_its_turn() -> None:
    office, (leased,) = _full_team()
    lanes: dict[str, list[Execution]] = {}
    number = 0
    while len(lanes) < 2 or max(map(len, lanes.values())) < 12:
        number += 1
        record = office.firing(number)
        lanes.setdefault(keys.backlog_lane(record, 8), []).append(record)
    long = max(lanes.values(), key=len)
    short = next(each for each in lanes.values() if each is not long)
    youngest = office.firing(number + 1, job="youngest")
    while keys.backlog_lane(youngest, 8) != keys.backlog_lane(short[0], 8):
        number += 1
        youngest = office.firing(number + 1, job="youngest")
    for record in (youngest, *long):
        assert office.deliver(record) is None
    order = []
    running: Execution | None = leased
    while running is not None and office.end(running):
        called = office.called()
        order.extend(called)
        running = office.deliver(office.by_id(called[0])) if called else None
    assert order == [*(each.id for each in long), youngest.id]
