"""Many firings, few slots, a target that fails, workers that die, a store that stutters: all of them end well."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from random import Random

import pytest

from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import StoreError
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Overlap, RetryPolicy
from fencepost.domain.outcome import Accepted, Delivered, Failed, TimedOut
from fencepost.domain.states import ExecutionState
from tests.support.faults import Killed, Trouble
from tests.support.world import TIERS, World

S = ExecutionState
PATIENT = RetryPolicy(max_attempts=200, initial_delay=timedelta(seconds=2), max_delay=timedelta(seconds=30))
ANSWERS = (
    Delivered(status=200),
    Failed(status=429, error="answered 429"),
    TimedOut(error="no answer"),
    Accepted(),
)


def crowd(world, draw):
    """Thirty firings within a minute, some of jobs that do not overlap."""
    world.team(max_concurrency=3)
    jobs = [
        world.job(f"job-{letter}", retry=PATIENT, overlap=Overlap.QUEUE if letter in "ab" else Overlap.ALLOW)
        for letter in "abcdef"
    ]
    now = world.clock.now()
    dues = {(draw.choice(jobs).name, draw.randrange(60)) for _ in range(30)}
    named = {job.name: job for job in jobs}
    return [world.queue(named[name], now + timedelta(seconds=second)) for name, second in sorted(dues)]


@pytest.mark.parametrize("seed", range(5))
def test_A1_whatever_fails_every_firing_is_accepted_once(seed):
    world, draw = World(), Random(seed)
    records = crowd(world, draw)
    world.targets.then = lambda _: draw.choice(ANSWERS)
    trouble = Trouble(seed)
    most = 0
    for _ in range(1500):
        world.rewire(trouble)
        for step in (world.scan, lambda: world.poll(TIERS), lambda: pump(world)):
            try:
                step()
            except Killed:
                world.rewire(trouble)
        running = [record for record in world.records() if record.state is S.RUNNING]
        live = [r for r in running if r.lease_until is not None and r.lease_until > world.clock.now()]
        most = max(most, len(live))
        if all(world.record(record).final for record in records):
            break
        world.clock.advance(seconds=5)
    rest(world)
    assert trouble.kills > 0
    assert most <= 3
    for record in records:
        ended = world.record(record)
        calls = [call for call in world.targets.calls if call.execution == str(record.id)]
        assert ended.state is S.SUCCEEDED
        assert sum(attempt.outcome == "delivered" for attempt in ended.attempts) == 1
        assert [call.fence for call in calls] == sorted({call.fence for call in calls})
        assert len({call.body for call in calls}) == 1
    assert held(world) == []


def held(world):
    """Slots that nobody may take yet: an expired one whose holder is over is as good as free."""
    now = to_ms(world.clock.now())
    return [slot for slot in world.slots() if slot["until"] > now]


def pump(world):
    with suppress(StoreError, QueueUnavailableError):  # the next minute's pump goes on
        world.doors.backlog.pump("payments", world.clock.now())


def rest(world):
    """The trouble is over: what is left is cleared up."""
    world.rewire()
    world.targets.then = Delivered(status=200)
    for _ in range(60):
        world.run(until=world.clock.now() + timedelta(minutes=1))
        pump(world)
        if world.at_rest() and not held(world):
            return
    raise AssertionError("it never comes to rest")
