"""Leases: who may act, until when, and what becomes of whoever lost the right to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.delivery.results import Acknowledge, Alone, PutBack
from fencepost.application.ports import QueueName, Received
from fencepost.application.store import StoreBusyError
from fencepost.domain.identity import digest
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.model import RetryPolicy
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.clock import SettableClock
from tests.support.faults import Killed
from tests.support.world import BROKEN, OK, START, World

S = ExecutionState


def kill_in_the_call(world):
    """The worker dies while it calls the target."""
    world.targets.script = [Killed()]
    with pytest.raises(Killed):
        world.poll()


def hand(record, receives=1):
    return Received(
        queue=QueueName(record.tier.value),
        body=f'{{"v":1,"execution":"{record.id}"}}',
        receipt="r",
        receive_count=receives,
    )


class InterruptedClock(SettableClock):
    """Sleeps only a part of what was asked for, and lets something happen meanwhile."""

    part = 1.0
    meanwhile: Callable[[], object] | None = None

    def sleep(self, duration):
        happening, self.meanwhile = self.meanwhile, None
        if happening is not None:
            happening()
        super().sleep(duration * self.part)


def test_D1_a_pause_acknowledged_a_second_before_due_holds():
    clock = InterruptedClock(START)
    world = World(clock=clock)
    job = world.job()
    queued = world.queue(job, "2026-03-01T09:00:10Z")
    world.clock.set("2026-03-01T09:00:09Z")
    clock.meanwhile = lambda: world.change(job, Reason.PAUSED, JobState.PAUSED)  # while the delivery holds
    world.poll()
    assert world.record(queued).reason is Reason.PAUSED
    assert world.targets.calls == []


def test_D1_a_firing_is_never_early_whatever_a_sleep_returns():
    clock = InterruptedClock(START)
    world = World(clock=clock)
    queued = world.queue(world.job(), "2026-03-01T09:00:10Z")
    world.clock.set("2026-03-01T09:00:09Z")
    clock.part = 0.7
    world.poll()
    clock.part = 1.0
    world.run()
    (call,) = world.targets.calls
    assert call.at >= from_wire("2026-03-01T09:00:10Z")
    assert world.record(queued).state is S.SUCCEEDED


def test_a_message_far_too_early_goes_back_for_the_time_that_is_left():
    world = World()
    queued = world.queue(world.job(), "2026-03-01T09:05:00Z")
    result = world.parts.advance.run(queued.id, hand(queued))
    assert isinstance(result, PutBack)
    assert result.seconds == 299


def test_a_wake_up_more_than_fourteen_minutes_early_leaves_a_timer():
    world = World()
    queued = world.queue(world.job(), not_before=from_wire("2026-03-01T10:00:00Z"))
    assert isinstance(world.parts.advance.run(queued.id, hand(queued)), Acknowledge)
    (timer,) = world.timers()
    assert (timer.execution, timer.instant) == (queued.id, from_wire("2026-03-01T10:00:00Z"))


def test_D2_who_meets_a_live_lease_comes_back_two_seconds_after_its_end():
    world = World()
    queued = world.queue(world.job())
    kill_in_the_call(world)
    running = world.record(queued)
    assert running.lease_until == from_wire("2026-03-01T09:00:25Z")
    result = world.parts.advance.run(queued.id, hand(queued))
    assert isinstance(result, PutBack)
    assert world.clock.now() + timedelta(seconds=result.seconds) >= running.lease_until + timedelta(seconds=2)
    assert world.record(queued) == running


def test_D2_what_is_put_back_for_the_third_time_is_sent_anew_instead():
    world = World()
    queued = world.queue(world.job(), "2026-03-01T09:05:00Z")
    depth = world.mail.depth(QueueName.STANDARD)
    assert isinstance(world.parts.advance.run(queued.id, hand(queued, receives=2)), PutBack)
    assert isinstance(world.parts.advance.run(queued.id, hand(queued, receives=3)), Acknowledge)
    assert world.mail.depth(QueueName.STANDARD) == depth + 1
    newest = max(each.visible_at for each in world.mail.waiting(QueueName.STANDARD))
    assert newest == from_wire("2026-03-01T09:04:59Z")


def test_D3_a_fence_is_the_lease_instant_in_milliseconds_and_always_larger_than_the_last():
    world = World(fraction=0.0)
    queued = world.queue(world.job())
    world.targets.script = [BROKEN]
    world.targets.takes = timedelta(0)
    world.run()
    first, second = world.targets.calls
    assert first.at == second.at
    assert (first.fence, second.fence) == (to_ms(first.at), to_ms(first.at) + 1)
    assert world.record(queued).state is S.SUCCEEDED


def test_D3_a_clock_that_went_back_still_gives_a_larger_fence():
    world = World()
    job = world.job(retry=RetryPolicy(initial_delay=timedelta(0)))
    queued = world.queue(job)

    def set_back(_):
        world.clock.advance(seconds=-90)
        return BROKEN

    world.targets.script = [set_back, OK]
    world.run()
    first, second = world.targets.calls
    assert second.fence == first.fence + 1
    assert world.record(queued).state is S.SUCCEEDED


def test_D4_the_holder_gives_its_target_no_longer_than_until_five_seconds_before_the_lease_ends():
    world = World()
    world.queue(world.job())
    world.run()
    (call,) = world.targets.calls
    assert call.timeout == timedelta(seconds=10)

    slow = World()
    queued = slow.queue(slow.job())

    def around(call: PortCall, proceed):
        result = proceed()
        if call.port == "store" and call.method == "write" and not slow.targets.calls:
            slow.clock.advance(seconds=7)  # slot and lease are slow to write
        return result

    slow.rewire(around)
    slow.poll()
    (call,) = slow.targets.calls
    assert call.timeout == timedelta(seconds=25 - 5 - 14)
    assert slow.record(queued).state is S.SUCCEEDED


def test_D4_a_lease_that_is_born_expired_calls_nobody():
    world = World()
    queued = world.queue(world.job())

    def around(call: PortCall, proceed):
        if (
            call.method == "write"
            and call.args[0].key == keys.execution(queued.id)
            and "lease" in call.args[0].set
        ):
            world.clock.advance(seconds=60)
        return proceed()

    world.rewire(around)
    world.poll()
    assert world.targets.calls == []
    record = world.record(queued)
    assert record.state is S.RETRY_WAIT
    assert "nobody was called" in (record.attempts[0].error or "")
    world.rewire()
    world.run()
    assert world.record(queued).state is S.SUCCEEDED


def test_D4_a_taker_waits_two_seconds_past_the_end_of_the_lease():
    world = World()
    queued = world.queue(world.job())
    kill_in_the_call(world)
    world.clock.set("2026-03-01T09:00:24.900Z")
    assert isinstance(world.parts.advance.run(queued.id, None), PutBack)
    world.clock.set("2026-03-01T09:00:26Z")
    world.parts.advance.run(queued.id, None)  # holds the last second, then judges
    assert world.clock.now() == from_wire("2026-03-01T09:00:27Z")
    assert world.record(queued).attempts[0].outcome == "worker_lost"


def test_D5_an_edit_reaches_what_has_not_started_and_never_the_second_attempt():
    world = World()
    job = world.job(payload=b"old")
    first = world.queue(job)
    world.targets.script = [BROKEN]
    world.poll()
    world.job(payload=b"new", url="https://elsewhere.example.com/hook", revision=2)
    second = world.queue(job, "2026-03-01T09:00:01Z")
    world.run()
    bodies = {
        name: {c.body for c in world.targets.calls if c.execution == str(name.id)} for name in (first, second)
    }
    assert bodies == {first: {b"old"}, second: {b"new"}}
    assert world.record(first).detail == digest(b"old" + b"https://report.example.com/hook")


def test_D6_an_outcome_counts_after_expiry_as_long_as_nobody_made_a_move():
    world = World()
    queued = world.queue(world.job())
    world.targets.takes = timedelta(seconds=90)
    world.poll()
    assert world.record(queued).state is S.SUCCEEDED


def test_D9_a_lost_attempt_counts_against_the_budget():
    world = World()
    queued = world.queue(world.job(retry=RetryPolicy(max_attempts=2)))
    world.targets.script = [Killed(), Killed()]
    for _ in range(2):
        with pytest.raises(Killed):
            world.run()
    world.run()
    record = world.record(queued)
    assert [attempt.outcome for attempt in record.attempts] == ["worker_lost", "worker_lost"]
    assert (record.state, record.reason) == (S.DEAD, Reason.BUDGET_SPENT)
    assert record.losses == 2


def test_D9_after_two_losses_it_is_delivered_alone():
    world = World()
    queued = world.queue(world.job(), losses=2)
    assert isinstance(world.parts.advance.run(queued.id, None), Alone)
    assert world.targets.calls == []
    world.parts.advance.run(queued.id, None, alone=True)
    assert world.record(queued).state is S.SUCCEEDED


def test_L01_an_expired_lease_alone_is_enough_to_go_on():
    world = World()
    queued = world.queue(world.job())
    kill_in_the_call(world)
    world.run()
    record = world.record(queued)
    assert record.state is S.SUCCEEDED
    assert [attempt.outcome for attempt in record.attempts] == ["worker_lost", "delivered"]
    assert world.targets.calls[1].fence > world.targets.calls[0].fence
    assert world.slots() == []


def test_L04_a_slot_that_cannot_be_released_changes_nothing_of_the_record():
    world = World()
    queued = world.queue(world.job())

    def around(call: PortCall, proceed):
        if call.method == "write" and call.args[0].key.pk.startswith("S#") and world.targets.calls:
            raise StoreBusyError("busy")
        return proceed()

    world.rewire(around)
    world.poll()
    done = world.record(queued)
    assert done.state is S.SUCCEEDED
    assert len(world.slots()) == 1
    world.rewire()
    world.run()  # the message came back for the slot alone
    assert world.slots() == []
    assert world.record(queued) == done


def test_D12_an_answer_that_cannot_be_written_is_unknown_and_asked_for_again_under_a_larger_fence():
    world = World()
    queued = world.queue(world.job())

    def around(call: PortCall, proceed):
        if call.method == "write" and call.args[0].key == keys.execution(queued.id) and world.targets.calls:
            raise StoreBusyError("busy")
        return proceed()

    world.rewire(around)
    world.poll()
    assert world.record(queued).state is S.RUNNING
    world.rewire()
    world.run()
    record = world.record(queued)
    first, second = world.targets.calls
    assert [attempt.outcome for attempt in record.attempts] == ["worker_lost", "delivered"]
    assert (first.execution, first.body) == (second.execution, second.body)
    assert first.fence < second.fence


def test_newest_attempts_are_kept_and_older_ones_counted():
    world = World()
    queued = world.queue(world.job(retry=RetryPolicy(max_attempts=8)))
    world.targets.then = BROKEN
    world.run()
    record = world.record(queued)
    assert [attempt.number for attempt in record.attempts] == [4, 5, 6, 7, 8]
    assert record.attempts_dropped == 3
