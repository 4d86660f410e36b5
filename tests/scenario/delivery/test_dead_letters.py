"""What comes out of the dead-letter queues is decided by the record; and the way back, by redrive."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.delivery.redrive import JobDeleted, NoSuchExecution, NotDead, OnItsWay, Redriven
from fencepost.application.delivery.results import Acknowledge, PutBack
from fencepost.application.planting import WATERMARK
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError
from fencepost.application.store import Put, StoreError, Update, equals
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Caller, Overlap, RetryPolicy, Tier
from fencepost.domain.outcome import Refused
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.faults import Fault, FaultAt, Killed
from tests.support.world import BROKEN, GRAVES, OK, World

S = ExecutionState
NEVER = Refused(status=410, error="answered 410: never again")
OWNER = Caller(principal="arn:aws:iam::111122223333:role/payments")


def dead(world=None, **facts):
    """A firing that died at nine, its message in the dead-letter queue."""
    world = world or World()
    queued = world.queue(world.job(**facts))
    world.targets.script = [NEVER]
    world.poll()
    return world, world.record(queued)


def redrive(world, record):
    return world.parts.redrive.one(OWNER, "payments", record.id, world.clock.now())


def bury(world, record):
    """Six crashes took its message to the dead-letter queue."""
    return world.parts.dead_letters.handle(record.id, world.clock.now())


def crashed_worker():
    world = World()
    queued = world.queue(world.job())
    world.targets.script = [Killed()]
    with pytest.raises(Killed):
        world.poll()
    return world, world.record(queued)


def test_a_death_is_told_once_with_one_id_however_often_its_message_comes():
    world, record = dead()
    for _ in range(3):
        assert isinstance(bury(world, record), Acknowledge)
    (notice,) = world.notifier.told
    assert (notice.kind, notice.execution_id, notice.reason) == ("dead", str(record.id), "refused")
    assert world.dead_letters()[0].notified_at == world.clock.now()


def test_the_message_itself_proves_that_the_queue_took_it():
    world, record = dead()
    world.store_record(replace(record, told=False))  # its sender died before it could note that
    depth = world.mail.depth(QueueName.DEAD_STANDARD)
    bury(world, record)
    assert world.record(record).told
    assert world.mail.depth(QueueName.DEAD_STANDARD) == depth


def test_a_team_that_cannot_be_reached_is_told_later_under_the_same_id():
    world, record = dead()
    world.notifier.deaf = True
    assert isinstance(bury(world, record), PutBack)
    assert world.dead_letters()[0].notified_at is None
    world.notifier.deaf = False
    world.run()
    assert len(world.notifier.told) == 1
    assert world.mail.next_visible() is None


def test_a_crash_between_telling_and_noting_repeats_the_same_id():
    world, record = dead()
    calls = FaultAt()
    world.rewire(calls)
    bury(world, record)
    told = calls.calls.index("notifier.notify")

    again, record = dead()
    again.rewire(FaultAt(told, Fault.KILLED_AFTER))
    with pytest.raises(Killed):
        bury(again, record)
    again.rewire()
    again.run()
    assert len(again.notifier.told) == 2
    assert len({notice.id for notice in again.notifier.told}) == 1


def test_a_team_that_does_not_want_to_be_told_is_not():
    world = World()
    world.team(notify_on=frozenset())
    world, record = dead(world)
    world.run()
    assert world.notifier.told == []
    assert world.record(record).told
    world, record = dead(notify_on=frozenset())
    world.run()
    assert world.notifier.told == []


def test_D2_a_live_lease_is_watched_not_killed():
    world, record = crashed_worker()
    assert isinstance(bury(world, record), Acknowledge)
    watched = world.record(record)
    assert (watched.state, watched.watch) == (S.RUNNING, record.fence)
    world.mail.delete(world.mail.receive(QueueName.STANDARD, 10, timedelta(0)))
    world.run()
    assert [attempt.outcome for attempt in world.record(record).attempts] == ["worker_lost", "delivered"]


def test_D2_a_lapsed_lease_is_a_lost_worker_and_the_retry_policy_decides():
    world, record = crashed_worker()
    world.clock.advance(seconds=60)
    assert isinstance(bury(world, record), Acknowledge)
    lost = world.record(record)
    assert lost.state is S.RETRY_WAIT
    assert lost.attempts[0].outcome == "worker_lost"


def test_D2_what_was_never_leased_gets_a_new_wake_up_three_times_and_is_then_undeliverable():
    world = World()
    queued = world.queue(world.job())
    for count in (1, 2, 3):
        assert isinstance(bury(world, queued), Acknowledge)
        assert (world.record(queued).state, world.record(queued).replants) == (S.QUEUED, count)
    assert isinstance(bury(world, queued), Acknowledge)
    record = world.record(queued)
    assert (record.state, record.reason) == (S.DEAD, Reason.UNDELIVERABLE)
    assert "crashed" in (record.note or "")
    world.run()
    assert world.targets.calls == []
    assert len(world.notifier.told) == 1


def test_D2_the_new_wake_up_delivers():
    world = World()
    queued = world.queue(world.job())
    world.mail.delete(world.mail.receive(QueueName.STANDARD, 10, timedelta(0)))  # its message is spent
    bury(world, queued)
    world.run()
    assert world.record(queued).state is S.SUCCEEDED


def test_D2_wake_ups_are_counted_from_the_last_attempt_on():
    world = World()
    wait = timedelta(minutes=1)
    queued = world.queue(world.job(retry=RetryPolicy(initial_delay=wait, max_delay=wait)))
    for _ in range(3):
        bury(world, queued)
        world.targets.script = [BROKEN]
        world.clock.set(world.record(queued).wake_at)
        world.parts.advance.run(queued.id, None)
        assert world.record(queued).replants == 0
    bury(world, queued)
    assert world.record(queued).state is S.RETRY_WAIT


def test_D2_what_is_over_pays_its_duties_and_goes():
    world = World()
    queued = world.queue(world.job())
    world.run()
    done = world.record(queued)
    assert isinstance(bury(world, queued), Acknowledge)
    assert world.record(queued) == done
    assert world.notifier.told == []


def test_a_message_of_a_forgotten_record_goes():
    world = World()
    nobody = ExecutionId.occurrence("a" * 20, world.clock.now())
    assert isinstance(world.parts.dead_letters.handle(nobody, world.clock.now()), Acknowledge)
    assert isinstance(world.parts.advance.run(nobody, None), Acknowledge)


def test_redrive_runs_a_dead_firing_again_with_a_larger_fence_and_its_budget_anew():
    world = World()
    queued = world.queue(world.job(retry=RetryPolicy(max_attempts=2)))
    world.targets.then = BROKEN
    world.run()
    buried = world.record(queued)
    world.clock.advance(hours=5)
    answer = redrive(world, buried)
    assert isinstance(answer, Redriven)
    again = world.record(queued)
    assert (again.state, again.tier, again.attempt, again.told) == (S.QUEUED, Tier.RECOVERY, 0, False)
    assert (again.actor, again.reason, again.ended_at, again.expires_at) == (
        OWNER.principal,
        None,
        None,
        None,
    )
    assert world.dead_letters() == []
    assert world.timers() == []
    world.targets.then = OK
    world.run()
    done = world.record(queued)
    assert done.state is S.SUCCEEDED
    assert [attempt.number for attempt in done.attempts] == [1, 2, 3]
    assert [call.fence for call in world.targets.calls] == sorted(call.fence for call in world.targets.calls)
    assert len({call.body for call in world.targets.calls}) == 1
    assert done.expires_at is not None
    assert done.started_at == buried.started_at


def test_a_second_death_is_another_one_and_told_as_such():
    world, record = dead()
    world.run()
    redrive(world, record)
    world.targets.script = [NEVER]
    world.run()
    first, second = world.notifier.told
    assert first.id != second.id
    assert [letter.fence for letter in world.dead_letters()] == [world.record(record).fence]


def test_redrive_takes_only_what_is_dead_of_a_job_that_is_there():
    world, record = dead()
    assert redrive(world, record) != NotDead(S.DEAD)
    assert redrive(world, record) == OnItsWay(world.record(record))
    other = Caller(principal="arn:aws:iam::111122223333:role/another")
    assert world.parts.redrive.one(other, "payments", record.id, world.clock.now()) == NotDead(S.QUEUED)
    stranger = world.parts.redrive.one(OWNER, "reports", record.id, world.clock.now())
    assert stranger == NoSuchExecution()
    world, record = dead()
    world.job(state=JobState.DELETED)
    assert redrive(world, record) == JobDeleted()


def test_D5_a_redrive_sends_what_was_pinned():
    world, record = dead(payload=b"old")
    world.job(payload=b"new")
    redrive(world, record)
    world.run()
    assert {call.body for call in world.targets.calls} == {b"old"}


@pytest.mark.parametrize("fault", Fault)
def test_A1_a_redrive_that_fails_anywhere_leaves_a_dead_letter_or_a_wake_up(fault):
    for at in range(20):
        world, record = dead()
        world.run()
        failing = FaultAt(at, fault)
        world.rewire(failing)
        answer: object = None
        with suppress(Killed, StoreError):
            answer = redrive(world, record)
        world.rewire()
        world.run()
        ended = world.record(record)
        assert ended.state in {S.SUCCEEDED, S.DEAD}
        assert (ended.state is S.DEAD) == bool(world.dead_letters())
        if isinstance(answer, Redriven):
            assert ended.state is S.SUCCEEDED
        assert world.timers() == []
        if len(failing.calls) <= at:
            return
    raise AssertionError("a redrive makes more than 20 calls")


def test_C2_a_redrive_whose_minute_was_swept_starts_again_with_a_new_now():
    world, record = dead()
    world.run()
    suspended: list[PortCall] = []

    def around(call: PortCall, proceed):
        if call.method == "transact" and not suspended:  # this writer is suspended for ten minutes ...
            suspended.append(call)
            world.clock.advance(minutes=10)
            swept = int(from_wire("2026-03-01T09:05:00Z").timestamp() * 1000)
            world.memory.write(Put(key=keys.watermark(0), item={WATERMARK: swept}))
        if call.method == "send":
            raise QueueUnavailableError("so that the timer stays")
        return proceed()

    world.rewire(around)
    assert isinstance(redrive(world, record), Redriven)
    (timer,) = world.timers()
    assert timer.bucket.minute == from_wire("2026-03-01T09:10:00Z")
    world.rewire()
    world.run()
    assert world.record(record).state is S.SUCCEEDED


def test_R10_an_undecodable_record_goes_to_the_dead_letter_queue_after_one_try_and_blocks_nobody():
    world = World()
    job = world.job()
    broken = world.queue(job)
    fine = world.queue(job, "2026-03-01T09:00:01Z")
    key = keys.execution(broken.id)
    world.memory.write(Update(key=key, set={"state": "NONSENSE"}, condition=equals("state", "QUEUED")))
    world.clock.advance(seconds=1)
    world.poll()
    assert world.record(fine).state is S.SUCCEEDED
    assert world.mail.depth(QueueName.DEAD_STANDARD) == 1
    assert world.mail.depth(QueueName.STANDARD) == 0
    with pytest.raises(UndecodableError):
        world.poll(GRAVES)


def test_R10_a_lock_that_nobody_understands_keeps_no_other_duty_from_being_paid():
    world = World()
    record = world.queue(world.job(overlap=Overlap.SKIP, retry=RetryPolicy(max_attempts=1)))

    def garbled(_):
        world.memory.write(Put(key=keys.overlap_lock(record.id.uid), item={"v": 1, "x": "?", "f": 1}))
        return BROKEN

    world.targets.script = [garbled]
    world.run()
    assert world.record(record).state is S.DEAD
    assert [notice.execution_id for notice in world.notifier.told] == [str(record.id)]
    assert (world.slots(), world.mail.next_visible()) == ([], None)


@pytest.mark.parametrize("what", ["job", "detail"])
def test_R10_what_cannot_be_delivered_is_dead_after_one_try_with_the_reason(what):
    world = World()
    job = world.job()
    queued = world.queue(job)
    key = keys.job(job.uid) if what == "job" else keys.detail(job.uid, job.detail)
    world.memory.write(Put(key=key, item={"v": 1, "state": "?"}))
    world.run()
    record = world.record(queued)
    assert (record.state, record.reason) == (S.DEAD, Reason.UNDELIVERABLE)
    assert what in (record.note or "")
    assert len(world.notifier.told) == 1
    assert world.targets.calls == []


def test_a_message_without_its_team_waits_for_it():
    world = World()
    queued = world.queue(world.job(team="reports"))
    world.poll()
    assert world.record(queued).state is S.QUEUED
    world.team("reports")
    world.run()
    assert world.record(queued).state is S.SUCCEEDED


def test_a_message_that_is_no_wake_up_is_told_apart():
    world = World()
    world.mail.send([Outgoing(queue=QueueName.STANDARD, body="hello")])
    with pytest.raises(UndecodableError):
        world.poll()
