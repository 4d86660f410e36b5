"""Several deliveries of one firing at once: one of them acts, the others change nothing."""

from __future__ import annotations

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.store import StoreBusyError
from fencepost.domain.outcome import Accepted
from fencepost.domain.states import ExecutionState
from tests.support.world import BROKEN, OK, World

S = ExecutionState


def test_D6_the_outcome_of_a_lost_holder_is_refused_and_the_next_ones_stands():
    world = World()
    queued = world.queue(world.job())

    def lapse_meanwhile(_):
        world.clock.advance(seconds=40)  # this worker is suspended in its call
        world.parts.advance.run(queued.id, None)  # another judges the lapse ...
        world.clock.advance(seconds=10)
        world.targets.script = [OK]
        world.parts.advance.run(queued.id, None)  # ... and delivers
        return BROKEN

    world.targets.script = [lapse_meanwhile]
    world.poll()
    record = world.record(queued)
    assert [attempt.outcome for attempt in record.attempts] == ["worker_lost", "delivered"]
    assert record.state is S.SUCCEEDED
    assert world.slots() == []


def test_F4_a_conflict_is_never_read_as_a_lost_race():
    world = World()
    queued = world.queue(world.job())
    conflicts: list[PortCall] = []

    def around(call: PortCall, proceed):
        mine = call.method == "write" and call.args[0].key == keys.execution(queued.id)
        if mine and len(conflicts) < 3:
            conflicts.append(call)
            raise StoreBusyError("conflict")
        return proceed()

    world.rewire(around)
    world.poll()
    assert len(conflicts) == 3
    assert world.record(queued).state is S.SUCCEEDED
    assert len(world.targets.calls) == 1


def test_two_wake_ups_of_one_firing_call_its_target_once():
    world = World()
    queued = world.queue(world.job())

    def meanwhile(_):
        world.parts.advance.run(queued.id, None)
        return OK

    world.targets.script = [meanwhile]
    world.poll()
    assert len(world.targets.calls) == 1
    assert world.record(queued).state is S.SUCCEEDED


def test_a_lease_that_loses_to_another_gives_its_slot_back():
    world = World()
    queued = world.queue(world.job())
    raced: list[PortCall] = []

    def around(call: PortCall, proceed):
        mine = call.method == "write" and call.args[0].key == keys.execution(queued.id)
        if mine and not raced:
            raced.append(call)
            other = World.__new__(World)
            other.__dict__ |= world.__dict__
            other.rewire()
            other.parts.advance.run(queued.id, None)
        return proceed()

    world.rewire(around)
    world.poll()
    assert len(world.targets.calls) == 1
    assert world.record(queued).state is S.SUCCEEDED
    assert world.slots() == []


def test_E3_a_rival_that_took_the_winners_slot_gives_it_back():
    world = World()
    queued = world.queue(world.job())
    world.targets.script = [Accepted()]
    raced: list[PortCall] = []

    def around(call: PortCall, proceed):
        slot = call.method == "write" and call.args[0].key.pk.startswith("S#")
        if (
            slot and not raced
        ):  # the rival has read the record; now the winner leases it and its target works on
            raced.append(call)
            world.clock.advance(seconds=1)
            other = World.__new__(World)
            other.__dict__ |= world.__dict__
            other.rewire()
            other.parts.advance.run(queued.id, None)
        return proceed()

    world.rewire(around)
    world.poll()
    record = world.record(queued)
    (slot,) = world.slots()
    assert raced
    assert record.state is S.RUNNING
    assert (slot["x"], slot["f"]) == (str(record.id), record.fence)
    assert len(world.targets.calls) == 1
