"""After a point-in-time restore (protocol F5): the copy is a past, its queues are empty, and twenty minutes went by.

The stage fires nothing that was due before it was opened again; recovery wakes what was under way.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.store import Key, Put, Table
from fencepost.domain.instants import floor_minute
from fencepost.domain.model import Execution, RetryPolicy, TimerKind
from fencepost.domain.outcome import Delivered, Failed
from fencepost.domain.states import ExecutionState, Reason
from fencepost.runtime.api import recovery
from tests.support.machine import MINUTE, DiesError, Machine
from tests.support.world import World

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
GONE_FOR = 20


class Target:
    """Takes everything, but fails what is called `flaky` until it is told to be well, and takes one worker away."""

    def __init__(self):
        self.well = False
        self.dies = True

    def __call__(self, delivery):
        if delivery.facts.job == "dying" and self.dies:
            raise DiesError
        flaky = delivery.facts.job == "flaky" and not self.well
        return Failed(status=500, error="answered 500") if flaky else Delivered(status=200)


class Restored:
    """A stage that lived, a copy of its store, and the stage that was opened on that copy later."""

    def __init__(self):
        world = World()
        target = Target()
        world.targets.then = target
        self.before = Machine(world)
        world.team("crowded", max_concurrency=0)
        for name in ("one", "two"):
            self.before.plant(name, EVERY_MINUTE)
        slowly = RetryPolicy(max_attempts=9, initial_delay=timedelta(minutes=9), multiplier=1.0)
        self.before.plant("flaky", {"at": "2026-03-01T09:02:00Z"}, retry=slowly)
        self.before.plant("dying", {"at": "2026-03-01T09:04:00Z"})
        self.before.plant("waiting", {"at": "2026-03-01T09:03:00Z"}, team="crowded")
        self.before.plant("later", {"at": "2026-03-01T11:00:00Z"})
        self.before.minutes(6)
        self.copied_at = world.clock.now()
        self.copy = [(table, dict(item)) for table in Table for item in world.memory.everything(table)]
        self.unfinished = {str(each.id) for each in world.records() if not each.final}
        self.before.minutes(GONE_FOR)
        self.opened_at = world.clock.now()
        target.well, target.dies = True, False
        self.after = self._open(target)

    def _open(self, target):
        """The old copy under a new stage: no message survived."""
        world = World()
        world.clock.set(self.opened_at)
        for table, item in self.copy:
            facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
            world.memory.write(Put(key=Key(table, item["pk"], item["sk"]), item=facts))
        world.targets.then = target
        return Machine(world, no_fire_before=self.opened_at)

    @property
    def world(self):
        return self.after.world

    def named(self, job):
        return [record for record in self.world.records() if record.job == job]


@pytest.fixture
def restored():
    return Restored()


@pytest.fixture
def recovered(restored):
    recover(restored.after)
    restored.after.minutes(5)
    return restored


def recover(machine):
    """What an administrator does, where no ledger is left to compare with."""
    until = machine.world.clock.now() + MINUTE
    found = recovery(machine.stage, None).run(0, 1, until, ledger=False)
    assert found.finished
    return found


def covering(record: Execution, instant):
    """Whether the record explains the occurrence: its own, or its range's."""
    return record.due <= instant <= (record.until or record.due)


def test_the_copy_holds_what_the_story_needs(restored):
    states = {
        str(each.state) for each in restored.before.world.records() if str(each.id) in restored.unfinished
    }
    assert len(restored.unfinished) >= 3
    assert ExecutionState.WAITING in states
    assert restored.world.mail.next_visible() is None


def test_F5_nothing_that_was_due_before_is_fired_but_what_was_under_way(recovered):
    early = {
        call.execution
        for call in recovered.world.targets.calls
        if recovered.world.record(_id(recovered, call.execution)).due < recovered.opened_at
    }
    assert early <= recovered.unfinished


def _id(story, text):
    return next(record.id for record in story.world.records() if str(record.id) == text)


def test_F5_every_occurrence_of_the_lost_time_is_explained_once(recovered):
    instant = floor_minute(recovered.copied_at) + MINUTE
    while instant < recovered.opened_at:
        for job in ("one", "two"):
            (record,) = [each for each in recovered.named(job) if covering(each, instant)]
            if str(record.id) not in recovered.unfinished:
                assert (record.state, record.reason) == (ExecutionState.SKIPPED, Reason.RESTORED)
        instant += MINUTE


def test_F5_jobs_fire_again_from_the_moment_it_was_opened(recovered):
    for job in ("one", "two"):
        due = {record.due for record in recovered.named(job) if record.state is ExecutionState.SUCCEEDED}
        opened = floor_minute(recovered.opened_at)
        assert {opened + n * MINUTE for n in range(1, 4)} <= due


def test_F5_what_was_under_way_comes_to_its_end(recovered):
    recovered.after.minutes(12)
    (flaky,) = recovered.named("flaky")
    (dying,) = recovered.named("dying")
    assert (flaky.state, dying.state) == (ExecutionState.SUCCEEDED, ExecutionState.SUCCEEDED)
    assert len(flaky.attempts) >= 2


def test_F5_who_waited_for_a_slot_goes_on_waiting_and_is_pumped(recovered):
    (waiting,) = recovered.named("waiting")
    assert waiting.state is ExecutionState.WAITING
    recovered.world.team("crowded", max_concurrency=1)
    recovered.after.minutes(2)
    (waiting,) = recovered.named("waiting")
    assert waiting.state is ExecutionState.SUCCEEDED


def test_F5_each_job_has_one_timer_and_the_one_that_was_far_ahead_is_untouched(recovered):
    timers = [timer for timer in recovered.world.timers() if timer.kind is TimerKind.FIRE]
    assert sorted(timer.uid[:5] for timer in timers) == ["later", "oneaa", "twoaa"]
    assert all(timer.instant > recovered.world.clock.now() for timer in timers)
    assert recovered.named("later") == []


def test_recovering_twice_and_beside_the_running_stage_changes_nothing(recovered):
    calls = len(recovered.world.targets.calls)
    recover(recovered.after)
    recovered.after.minutes(1)
    again = recovered.world.targets.calls[calls:]
    assert {recovered.world.record(_id(recovered, call.execution)).job for call in again} <= {
        "one",
        "two",
        "dying",
    }


def test_without_recovery_what_was_under_way_stays_where_it_was(restored):
    """Its messages are gone: this is what the sweep is for."""
    restored.after.minutes(5)
    (dying,) = restored.named("dying")
    assert not dying.final
