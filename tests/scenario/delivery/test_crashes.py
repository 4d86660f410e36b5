"""Whatever single call of a port fails, and however: the next wake-ups heal it, and nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from fencepost.domain.model import Execution, Overlap, RetryPolicy
from fencepost.domain.outcome import Accepted, Refused
from fencepost.domain.states import ExecutionState, JobState
from tests.support.faults import Fault, FaultAt, Killed
from tests.support.world import BROKEN, World

S = ExecutionState


@dataclass(frozen=True, slots=True)
class Story:
    """How a world begins, and how its firing must end, whatever happens in between."""

    tell: Callable[[World], Execution]
    ends: ExecutionState


def succeeds(world: World) -> Execution:
    return world.queue(world.job())


def fails_once(world: World) -> Execution:
    world.targets.script = [BROKEN]
    return world.queue(world.job())


def fails_for_an_hour(world: World) -> Execution:
    world.targets.script = [BROKEN]
    wait = timedelta(hours=1)
    return world.queue(world.job(retry=RetryPolicy(initial_delay=wait, max_delay=wait)))


def dies(world: World) -> Execution:
    world.targets.then = Refused(status=410, error="answered 410: never again")
    return world.queue(world.job())


def alone_in_its_job(world: World) -> Execution:
    world.team(notify_on=frozenset({"dead", "succeeded"}))
    return world.queue(world.job(overlap=Overlap.SKIP))


def was_deleted(world: World) -> Execution:
    job = world.job()
    queued = world.queue(job)
    world.put(replace(job, state=JobState.DELETED, generation=2))
    return queued


def is_skipped(world: World) -> Execution:
    job = world.job(overlap=Overlap.SKIP)
    world.targets.script = [Accepted()]
    world.queue(job, "2026-03-01T08:59:00Z")
    world.run(until="2026-03-01T09:00:00Z")
    return world.queue(job)


def waits_for_a_slot(world: World) -> Execution:
    world.team(max_concurrency=1)
    world.targets.script = [Accepted()]
    world.queue(world.job("other"))
    world.poll()
    return world.queue(world.job())


STORIES = {
    story.tell.__name__: story
    for story in (
        Story(succeeds, S.SUCCEEDED),
        Story(fails_once, S.SUCCEEDED),
        Story(fails_for_an_hour, S.SUCCEEDED),
        Story(dies, S.DEAD),
        Story(alone_in_its_job, S.SUCCEEDED),
        Story(was_deleted, S.CANCELLED),
        Story(is_skipped, S.SKIPPED),
        Story(waits_for_a_slot, S.SUCCEEDED),
    )
}
MOST_CALLS = 40


def play(story: Story, fault: FaultAt) -> tuple[World, Execution]:
    """The first wake-up of the story's firing meets the fault; then new processes go on in peace."""
    world = World()
    queued = story.tell(world)
    before = len(world.targets.calls)
    world.rewire(fault)
    with suppress(Killed):
        world.poll()
    world.rewire()
    del world.targets.calls[:before]
    drain(world)
    return world, queued


def drain(world: World) -> None:
    """Until nothing is left to do; every minute the tick pumps the teams that have a mark."""
    for _ in range(200):
        world.run(until=world.clock.now() + timedelta(seconds=60))
        world.doors.backlog.pump("payments", world.clock.now())
        if world.at_rest():
            return
    raise AssertionError("it never comes to rest")


def check(world: World, queued: Execution, ends: ExecutionState) -> None:
    record = world.record(queued)
    calls = [call for call in world.targets.calls if call.execution == str(queued.id)]
    delivered = [attempt for attempt in record.attempts if attempt.outcome == "delivered"]
    assert record.state is ends
    assert len(delivered) == (1 if ends is S.SUCCEEDED else 0)
    assert [call.fence for call in calls] == sorted({call.fence for call in calls})
    assert len({call.body for call in calls}) <= 1
    assert len(calls) <= record.losses + len(record.attempts)
    assert world.slots() == []
    assert record.expires_at is not None
    if ends is S.DEAD:
        assert record.told
        assert [letter.id for letter in world.dead_letters()] == [record.id]
        assert len({notice.id for notice in world.notifier.told}) == 1
    if record.overlap is not Overlap.ALLOW:
        assert world.lock_holder(queued.id.uid) is None


@pytest.mark.parametrize("name", STORIES)
def test_A1_a_story_ends_well_when_nothing_fails(name):
    fault = FaultAt()
    world, queued = play(STORIES[name], fault)
    check(world, queued, STORIES[name].ends)
    assert len(fault.calls) <= MOST_CALLS


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("name", STORIES)
def test_A1_a_failing_call_loses_and_doubles_nothing(name, fault):
    clean = FaultAt()
    play(STORIES[name], clean)
    for at in range(len(clean.calls)):
        failing = FaultAt(at, fault)
        world, queued = play(STORIES[name], failing)
        try:
            check(world, queued, STORIES[name].ends)
            assert failing.killed or world.record(queued).losses == 0
        except AssertionError as error:
            raise AssertionError(f"{fault}: call {at}, {failing.calls[at]}: {error}") from error
