"""Firings beside each other: slots, overlap, broken hosts, batches, and what teams ask to be told."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.delivery.dead_letter import MOST_TELLINGS
from fencepost.application.delivery.results import Acknowledge
from fencepost.application.messages import read_wake
from fencepost.application.ports import QueueName
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Overlap, RetryPolicy
from fencepost.domain.outcome import Accepted
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.faults import Killed
from tests.support.world import BROKEN, START, World

S = ExecutionState


def settle(world, minutes=20):
    for _ in range(minutes):
        world.run(until=world.clock.now() + timedelta(minutes=1))
        world.doors.backlog.pump("payments", world.clock.now())


def test_E1_firings_beyond_the_cap_wait_and_all_run():
    world = World()
    world.team(max_concurrency=2)
    world.targets.script = [Accepted(), Accepted()]
    records = [world.queue(world.job(name)) for name in ("alpha", "beta", "gamma", "delta")]
    world.poll()
    states = Counter(world.record(record).state for record in records)
    assert states == {S.RUNNING: 2, S.WAITING: 2}
    for record in records[:2]:
        now = world.clock.now()
        world.parts.workers.complete("payments", record.id, world.record(record).fence, "", now)
    settle(world)
    assert {world.record(record).state for record in records} == {S.SUCCEEDED}
    assert world.slots() == []


def test_E1_a_slot_that_comes_free_goes_to_who_waits_without_a_pump():
    world = World()
    world.team(max_concurrency=1)
    world.targets.script = [Accepted()]
    first, second = (world.queue(world.job(name)) for name in ("alpha", "beta"))
    world.poll()
    world.parts.workers.complete("payments", first.id, world.record(first).fence, "", world.clock.now())
    world.run()
    assert world.record(second).state is S.SUCCEEDED


def test_E4_newcomers_do_not_overtake_those_who_wait():
    world = World()
    world.team(max_concurrency=1)
    world.targets.script = [Accepted()]
    world.queue(world.job("alpha"))
    world.poll()
    waits = world.queue(world.job("beta"))
    world.poll()
    world.team(max_concurrency=2)  # nobody has pumped yet
    world.clock.advance(seconds=3)
    newcomer = world.queue(world.job("gamma"))
    world.run(until=world.clock.now() + timedelta(seconds=5))
    assert [call.execution for call in world.targets.calls[1:]] == [str(waits.id), str(newcomer.id)]


def test_E6_skip_leaves_out_what_comes_due_while_another_runs():
    world = World()
    job = world.job(overlap=Overlap.SKIP)
    world.targets.script = [Accepted()]
    first = world.queue(job)
    world.poll()
    second = world.queue(job, "2026-03-01T09:01:00Z")
    world.run(until="2026-03-01T09:02:00Z")
    assert world.record(first).state is S.RUNNING
    assert (world.record(second).state, world.record(second).reason) == (S.SKIPPED, Reason.OVERLAP)
    assert world.record(second).expires_at is not None


def test_E6_the_lock_is_kept_between_two_attempts():
    world = World()
    job = world.job(overlap=Overlap.SKIP, retry=RetryPolicy(initial_delay=timedelta(minutes=10)))
    world.targets.script = [BROKEN]
    first = world.queue(job)
    second = world.queue(job, "2026-03-01T09:01:00Z")
    world.run()
    assert world.record(first).state is S.SUCCEEDED
    assert world.record(second).state is S.SKIPPED
    assert world.lock_holder(job.uid) is None


def test_E6_queue_runs_them_one_after_the_other():
    world = World()
    job = world.job(overlap=Overlap.QUEUE)
    world.targets.script = [Accepted()]
    first = world.queue(job)
    world.poll()
    second = world.queue(job, "2026-03-01T09:01:00Z")
    third = world.queue(job, "2026-03-01T09:02:00Z")
    world.run(until="2026-03-01T09:03:00Z")
    assert [world.record(r).state for r in (second, third)] == [S.WAITING, S.WAITING]
    world.parts.workers.complete("payments", first.id, world.record(first).fence, "", world.clock.now())
    settle(world)
    assert [call.execution for call in world.targets.calls] == [str(r.id) for r in (first, second, third)]
    assert [c.fence for c in world.targets.calls] == sorted(c.fence for c in world.targets.calls)


def test_D3_fences_rise_across_the_firings_of_a_job_that_does_not_overlap():
    world = World()
    job = world.job(overlap=Overlap.SKIP)
    first = world.queue(job)
    world.run()
    world.clock.advance(minutes=-10)  # this worker's clock is behind
    second = world.queue(job, world.clock.now())
    world.run()
    assert world.record(second).fence == world.record(first).fence + 1


def test_L02_a_job_that_forbids_overlap_is_not_blocked_by_a_lost_worker():
    world = World()
    job = world.job(overlap=Overlap.QUEUE, retry=RetryPolicy(max_attempts=1))
    world.targets.script = [Killed()]
    lost = world.queue(job)
    try:
        world.poll()
    except Killed:
        world.rewire()
    world.clock.advance(seconds=40)
    after = world.queue(job)
    world.run(until=world.clock.now() + timedelta(seconds=20))  # long before the lost message comes back
    assert world.record(lost).state is S.DEAD
    settle(world)
    assert world.record(after).state is S.SUCCEEDED


def test_R02_those_who_failed_together_do_not_return_together():
    world = World()
    fractions = iter([0.1, 0.9, 0.4, 0.7] * 100)
    world.entropy.fraction = lambda: next(fractions)  # type: ignore[method-assign]  # this test draws for itself
    records = [world.queue(world.job(name)) for name in ("alpha", "beta", "gamma")]
    world.targets.script = [BROKEN] * 3
    world.poll()
    assert len({world.record(record).retry_at for record in records}) == 3


@pytest.mark.parametrize("budget", [1, 4])
def test_R05_no_attempt_is_made_beyond_the_budget(budget):
    world = World()
    record = world.queue(world.job(retry=RetryPolicy(max_attempts=budget)))
    world.targets.then = BROKEN
    world.run()
    assert len(world.targets.calls) == budget
    assert world.record(record).state is S.DEAD


def test_a_batch_shares_its_reads():
    world = World()
    world.targets.takes = timedelta(0)
    records = [world.queue(world.job(f"job-{letter}")) for letter in "abcdefghij"]
    reads: Counter[str] = Counter()

    def around(call: PortCall, proceed):
        if call.method in {"get", "batch_get"}:
            reads[call.method] += 1
        return proceed()

    world.rewire(around)
    messages = world.mail.receive(QueueName.STANDARD, 10, timedelta(0))
    world.parts.advance.expect([read_wake(message.body) for message in messages])
    for message in messages:
        world.handle(message)
    assert {world.record(record).state for record in records} == {S.SUCCEEDED}
    assert reads == {"batch_get": 3}  # records; jobs and team; payloads


def test_D1_a_job_that_was_read_for_a_neighbour_is_read_again_when_it_is_old():
    world = World()
    first, second = world.job("alpha"), world.job("beta")
    records = [world.queue(first), world.queue(second)]
    world.parts.advance.expect([record.id for record in records])
    world.parts.advance.run(records[0].id, None)
    world.change(second, Reason.PAUSED, JobState.PAUSED)
    world.clock.advance(seconds=0.3)
    world.parts.advance.run(records[1].id, None)
    assert world.record(records[1]).reason is Reason.PAUSED


def test_a_batch_whose_records_cannot_be_read_together_reads_them_one_by_one():
    world = World()
    record = world.queue(world.job())

    def around(call: PortCall, proceed):
        if call.method == "batch_get":
            return {}  # nothing was processed, which proves nothing
        return proceed()

    world.rewire(around)
    world.parts.advance.expect([record.id])
    world.run()
    assert world.record(record).state is S.SUCCEEDED


def test_a_record_that_changed_since_the_batch_was_read_is_read_again():
    world = World()
    record = world.queue(world.job())
    world.parts.advance.expect([record.id])
    other = World.__new__(World)
    other.__dict__ |= world.__dict__
    other.rewire()
    other.poll()
    assert isinstance(world.parts.advance.run(record.id, None), Acknowledge)
    assert len(world.targets.calls) == 1


def test_teams_are_told_what_they_ask_for():
    world = World()
    world.team(notify_on=frozenset({"dead", "succeeded", "late", "skipped"}))
    plain = world.queue(world.job("plain"))
    late = world.queue(world.job("late"), "2026-03-01T08:50:00Z")
    job = world.job("alone", overlap=Overlap.SKIP, notify_on=frozenset({"skipped"}))
    world.run()
    world.targets.script = [Accepted()]
    world.queue(job)
    world.poll()
    skipped = world.queue(job, world.clock.now() + timedelta(seconds=1))
    world.run(until=world.clock.now() + timedelta(seconds=30))
    told = Counter((str(notice.kind), notice.execution_id) for notice in world.notifier.told)
    assert told == {
        ("succeeded", str(plain.id)): 1,
        ("succeeded", str(late.id)): 1,
        ("late", str(late.id)): 1,
        ("skipped", str(skipped.id)): 1,
    }


def deaf_world():
    """A team that wants to hear of successes, and cannot."""
    world = World()
    world.team(notify_on=frozenset({"succeeded"}))
    record = world.queue(world.job())
    world.notifier.deaf = True
    return world, record


def test_a_notice_that_nobody_takes_blocks_nothing_and_is_told_later():
    world, record = deaf_world()
    world.run(until="2026-03-01T09:04:00Z")
    first = world.dispositions[0]
    assert isinstance(first, Acknowledge)
    assert first.facts is not None
    assert first.facts.untold
    assert world.record(record).state is S.SUCCEEDED
    world.notifier.deaf = False
    world.run()
    assert [(told.kind, told.execution_id) for told in world.notifier.told] == [("succeeded", str(record.id))]
    assert world.at_rest()


def test_who_is_deaf_for_a_day_is_not_told_of_a_success_any_more():
    world, _ = deaf_world()
    world.run()
    assert world.at_rest()
    assert timedelta(hours=12) < world.clock.now() - from_wire(START) < timedelta(hours=24)
    assert len(world.dispositions) == 1 + MOST_TELLINGS


def test_what_a_run_measures():
    world = World()
    world.queue(world.job(), "2026-03-01T08:59:58Z")
    world.targets.script = [BROKEN]
    world.run()
    first, second = (d.facts for d in world.dispositions if isinstance(d, Acknowledge))
    assert first is not None
    assert second is not None
    assert (first.outcome, first.state, first.lateness) == ("failed", S.RETRY_WAIT, timedelta(seconds=2))
    assert (second.outcome, second.state, second.lateness, second.attempt) == (
        "delivered",
        S.SUCCEEDED,
        None,
        2,
    )
