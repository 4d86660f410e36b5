"""Work that a target does after it answered 202: heartbeats, the watch, the end, and whoever comes too late."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.delivery.worker import Accepted, LeaseLost, NotFound, StaleFence
from fencepost.application.ports import QueueName, QueueUnavailableError
from fencepost.application.store import StoreError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.model import LongWork, RetryPolicy
from fencepost.domain.outcome import Accepted as Taken
from fencepost.domain.states import ExecutionState, Reason
from tests.support.faults import KILLS, Fault, FaultAt, Killed
from tests.support.world import OK, World

S = ExecutionState
TERMS = LongWork(lease=timedelta(seconds=300), max_run=timedelta(hours=1))


def at_work(terms=TERMS, **facts):
    """A firing whose target took it at nine and works on."""
    world = World()
    queued = world.queue(world.job(long_work=terms, **facts))
    world.targets.script = [Taken()]
    world.poll()
    return world, world.record(queued)


def beat(world, record, fence=None):
    return world.parts.workers.heartbeat("payments", record.id, fence or record.fence, world.clock.now())


def complete(world, record, fence=None, result="done"):
    now = world.clock.now()
    return world.parts.workers.complete("payments", record.id, fence or record.fence, result, now)


def fail(world, record, fence=None, **more):
    now = world.clock.now()
    return world.parts.workers.fail("payments", record.id, fence or record.fence, "it broke", now, **more)


def test_202_gives_a_lease_of_its_own_and_keeps_the_slot():
    world, record = at_work()
    assert record.state is S.RUNNING
    assert record.lease_until == world.clock.now() + timedelta(seconds=300)
    assert record.run_until == world.clock.now() + timedelta(hours=1)
    assert record.watch == record.fence
    (slot,) = world.slots()
    assert slot["until"] == int((record.lease_until + timedelta(seconds=10)).timestamp() * 1000)
    assert [attempt.outcome for attempt in record.attempts] == ["accepted"]
    assert record.attempts[0].ended_at is None


def test_a_lease_longer_than_a_queue_delays_is_watched_by_a_timer():
    world, record = at_work(LongWork(lease=timedelta(hours=1), max_run=timedelta(hours=2)))
    (timer,) = world.timers()
    assert (timer.execution, timer.instant) == (record.id, record.lease_until + timedelta(seconds=2))
    world.run()
    assert world.record(record).attempts[0].outcome == "worker_lost"


def test_D7_a_heartbeat_extends_slot_and_lease_and_the_watch_finds_out_by_itself():
    world, record = at_work()
    for _ in range(4):
        world.run(until=world.clock.now() + timedelta(seconds=200))
        answer = beat(world, record)
        assert isinstance(answer, Accepted)
        assert answer.record.lease_until == world.clock.now() + timedelta(seconds=300)
    assert world.record(record).attempt == 1
    assert len(world.targets.calls) == 1
    world.run()  # it falls silent: 2 s after the last lease the watch judges it
    lost = world.record(record).attempts[0]
    assert (lost.outcome, lost.ended_at) == ("worker_lost", answer.record.lease_until + timedelta(seconds=2))


def test_a_run_is_never_longer_than_its_job_allows():
    world, record = at_work(LongWork(lease=timedelta(seconds=300), max_run=timedelta(seconds=400)))
    world.clock.advance(seconds=250)
    answer = beat(world, record)
    assert isinstance(answer, Accepted)
    assert answer.record.lease_until == record.run_until
    _, short = at_work(LongWork(lease=timedelta(seconds=300), max_run=timedelta(seconds=60)))
    assert short.lease_until == short.run_until
    world.clock.advance(seconds=140)
    assert beat(world, record) == answer
    world.clock.advance(seconds=20)
    assert beat(world, record) == LeaseLost(S.RUNNING)


def test_D6_a_heartbeat_needs_a_lease_that_is_not_over():
    world, record = at_work()
    world.clock.set(record.lease_until)
    assert beat(world, record) == LeaseLost(S.RUNNING)


def test_a_heartbeat_that_overtakes_the_record_of_its_202_begins_the_long_work():
    world = World()
    queued = world.queue(world.job(long_work=TERMS))
    world.targets.script = [lambda d: (beat(world, queued, d.facts.fence), Taken())[1]]
    world.poll()
    record = world.record(queued)
    assert record.run_until is not None
    assert isinstance(complete(world, record), Accepted)
    assert world.record(queued).state is S.SUCCEEDED


def test_a_completion_ends_it_and_frees_everything():
    world, record = at_work()
    world.clock.advance(seconds=60)
    assert isinstance(complete(world, record, result="42 rows"), Accepted)
    done = world.record(record)
    (attempt,) = done.attempts
    assert done.state is S.SUCCEEDED
    assert (attempt.outcome, attempt.excerpt, attempt.status) == ("delivered", "42 rows", 202)
    assert world.slots() == []
    assert complete(world, record) == Accepted(done)  # it did not hear the answer and says it again
    world.run()
    assert world.record(record) == done


def test_a_completion_before_the_202_was_written_stands():
    world = World()
    queued = world.queue(world.job())
    world.targets.script = [lambda d: (complete(world, queued, d.facts.fence), Taken())[1]]
    world.poll()
    assert world.record(queued).state is S.SUCCEEDED
    assert world.slots() == []


def test_D05_a_worker_that_wakes_after_its_lease_changes_nothing_and_the_record_shows_it():
    world, record = at_work(retry=RetryPolicy(initial_delay=timedelta(seconds=2)))
    world.targets.script = [Taken()]
    world.run(until=record.lease_until + timedelta(seconds=30))
    second = world.record(record)
    assert second.state is S.RUNNING
    assert second.fence > record.fence
    assert beat(world, record) == StaleFence(second.fence)
    assert complete(world, record) == StaleFence(second.fence)
    after = world.record(record)
    assert f"completion with fence {record.fence} was refused" in (after.note or "")
    assert replace(after, note=None) == second
    assert isinstance(complete(world, second), Accepted)
    assert "was refused" in (world.record(record).note or "")


def test_D6_after_the_lapse_was_judged_even_the_latest_fence_is_refused():
    world, record = at_work(retry=RetryPolicy(initial_delay=timedelta(hours=1)))
    world.run(until=record.lease_until + timedelta(seconds=3))
    assert world.record(record).state is S.RETRY_WAIT
    assert complete(world, record) == LeaseLost(S.RETRY_WAIT)
    assert world.record(record).state is S.RETRY_WAIT
    assert "was refused" in (world.record(record).note or "")


def test_D6_before_the_lapse_is_judged_a_late_completion_still_counts():
    world, record = at_work()
    world.clock.set(record.lease_until + timedelta(seconds=1))
    assert isinstance(complete(world, record), Accepted)
    world.run()
    assert world.record(record).state is S.SUCCEEDED


def test_a_failure_that_was_reported_is_retried_by_the_policy():
    world, record = at_work(retry=RetryPolicy(initial_delay=timedelta(seconds=20)))
    answer = fail(world, record)
    assert isinstance(answer, Accepted)
    waiting = world.record(record)
    assert waiting.state is S.RETRY_WAIT
    assert waiting.attempts[0].error == "it broke"
    assert world.slots() == []
    assert world.timers() == []
    assert fail(world, record) == Accepted(waiting)
    world.run(until=world.clock.now() + timedelta(seconds=20))
    assert world.record(record).state is S.SUCCEEDED


def test_a_failure_that_is_not_to_be_repeated_is_a_dead_letter():
    world, record = at_work()
    assert isinstance(fail(world, record, retryable=False), Accepted)
    dead = world.record(record)
    assert (dead.state, dead.reason, dead.told) == (S.DEAD, Reason.REFUSED, True)
    assert world.timers() == []
    world.run()
    assert [letter.id for letter in world.dead_letters()] == [record.id]
    assert len(world.notifier.told) == 1


def test_A1_a_death_whose_message_the_queue_does_not_take_keeps_its_timer():
    world, record = at_work()

    def around(call: PortCall, proceed):
        if call.method == "send":
            raise QueueUnavailableError("no answer")
        return proceed()

    world.rewire(around)
    assert isinstance(fail(world, record, retryable=False), Accepted)
    assert (world.record(record).state, world.record(record).told) == (S.DEAD, False)
    (timer,) = world.timers()
    assert timer.execution == record.id
    world.rewire()
    world.mail.delete(world.mail.receive(QueueName.STANDARD, 10, timedelta(0)))
    world.run(until=world.clock.now() + timedelta(seconds=10))
    assert world.record(record).told
    assert len(world.notifier.told) == 1


@pytest.mark.parametrize("retryable", [True, False])
@pytest.mark.parametrize("fault", [*KILLS, Fault.NO_ANSWER_DONE, Fault.NO_ANSWER_LOST])
def test_A1_a_call_that_dies_while_it_reports_a_failure_strands_nothing(fault, retryable):
    for at in range(25):
        world, record = at_work(
            retry=RetryPolicy(initial_delay=timedelta(hours=2), max_delay=timedelta(hours=2))
        )
        failing = FaultAt(at, fault)
        world.rewire(failing)
        with suppress(Killed, StoreError):  # the caller hears nothing, or that it may ask again
            fail(world, record, retryable=retryable)
        world.rewire()
        world.run()
        ended = world.record(record)
        assert ended.state in {S.SUCCEEDED, S.DEAD}, failing.calls[at]
        assert ended.told == (ended.state is S.DEAD)
        world.clock.advance(hours=3)
        world.doors.backlog.pump("payments", world.clock.now())
        if len(failing.calls) <= at:
            return
    raise AssertionError("a call makes more than 25 calls")


def test_strangers_are_told_nothing():
    world, record = at_work()
    world.team("reports")
    now = world.clock.now()
    assert world.parts.workers.heartbeat("reports", record.id, record.fence, now) == NotFound()
    nowhere = ExecutionId.occurrence(record.id.uid, from_wire("2030-01-01T00:00:00Z"))
    assert world.parts.workers.complete("payments", nowhere, 1, "", now) == NotFound()


def test_L07_a_lease_is_as_long_as_its_job_says():
    short, _ = at_work(LongWork(lease=timedelta(seconds=30), max_run=timedelta(hours=1)))
    short.run(until=short.clock.now() + timedelta(seconds=60))
    assert len(short.targets.calls) == 2
    long, _ = at_work(LongWork(lease=timedelta(seconds=3600), max_run=timedelta(hours=1)))
    long.run(until=long.clock.now() + timedelta(seconds=3500))
    assert len(long.targets.calls) == 1


def test_L07_who_lost_its_lease_is_told_on_its_next_call():
    world, record = at_work(retry=RetryPolicy(initial_delay=timedelta(hours=1)))
    world.run(until=record.lease_until + timedelta(seconds=3))
    assert beat(world, record) == LeaseLost(S.RETRY_WAIT)


def test_R01_a_receiver_that_needs_a_minute_answers_202_and_is_called_once():
    world, record = at_work()
    world.run(until=world.clock.now() + timedelta(seconds=90))
    assert isinstance(complete(world, record), Accepted)
    world.run()
    assert len(world.targets.calls) == 1
    assert world.targets.then == OK
