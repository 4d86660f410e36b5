"""What nobody can read hides no death, and keeps no place of a host: deaths are told, listed and redriven all the same."""

from __future__ import annotations

import pytest

from fencepost.application import keys
from fencepost.application.codec import VERSION, NewerShapeError
from fencepost.application.delivery.dead_letters import dead_letter_key
from fencepost.application.delivery.redrive import NotDead, OnItsWay, Redriven
from fencepost.application.delivery.results import Acknowledge
from fencepost.application.registry.dead_letters import list_dead_letters
from fencepost.application.store import Key, Put, Table
from fencepost.domain.manners import HostLimit
from fencepost.domain.model import Caller, Execution, RetryPolicy
from fencepost.domain.outcome import Refused
from fencepost.domain.states import ExecutionState
from tests.support.world import World

OWNER = Caller(principal="arn:aws:iam::111122223333:role/payments")
ANOTHER = Caller(principal="arn:aws:iam::111122223333:role/audit")
HOST = "api.example.com"
NEVER = Refused(status=410, error="answered 410: never again")


def dead(world: World, name: str) -> Execution:
    """A firing of that job, which dies now; nobody is told yet."""
    queued = world.queue(world.job(name))
    world.targets.script = [NEVER]
    world.poll()
    world.clock.advance(seconds=1)
    return world.record(queued)


def test_R10_a_death_is_told_though_its_dead_letter_cannot_be_read() -> None:
    world = World()
    record = dead(world, "report")
    world.memory.write(Put(key=dead_letter_key(record), item={"v": 1, "execution": "?"}))
    assert isinstance(world.parts.dead_letters.handle(record.id, world.clock.now()), Acknowledge)
    (notice,) = world.notifier.told
    assert notice.execution_id == str(record.id)


def test_a_dead_letter_of_a_later_version_is_left_to_that() -> None:
    world = World()
    record = dead(world, "report")
    world.memory.write(Put(key=dead_letter_key(record), item={"v": VERSION + 1}))
    with pytest.raises(NewerShapeError):
        world.parts.dead_letters.handle(record.id, world.clock.now())
    assert world.notifier.told == []


@pytest.mark.parametrize("item", [{"v": 1, "state": "?"}, {"v": VERSION + 1}])
def test_R10_a_record_that_cannot_be_read_hides_no_other_dead_letter(item: dict[str, object]) -> None:
    world = World()
    records = [dead(world, name) for name in ("alpha", "beta", "gamma")]
    world.memory.write(Put(key=keys.execution(records[1].id), item=item))
    world.memory.write(Put(key=Key(Table.EXECUTIONS, "D#payments", "1772355600500#?"), item={"v": 1}))
    listed = list_dead_letters(world.store, "payments").items
    assert [each.job for each in listed] == ["gamma", "alpha"]


def test_a_redrive_said_again_is_on_its_way_though_what_died_had_no_attempt() -> None:
    world = World()
    job = world.job(retry=RetryPolicy(max_attempts=1))
    world.memory.write(Put(key=keys.detail(job.uid, job.detail), item={"v": 1, "state": "?"}))
    queued = world.queue(job)
    world.run()
    record = world.record(queued)
    assert (record.state, record.fence) == (ExecutionState.DEAD, 0)
    world.job(retry=RetryPolicy(max_attempts=1))  # its owner mended it
    redrive = world.parts.redrive
    assert isinstance(redrive.one(OWNER, "payments", record.id, world.clock.now()), Redriven)
    assert isinstance(redrive.one(OWNER, "payments", record.id, world.clock.now()), OnItsWay)
    assert isinstance(redrive.one(ANOTHER, "payments", record.id, world.clock.now()), NotDead)
    world.rewire()
    world.run()
    assert world.record(record).state is ExecutionState.SUCCEEDED


def spared(item: dict[str, object]) -> tuple[World, Key]:
    """A host that takes one call at once, whose only place says no more than `item`."""
    world = World()
    world.team(hosts=(HostLimit(host=HOST, max_parallel=1),))
    key = keys.host_place("payments", HOST, 0)
    world.memory.write(Put(key=key, item=item))
    return world, key


@pytest.mark.parametrize("item", [{"v": 1, "x": "?", "until": "soon"}, {"v": 1}])
def test_R10_the_only_place_of_a_host_is_not_lost_for_ever_where_nobody_can_read_it(
    item: dict[str, object],
) -> None:
    world, key = spared(item)
    records = [world.queue(world.job(name, url=f"https://{HOST}/hook")) for name in ("alpha", "beta")]
    world.run()
    assert {world.record(record).state for record in records} == {ExecutionState.SUCCEEDED}
    assert world.memory.get(key) is None


def test_a_place_of_a_later_version_stays_taken() -> None:
    world, _ = spared({"v": VERSION + 1, "until": "?"})
    record = world.queue(world.job(url=f"https://{HOST}/hook"))
    world.run(until="2026-03-01T09:30:00Z")
    assert world.record(record).state is ExecutionState.RETRY_WAIT
