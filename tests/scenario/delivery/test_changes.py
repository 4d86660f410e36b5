"""Pause, resume, edit and delete near due: what happens to firings that are queued, waiting, running or between tries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.delivery.cancel import CancelledNow, Stands, Unknown
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Caller, Origin, Overlap, RetryPolicy
from fencepost.domain.outcome import Accepted
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.switches import halts
from tests.support.world import BROKEN, World

S = ExecutionState
LATER = RetryPolicy(initial_delay=timedelta(seconds=60))
OWNER = Caller(principal="arn:aws:iam::111122223333:role/payments")


def pause(world, job):
    return world.change(job, Reason.PAUSED, JobState.PAUSED)


def resume(world, job):
    return world.change(job, Reason.PAUSED, JobState.ACTIVE)


def edit(world, job, **facts):
    return world.change(job, Reason.SUPERSEDED, JobState.ACTIVE, **facts)


def delete(world, job):
    return world.change(job, Reason.DELETED, JobState.DELETED)


def queued(world, job):
    """Due in a minute, its message on its way."""
    return world.queue(job, world.clock.now() + timedelta(seconds=60))


def waiting(world, job):
    """Due, and behind another firing that holds the team's only slot."""
    world.team(max_concurrency=1)
    world.targets.script = [Accepted()]
    world.queue(world.job("other"))
    world.poll()
    record = world.queue(job)
    world.poll()
    assert world.record(record).state is S.WAITING
    return record


def running(world, job):
    """Taken by a target that works on."""
    world.targets.script = [Accepted()]
    record = world.queue(job)
    world.poll()
    assert world.record(record).state is S.RUNNING
    return record


def retrying(world, job):
    """Failed once."""
    world.targets.script = [BROKEN]
    record = world.queue(job)
    world.poll()
    assert world.record(record).state is S.RETRY_WAIT
    return record


def ending(world, record):
    """How it ends when everything takes its course."""
    for _ in range(20):
        world.run(until=world.clock.now() + timedelta(minutes=1))
        world.doors.backlog.pump("payments", world.clock.now())
    ended = world.record(record)
    return ended.state, ended.reason


STANDS = (S.SUCCEEDED, None)


@pytest.mark.parametrize(
    ("change", "where", "ends"),
    [
        (pause, queued, (S.CANCELLED, Reason.PAUSED)),
        (pause, waiting, (S.CANCELLED, Reason.PAUSED)),
        (pause, running, STANDS),
        (pause, retrying, STANDS),
        (edit, queued, (S.CANCELLED, Reason.SUPERSEDED)),
        (edit, waiting, STANDS),
        (edit, running, STANDS),
        (edit, retrying, STANDS),
        (delete, queued, (S.CANCELLED, Reason.DELETED)),
        (delete, waiting, (S.CANCELLED, Reason.DELETED)),
        (delete, retrying, (S.CANCELLED, Reason.DELETED)),
    ],
)
def test_B4_a_change_meets_a_firing(change, where, ends):
    world = World()
    job = world.job(retry=LATER)
    record = where(world, job)
    change(world, job)
    assert ending(world, record) == ends
    assert world.slots() == []


def test_B4_what_runs_when_its_job_is_deleted_finishes_and_keeps_its_record():
    world = World()
    job = world.job()
    record = running(world, job)
    delete(world, job)
    now = world.clock.now()
    world.parts.workers.complete("payments", record.id, world.record(record).fence, "", now)
    assert ending(world, record) == STANDS


def test_B3_what_was_due_before_the_edit_stands_and_what_was_due_after_is_superseded():
    world = World()
    job = world.job()
    before = world.queue(job, "2026-03-01T09:00:00Z")
    after = world.queue(job, "2026-03-01T09:00:30Z")
    world.clock.advance(seconds=10)
    edit(world, job)
    world.run()
    assert world.record(before).state is S.SUCCEEDED
    assert world.record(after).reason is Reason.SUPERSEDED


def test_B3_generations_that_ended_longer_ago_are_read_from_their_own_item():
    world = World()
    job = world.job()
    before = world.queue(job, "2026-03-01T09:00:00Z")
    after = world.queue(job, "2026-03-01T09:00:30Z")
    world.clock.advance(seconds=10)
    job = edit(world, job)
    world.clock.advance(seconds=60)
    job = edit(world, job)
    edit(world, job)
    world.run()
    assert world.record(before).state is S.SUCCEEDED
    assert world.record(after).reason is Reason.SUPERSEDED


def test_B3_a_pause_that_is_over_still_cancels_what_it_met():
    world = World()
    job = world.job()
    met = world.queue(job, "2026-03-01T09:00:00Z")
    world.clock.advance(seconds=10)
    resume(world, pause(world, job))
    world.run()
    assert world.record(met).reason is Reason.PAUSED


def test_B4_run_now_on_a_paused_job_runs():
    world = World()
    job = pause(world, world.job())
    started = world.parts.run_now.start(job, "try-it", OWNER, world.clock.now())
    assert not started.repeated
    again = world.parts.run_now.start(job, "try-it", OWNER, world.clock.now() + timedelta(seconds=5))
    assert (again.record.id, again.repeated) == (started.record.id, True)
    world.run()
    record = world.record(started.record)
    assert (record.state, record.origin, record.actor) == (S.SUCCEEDED, Origin.RUN_NOW, OWNER.principal)
    assert len(world.targets.calls) == 1
    assert world.timers() == []


def test_B4_a_run_now_from_before_the_pause_is_cancelled_and_an_edit_lets_it_go_on():
    world = World()
    world.team(max_concurrency=1)
    world.targets.script = [Accepted()]
    world.queue(world.job("other"))
    world.poll()
    job = world.job()
    met = world.parts.run_now.start(job, "one", OWNER, world.clock.now()).record
    world.poll()
    paused = pause(world, job)
    assert ending(world, met) == (S.CANCELLED, Reason.PAUSED)
    active = resume(world, paused)
    goes_on = world.parts.run_now.start(active, "two", OWNER, world.clock.now()).record
    edit(world, active)
    assert ending(world, goes_on) == STANDS


def test_B4_a_redrive_goes_on_through_edits_and_pauses():
    world = World()
    job = world.job(retry=RetryPolicy(max_attempts=1))
    world.targets.script = [BROKEN]
    record = world.queue(job)
    world.run()
    world.parts.redrive.one(OWNER, "payments", record.id, world.clock.now())
    pause(world, edit(world, job))
    assert ending(world, record) == STANDS


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("goes_on", [pause, lambda world, job: resume(world, pause(world, job)), edit])
def test_B4_a_redrive_of_what_never_began_goes_on_as_well(goes_on, by_hand):
    """Its worker crashed before each lease. Its owner mends that beside a pause, and redrives it."""
    world = World()
    job = world.job(overlap=Overlap.SKIP)
    record = world.queue(job)
    if by_hand:
        record = world.parts.run_now.start(job, "try-it", OWNER, world.clock.now()).record
    for _ in range(4):
        world.parts.dead_letters.handle(record.id, world.clock.now())
    assert (world.record(record).state, world.record(record).fence) == (S.DEAD, 0)
    world.clock.advance(seconds=10)
    job = goes_on(world, job)
    world.clock.advance(seconds=10)
    world.parts.redrive.one(OWNER, "payments", record.id, world.clock.now())
    assert ending(world, record) == STANDS


def test_B5_an_adopted_firing_goes_by_its_new_generation():
    world = World()
    job = world.job()
    record = queued(world, job)
    edit(world, job)
    adopted = replace(record, generation=2, planted_generation=2)
    world.store_record(adopted)
    assert ending(world, record) == STANDS


def test_B5_an_adoption_in_the_moment_of_a_cancel_wins():
    """The cancel names the generation that it read, so it loses, reads again, and lets the firing go on."""
    world = World()
    job = world.job()
    record = queued(world, job)
    edit(world, job)
    world.clock.advance(seconds=60)
    adopted: list[PortCall] = []

    def around(call, proceed):
        if call.method == "write" and not adopted:
            adopted.append(call)
            world.store_record(replace(record, generation=2, planted_generation=2))
        return proceed()

    world.rewire(around)
    world.poll()
    assert world.record(record).state is S.SUCCEEDED


def test_a_job_that_is_forgotten_leaves_its_firing_undeliverable():
    world = World()
    record = world.queue(replace(world.job(), uid="b" * 20))
    world.run()
    assert (world.record(record).state, world.record(record).reason) == (S.DEAD, Reason.UNDELIVERABLE)


def test_a_paused_team_has_no_slots_until_it_is_resumed():
    world = World()
    world.team(halts=halts(world.clock.now()))
    record = world.queue(world.job())
    world.run()
    assert world.record(record).state is S.WAITING
    world.team()
    world.clock.advance(seconds=60)
    world.doors.backlog.pump("payments", world.clock.now())
    world.run()
    assert world.record(record).state is S.SUCCEEDED


@pytest.mark.parametrize(
    ("where", "cancels", "cancels_begun"),
    [(queued, True, True), (waiting, True, True), (running, False, False), (retrying, False, True)],
)
def test_B4_cancelling_one_execution(where, cancels, cancels_begun):
    for begun_too, expected in ((False, cancels), (True, cancels_begun)):
        world = World()
        record = where(world, world.job(retry=LATER))
        answer = world.parts.cancel.execution(
            record.id, Reason.PAUSED, world.clock.now(), begun_too=begun_too
        )
        assert isinstance(answer, CancelledNow if expected else Stands)
        assert ending(world, record) == ((S.CANCELLED, Reason.PAUSED) if expected else STANDS)
        assert world.slots() == []


@pytest.mark.parametrize("how", ["deleted", "cancelled"])
def test_E2_a_slot_that_was_reserved_for_what_is_cancelled_is_free_at_once(how):
    world = World()
    job = world.job()
    record = waiting(world, job)
    world.targets.script = [Accepted()]
    holder = next(r for r in world.records() if r.state is S.RUNNING)
    now = world.clock.now()
    world.parts.workers.complete("payments", holder.id, holder.fence, "", now)
    (slot,) = world.slots()
    assert (slot["x"], slot["f"]) == (str(record.id), 0)
    delete(world, job)
    if how == "deleted":
        world.poll()
    else:
        world.parts.cancel.execution(record.id, Reason.DELETED, now)
    assert world.record(record).state is S.CANCELLED
    assert world.slots() == []


def test_cancelling_what_is_not_there():
    world = World()
    nobody = ExecutionId.occurrence("a" * 20, from_wire("2026-03-01T09:00:00Z"))
    assert world.parts.cancel.execution(nobody, Reason.PAUSED, world.clock.now()) == Unknown()


def test_D5_an_edit_of_the_target_reaches_a_firing_that_waits():
    world = World()
    job = world.job()
    record = waiting(world, job)
    world.job(url="https://new.example.com/hook", revision=2)
    assert ending(world, record) == STANDS
    urls = [call.url for call in world.targets.calls if call.execution == str(record.id)]
    assert urls == ["https://new.example.com/hook"]


def test_L02_an_overlap_lock_goes_with_the_final_state_however_it_ends():
    world = World()
    job = world.job(overlap=Overlap.SKIP, retry=LATER)
    record = retrying(world, job)
    assert world.lock_holder(job.uid) == str(record.id)
    delete(world, job)
    assert ending(world, record) == (S.CANCELLED, Reason.DELETED)
    assert world.lock_holder(job.uid) is None
