"""Races and crashes that the simulator found, each told at its smallest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application import keys, messages
from fencepost.application.admission.holdings import Holding, encode_holding
from fencepost.application.delivery.results import Acknowledge, PutBack
from fencepost.application.ports import Outgoing, QueueName, Received
from fencepost.application.store import Delete, Put
from fencepost.domain.identity import hashed
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.manners import HostLimit
from fencepost.domain.model import Execution, LongWork, RetryPolicy
from fencepost.domain.outcome import Accepted
from fencepost.domain.states import ExecutionState
from tests.support.faults import Killed
from tests.support.registry import OWNER
from tests.support.world import BROKEN, GRAVES, OK, World

T = TypeVar("T")
NOBODY = timedelta(0)
SOMEBODY = Put(
    key=keys.slot("payments", 0, Limits().slots_per_lane),
    item=encode_holding(
        Holding(
            number=0,
            execution=f"{'b' * 20}-s-1772355600000",
            fence=1,
            until=from_wire("2026-03-01T10:00:00Z"),
        )
    ),
)
"""Somebody else has the team's only slot."""


class Meanwhile:
    """Lets something happen before the first write of an execution's record by `method`."""

    def __init__(self, happens: Callable[[], object], method: str = "write") -> None:
        self._happens: Callable[[], object] | None = happens
        self._method = method

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        happens = self._happens
        if happens is not None and call.method == self._method and writes_a_record(call):
            self._happens = None
            happens()
        return proceed()


class Interrupted:
    """Kills the process before it would write `name` on an execution's record."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        if call.method == "write" and writes_a_record(call) and self._name in call.args[0].set:
            raise Killed
        return proceed()


def writes_a_record(call: PortCall) -> bool:
    """Whether the call writes an execution's record."""
    actions = [call.args[0]] if call.method == "write" else call.args[0]
    return any(action.key.table == "executions" for action in actions)


class AfterTheCall(Meanwhile):
    """Lets something happen between a target's answer and the next write of an execution's record."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__(happens)
        self._called = False

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        self._called = self._called or call.port == "targets"
        return super().__call__(call, proceed) if self._called and call.port != "targets" else proceed()


def message_of(world: World) -> Received:
    (message,) = world.mail.receive(QueueName.STANDARD, 1, NOBODY)
    return message


def waiting(world: World) -> Execution:
    """A firing in its team's backlog, its message acknowledged, while a slot has come free and nobody was called."""
    world.team(max_concurrency=1)
    job = world.job()
    world.memory.write(SOMEBODY)
    queued = world.queue(job)
    world.poll()
    assert world.record(queued).state is ExecutionState.WAITING
    world.memory.write(Delete(key=SOMEBODY.key))
    world.clock.advance(seconds=2)  # that the team was full is forgotten
    return queued


def test_an_attempt_that_was_put_off_is_not_overwritten_by_a_rival_that_had_read_the_record_before():
    """Two hands hold the execution's message. One finds the host's circuit open and puts the attempt off; the other
    one had read the record before that, and knows of no open circuit. State, generation and fence are the same."""
    world = World(fraction=0.5, circuit_failures=1)
    job = world.job(retry=RetryPolicy(max_attempts=4, initial_delay=timedelta(seconds=10)))
    queued = world.queue(job)
    world.targets.then = BROKEN
    world.poll()
    world.clock.set(world.record(queued).wake_at)
    message = message_of(world)
    knowing = world.parts.advance
    world.rewire(Meanwhile(lambda: knowing.run(queued.id, None)))
    world.targets.then = OK
    world.handle(message)
    record = world.record(queued)
    assert record.state is ExecutionState.RETRY_WAIT
    assert [attempt.outcome for attempt in record.attempts] == ["failed", "circuit_open"]
    assert record.attempt == 2
    assert len(world.targets.calls) == 1


@pytest.mark.parametrize("target", ["dies", "answers"])
def test_A1_a_lease_out_of_the_backlog_outlives_the_message_that_another_hand_acknowledged(target: str):
    """One message, handed out twice. One hand joins the backlog; the other one finds a slot, leases, and dies. The
    first one acknowledges, since the entry in the backlog was wake-up enough when it looked."""
    world = World()
    queued = waiting(world)
    world.mail.send([Outgoing(queue=QueueName.STANDARD, body=messages.wake_body(queued.id))])
    message = message_of(world)
    world.targets.script = [Killed()] if target == "dies" else []
    with suppress(Killed):
        world.parts.advance.run(queued.id, message)
    world.mail.delete([message])
    world.run()
    assert world.record(queued).state is ExecutionState.SUCCEEDED


class LastWrite(Meanwhile):
    """The same before the first transaction of a record, which is then the last that this process does."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__(happens, "transact")

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        super().__call__(call, proceed)
        if call.method == "transact" and writes_a_record(call):
            raise Killed
        return proceed()


def test_A1_a_lease_out_of_the_backlog_that_is_written_late_has_not_outlived_its_watch():
    """Its hand stood still before it wrote; the watch that it had sent came, saw the record wait, and was taken away."""
    world = World()
    queued = waiting(world)
    world.mail.send([Outgoing(queue=QueueName.STANDARD, body=messages.wake_body(queued.id))])
    message = message_of(world)
    elsewhere = world.parts.advance

    def stands_still() -> None:
        world.mail.delete([message])
        world.clock.advance(minutes=1)
        world.memory.write(SOMEBODY)  # the slot had lapsed
        while found := world.mail.receive(QueueName.STANDARD, 1, NOBODY):
            assert isinstance(elsewhere.run(queued.id, found[0]), Acknowledge)
            world.mail.delete(found)

    world.rewire(LastWrite(stands_still))
    with suppress(Killed):
        world.parts.advance.run(queued.id, message)
    assert world.record(queued).state is ExecutionState.RUNNING
    world.rewire()
    world.memory.write(Delete(key=SOMEBODY.key))
    world.run()
    assert world.record(queued).state is ExecutionState.SUCCEEDED


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_execution_does_not_wait_for_the_place_that_another_message_of_it_holds(parallel: int):
    """Two messages of one execution. One hand has a place of the host that its team spares, and is about to lease; the
    other one finds no place free. Were it to put the record off, the first one's lease would lose, the two would meet
    again when the wait is over, and nobody would ever be called."""
    world = World()
    host = "report.example.com"
    world.team(hosts=(HostLimit(host=host, max_parallel=parallel),))
    queued = world.queue(world.job(url=f"https://{host}/hook"))
    for number in range(1, parallel):
        elsewhere = {"v": 1, "x": "somebody", "until": to_ms(from_wire("2026-03-01T10:00:00Z"))}
        taken = hashed(str(queued.id), parallel)
        world.memory.write(
            Put(key=keys.host_place("payments", host, (taken + number) % parallel), item=elsewhere)
        )
    world.mail.send([Outgoing(queue=QueueName.STANDARD, body=messages.wake_body(queued.id))])
    one = message_of(world)
    other, seen = world.parts.advance, list[object]()
    world.rewire(Meanwhile(lambda: seen.append(other.run(queued.id, message_of(world)))))
    world.handle(one)
    assert [type(each) for each in seen] == [PutBack]
    assert world.record(queued).state is ExecutionState.SUCCEEDED
    assert len(world.targets.calls) == 1
    world.run()
    assert world.at_rest()


def working(world: World) -> Execution:
    """A firing whose target answered 202 and works on."""
    job = world.job(long_work=LongWork(lease=timedelta(seconds=30), max_run=timedelta(minutes=10)))
    queued = world.queue(job)
    world.targets.then = Accepted()
    world.poll()
    return world.record(queued)


def test_D6_a_lapse_does_not_end_a_lease_that_a_heartbeat_has_just_made_longer():
    """Whoever judges the lease has read its end; before it writes, a worker whose clock is a little behind is heard."""
    world = World()
    record = working(world)
    fence, until, workers = record.fence, record.lease_until, world.parts.workers
    assert until is not None
    beat = until - timedelta(milliseconds=1)
    world.clock.set(until + world.limits.taker_waits)
    world.rewire(Meanwhile(lambda: workers.heartbeat("payments", record.id, fence, beat)))
    world.poll()
    after = world.record(record)
    assert (after.state, after.fence) == (ExecutionState.RUNNING, fence)
    assert after.lease_until == beat + timedelta(seconds=30)


def test_D7_an_answer_that_is_recorded_late_does_not_cut_the_lease_that_heartbeats_made_longer():
    """The target answered 202, and its worker was heard, before the one who had called it wrote the answer down."""
    world = World()
    job = world.job(long_work=LongWork(lease=timedelta(seconds=30), max_run=timedelta(minutes=10)))
    queued = world.queue(job)
    workers, heard = world.parts.workers, list[Execution]()

    def beat() -> None:
        world.clock.advance(seconds=8)
        record = world.record(queued)
        workers.heartbeat("payments", record.id, record.fence, world.clock.now())
        heard.append(world.record(queued))

    world.targets.then = Accepted()
    world.rewire(AfterTheCall(beat))
    world.poll()
    assert world.record(queued).lease_until == heard[0].lease_until


def test_P4_a_second_death_is_told_though_the_first_one_was_noted_while_its_owner_redrove_it():
    """Whoever buried the first death notes that its message was sent, between the redrive's read and its write."""
    world = World()
    world.targets.then = BROKEN
    queued = world.queue(world.job(retry=RetryPolicy(max_attempts=1)))
    world.rewire(Interrupted("told"))
    with suppress(Killed):
        world.poll()
    world.rewire()
    dead = world.record(queued)
    assert (dead.state, dead.told) == (ExecutionState.DEAD, False)
    noting = world.parts.advance
    world.rewire(Meanwhile(lambda: noting.run(queued.id, None), method="transact"))
    world.parts.redrive.one(OWNER, "payments", queued.id, world.clock.now())
    world.rewire()
    world.poll(GRAVES)  # the first death's message finds it alive again
    world.run()
    assert world.record(queued).told
    assert len(world.notifier.told) == 1
