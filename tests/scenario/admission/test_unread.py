"""Who waits behind what nobody here can read is called all the same; and who waits under such an entry is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fencepost.application import keys
from fencepost.application.admission.holdings import Holding, encode_holding
from fencepost.application.codec import VERSION, encode_execution
from fencepost.application.store import Item, Key, Put, Table
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.states import ExecutionState
from tests.support.admissions import LEASE, Dice, Office

MANY = 20


def crowd(count: int, **facts: Any) -> tuple[Office, Execution, list[Execution]]:
    """A team's only slot in use, and so many who wait for it, the oldest first."""
    office = Office.opened(dice=Dice(0.0))
    office.team(cap=1)
    holder = office.deliver(office.firing(**facts))
    assert holder is not None
    waiters = [office.firing(number + 1, **facts) for number in range(count)]
    assert [office.deliver(each) for each in waiters] == [None] * count
    return office, holder, waiters


def newer(office: Office, record: Execution) -> None:
    """A later version has written the record."""
    item = {**encode_execution(office.read(record)), "v": VERSION + 1}
    office.store.write(Put(key=keys.execution(record.id), item=item))


def spoil(office: Office, **facts: object) -> Key:
    """Nobody can read the only entry there is."""
    (entry,) = office.entries()
    key = Key(Table.CONTROL, entry["pk"], entry["sk"])
    office.store.write(Put(key=key, item={"v": 1, "tier": "dreams", **facts}))
    return key


def entry_of(office: Office) -> Item:
    """The only entry there is, without its key."""
    (entry,) = office.entries()
    return {name: value for name, value in entry.items() if name not in {"pk", "sk"}}


def test_R10_however_many_a_later_version_wrote_hold_up_nobody_behind_them() -> None:
    office, holder, waiters = crowd(MANY + 1)
    for each in waiters[:MANY]:
        newer(office, each)
    assert office.end(holder)
    assert office.called() == [waiters[0].id]  # before anybody has looked at its record
    office.clock.advance(seconds=61)
    office.pump()
    assert office.called() == [waiters[MANY].id]
    assert len(office.entries()) == MANY + 1  # they stay for whoever can read them


def test_R10_A1_who_waits_under_an_entry_that_nobody_can_read_is_called() -> None:
    office, holder, (waiter,) = crowd(1)
    before = entry_of(office)
    spoil(office)
    assert office.end(holder)
    assert office.called() == [waiter.id]
    assert {name: entry_of(office)[name] for name in before} == before
    assert office.deliver(waiter) is not None
    assert office.entries() == []


def test_R10_who_is_called_already_takes_a_slot_though_its_entry_is_spoiled_meanwhile() -> None:
    office, holder, (waiter,) = crowd(1)
    assert office.end(holder)
    assert office.called() == [waiter.id]
    spoil(office)
    office.clock.advance(seconds=1)  # that the team is full is no longer remembered
    leased = office.deliver(waiter)
    assert leased is not None
    assert leased.state is ExecutionState.RUNNING


def test_R10_an_entry_that_nobody_can_read_goes_where_nobody_waits_under_it() -> None:
    office, holder, (waiter,) = crowd(1)
    spoil(office)
    elsewhere = {**encode_execution(office.read(waiter)), "state": "RETRY_WAIT"}
    del elsewhere["lane"]
    office.store.write(Put(key=keys.execution(waiter.id), item=elsewhere))
    assert office.end(holder)
    assert (office.entries(), office.called()) == ([], [])


def test_R10_an_entry_of_a_later_version_stays_as_it_is() -> None:
    office, holder, _ = crowd(1)
    spoil(office, v=VERSION + 1)
    assert office.end(holder)
    assert (entry_of(office), office.called()) == ({"v": VERSION + 1, "tier": "dreams"}, [])


def test_R10_E6_a_turn_of_a_job_is_not_lost_with_the_entry_of_its_holder() -> None:
    office, holder, (waiter,) = crowd(1, job="alpha", overlap=Overlap.QUEUE)
    assert office.end(holder)
    assert office.called() == [waiter.id]  # and the message is lost
    spoil(office)
    office.clock.advance(seconds=61)
    office.pump()
    assert office.called() == [waiter.id]


def garble(office: Office) -> Key:
    """Nobody can read the item of the team's only slot."""
    key = keys.slot("payments", 0, office.limits.slots_per_lane)
    office.store.write(Put(key=key, item={"v": 1, "x": "garbled", "f": 1, "until": 1}))
    return key


def test_R10_a_slot_that_nobody_can_read_is_free_when_nobody_can_run_in_it_any_more() -> None:
    office, holder, (waiter,) = crowd(1)
    garble(office)
    assert office.end(holder)
    for _ in range(2):
        office.pump()
        assert (office.called(), office.deliver(waiter)) == ([], None)
        office.clock.advance(minutes=59)
    office.clock.advance(minutes=3)
    office.pump()
    assert office.called() == [waiter.id]
    leased = office.deliver(waiter)
    assert leased is not None
    assert office.end(leased)
    assert office.slots() == {}


def test_R10_a_slot_that_was_mended_meanwhile_stays_its_holders() -> None:
    office, holder, (waiter,) = crowd(1)
    key = garble(office)
    office.pump()
    office.clock.advance(minutes=121)
    mended = Holding(number=0, execution=str(holder.id), fence=holder.fence, until=office.now + LEASE)
    office.store.write(Put(key=key, item=encode_holding(mended)))
    running = replace(holder, lease_until=office.now + LEASE)
    office.store.write(Put(key=keys.execution(holder.id), item=encode_execution(running)))
    office.pump()
    assert (office.called(), office.deliver(waiter)) == ([], None)


def test_a_slot_of_a_later_version_stays_taken() -> None:
    office, holder, (waiter,) = crowd(1)
    office.store.write(Put(key=garble(office), item={"v": VERSION + 1, "x": str(holder.id)}))
    office.pump()
    office.clock.advance(minutes=600)
    office.pump()
    assert (office.called(), office.deliver(waiter)) == ([], None)


def lose_lock(office: Office, record: Execution, **facts: object) -> None:
    """Nobody can read the lock of the record's job."""
    office.store.write(Put(key=keys.overlap_lock(record.id.uid), item={"v": 1, "x": "?", **facts}))


@pytest.mark.parametrize("facts", [{}, {"f": "?"}, {"f": 1, "until": 1}])
@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE])
def test_R10_E6_a_lock_that_nobody_can_read_stays_its_holders(
    overlap: Overlap, facts: dict[str, object]
) -> None:
    office = Office.opened()
    office.team(cap=5)
    holder = office.deliver(office.firing(job="alpha", overlap=overlap))
    assert holder is not None
    other = office.firing(1, job="alpha", overlap=overlap)
    lose_lock(office, other, **facts)
    assert office.deliver(other) is None
    office.clock.advance(seconds=1)
    office.lose(holder)  # it keeps the lock while it waits for its retry
    assert office.deliver(other) is None
    again = office.deliver(office.read(holder))
    assert again is not None
    assert again.fence > holder.fence
    assert office.end(again)
    then = office.deliver(
        office.firing(2, job="alpha", overlap=overlap) if overlap is Overlap.SKIP else other
    )
    assert then is not None
    assert then.fence > again.fence


def test_R10_E6_a_lock_that_nobody_holds_or_can_read_is_free() -> None:
    office = Office.opened()
    office.team(cap=5)
    first = office.deliver(office.firing(job="alpha", overlap=Overlap.SKIP))
    assert first is not None
    assert office.end(first)
    second = office.firing(1, job="alpha", overlap=Overlap.SKIP)
    lose_lock(office, second)
    leased = office.deliver(second)
    assert leased is not None
    assert leased.fence > first.fence
