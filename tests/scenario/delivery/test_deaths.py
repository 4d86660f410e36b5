"""Each death is a happening of its own: whoever drops the ids that it has seen learns of every one of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from fencepost.application import keys
from fencepost.application.delivery.redrive import Redriven
from fencepost.application.store import Put
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Caller, Execution, RetryPolicy
from fencepost.domain.states import ExecutionState
from tests.support.world import BROKEN, World

OWNER = Caller(principal="arn:aws:iam::111122223333:role/payments")
ONCE = RetryPolicy(max_attempts=1)


def open_circuit(world: World, _: Execution) -> None:
    """Nobody calls the host for an hour."""
    until = to_ms(world.clock.now() + timedelta(hours=1))
    key = keys.circuit("payments/report.example.com")
    world.memory.write(Put(key=key, item={"v": 1, "until": until, "expires": until}))


def spoil(world: World, record: Execution) -> None:
    """Nobody can read what is sent any more."""
    assert record.detail is not None
    world.memory.write(Put(key=keys.detail(record.id.uid, record.detail), item={"v": 1, "state": "?"}))
    world.rewire()  # a process that does not remember it


@pytest.mark.parametrize("hurt", [open_circuit, spoil])
def test_a_second_death_without_any_call_is_told_under_an_id_of_its_own(
    hurt: Callable[[World, Execution], None],
) -> None:
    world = World()
    queued = world.queue(world.job(retry=ONCE))
    world.targets.script = [BROKEN]
    world.run()
    first = world.record(queued)
    for _ in range(2):
        world.clock.advance(seconds=1)
        hurt(world, first)
        now = world.clock.now()
        assert isinstance(world.parts.redrive.one(OWNER, "payments", first.id, now), Redriven)
        world.run()
    again = world.record(queued)
    assert (again.state, again.fence, len(world.targets.calls)) == (ExecutionState.DEAD, first.fence, 1)
    assert len({notice.id for notice in world.notifier.told}) == 3


def test_one_death_without_any_call_is_told_under_one_id_however_often() -> None:
    world = World()
    job = world.job(retry=ONCE)
    world.memory.write(Put(key=keys.detail(job.uid, job.detail), item={"v": 1, "state": "?"}))
    queued = world.queue(job)
    world.notifier.deaf = True
    world.poll()
    record = world.record(queued)
    world.notifier.deaf = False
    for _ in range(2):
        world.parts.dead_letters.handle(record.id, world.clock.now())
        world.memory.write(Put(key=keys.dead_letter(record, record.ended_at or record.due), item={"v": 1}))
        world.clock.advance(seconds=60)
    assert len(world.notifier.told) == 2
    assert len({notice.id for notice in world.notifier.told}) == 1
