"""What becomes of a firing whose target answers well, badly, late or never."""

from __future__ import annotations

from datetime import timedelta

from fencepost.application.delivery.results import Acknowledge
from fencepost.domain.instants import from_wire
from fencepost.domain.model import RetryPolicy
from fencepost.domain.outcome import Refused, TimedOut
from fencepost.domain.states import ExecutionState, Reason
from tests.support.world import BROKEN, OK, World


def outcomes(record):
    return [attempt.outcome for attempt in record.attempts]


def test_a_firing_reaches_its_target_once_and_its_record_says_how():
    world = World()
    queued = world.queue(world.job(), "2026-03-01T09:00:15Z")
    world.run()
    record = world.record(queued)
    (call,) = world.targets.calls
    (attempt,) = record.attempts
    assert call.at == from_wire("2026-03-01T09:00:15Z")
    assert record.state is ExecutionState.SUCCEEDED
    assert (attempt.outcome, attempt.status, attempt.fence) == ("delivered", 200, record.fence)
    assert (call.execution, call.fence, call.attempt) == (str(record.id), record.fence, 1)
    assert record.lateness == timedelta(0)
    assert record.ended_at == call.at + world.targets.takes
    assert record.expires_at is not None
    assert world.slots() == []


def test_failures_are_tried_again_with_backoff_until_one_succeeds():
    world = World(fraction=0.5)
    queued = world.queue(world.job(retry=RetryPolicy(initial_delay=timedelta(seconds=10))))
    world.targets.script = [BROKEN, BROKEN, OK]
    world.run()
    record = world.record(queued)
    assert record.state is ExecutionState.SUCCEEDED
    assert outcomes(record) == ["failed", "failed", "delivered"]
    first, second, third = (call.at for call in world.targets.calls)
    assert second - first == timedelta(seconds=5) + world.targets.takes
    assert third - second == timedelta(seconds=10) + world.targets.takes
    assert [call.attempt for call in world.targets.calls] == [1, 2, 3]
    assert len({call.body for call in world.targets.calls}) == 1


def test_a_budget_that_is_spent_ends_in_a_dead_letter_and_a_notice():
    world = World()
    queued = world.queue(world.job(retry=RetryPolicy(max_attempts=3)))
    world.targets.then = BROKEN
    world.run()
    record = world.record(queued)
    assert (record.state, record.reason) == (ExecutionState.DEAD, Reason.BUDGET_SPENT)
    assert record.told
    assert outcomes(record) == ["failed"] * 3
    (letter,) = world.dead_letters()
    assert (letter.id, letter.fence, letter.attempts) == (record.id, record.fence, 3)
    assert letter.notified_at is not None
    (notice,) = world.notifier.told
    assert (notice.execution_id, notice.reason) == (str(record.id), "budget_spent")
    assert world.slots() == []


def test_a_target_that_says_never_is_believed():
    world = World()
    queued = world.queue(world.job())
    world.targets.script = [Refused(status=410, error="answered 410: never again")]
    world.run()
    record = world.record(queued)
    assert (record.state, record.reason) == (ExecutionState.DEAD, Reason.REFUSED)
    assert len(world.targets.calls) == 1


def test_D12_a_timeout_is_unknown_and_the_next_attempt_has_the_same_id_and_body_and_a_larger_fence():
    world = World()
    queued = world.queue(world.job(payload=b'{"at":"{{due}}"}'))
    world.targets.script = [TimedOut(error="no answer within 10 s"), OK]
    world.run()
    record = world.record(queued)
    first, second = world.targets.calls
    assert outcomes(record) == ["timed_out", "delivered"]
    assert (first.execution, first.body) == (second.execution, second.body)
    assert first.fence < second.fence
    assert (first.attempt, second.attempt) == (1, 2)


def test_D03_each_lease_has_a_fence_of_its_own():
    world = World()
    record = world.queue(world.job(retry=RetryPolicy(max_attempts=4)))
    world.targets.then = BROKEN
    world.run()
    fences = [call.fence for call in world.targets.calls]
    assert fences == sorted(set(fences))
    assert [attempt.fence for attempt in world.record(record).attempts] == fences


def test_a_second_message_finds_nothing_to_do():
    world = World()
    queued = world.queue(world.job())
    world.run()
    done = world.record(queued)
    assert isinstance(world.parts.advance.run(queued.id, None), Acknowledge)
    assert world.record(queued) == done
    assert len(world.targets.calls) == 1
