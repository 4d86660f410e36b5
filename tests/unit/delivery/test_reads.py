"""How fresh what delivery reads is, and who reads it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Lock

from fencepost.adapters.seam import PortCall, seamed
from fencepost.application.delivery.reads import Reads
from fencepost.domain.states import ExecutionState, JobState
from tests.support.world import World


def test_a_record_that_was_read_for_its_batch_is_used_once_and_within_a_second():
    world = World()
    queued = world.queue(world.job())
    reads, now = Reads(world.memory), world.clock.now()
    reads.expect([queued.id], now)
    world.store_record(replace(queued, state=ExecutionState.WAITING))
    assert reads.record(queued.id, now) == queued
    assert reads.record(queued.id, now) == replace(queued, state=ExecutionState.WAITING)
    reads.expect([queued.id], now)
    world.store_record(queued)
    assert reads.record(queued.id, now + timedelta(seconds=2)) == queued
    reads.expect([queued.id], now)
    world.store_record(replace(queued, state=ExecutionState.WAITING))
    assert reads.record(queued.id) == replace(queued, state=ExecutionState.WAITING)


def test_D1_a_job_is_never_older_than_its_firing_is_due():
    world = World()
    job = world.job()
    early, late = (
        world.queue(job, world.clock.now()),
        world.queue(job, world.clock.now() + timedelta(seconds=0.2)),
    )
    reads = Reads(world.memory)
    reads.expect([early.id, late.id], world.clock.now())
    reads.due_job(early, world.clock.now())
    world.put(replace(job, state=JobState.PAUSED))
    world.clock.set(late.due)
    found = reads.due_job(late, world.clock.now())
    assert found is not None
    assert found.state is JobState.PAUSED


def test_a_team_is_at_most_two_seconds_old():
    world = World()
    world.team(max_concurrency=1)
    reads, now = Reads(world.memory), world.clock.now()
    assert reads.team("payments", now) == world.team(max_concurrency=1)
    world.team(max_concurrency=9)
    known = reads.team("payments", now + timedelta(seconds=2))
    renewed = reads.team("payments", now + timedelta(seconds=2.001))
    assert known is not None
    assert renewed is not None
    assert (known.max_concurrency, renewed.max_concurrency) == (1, 9)


def test_a_team_that_is_not_there_is_asked_for_each_time():
    world = World()
    reads, now = Reads(world.memory), world.clock.now()
    assert reads.team("reports", now) is None
    there = world.team("reports")
    assert reads.team("reports", now) == there


def test_threads_of_a_batch_read_together():
    world = World()
    records = [world.queue(world.job(f"job-{letter}")) for letter in "abcdefghij"]
    calls: list[str] = []

    def around(call: PortCall, proceed):
        calls.append(call.method)
        return proceed()

    reads, now = Reads(seamed(world.memory, "store", around), Lock()), world.clock.now()
    reads.expect([record.id for record in records], now)
    together = Barrier(len(records))

    def find(record):
        together.wait()
        job = reads.due_job(record, now)
        assert job is not None
        return job.name, reads.detail(job.uid, job.detail) is not None

    with ThreadPoolExecutor(len(records)) as pool:
        found = list(pool.map(find, records))
    assert found == [(record.job, True) for record in records]
    assert calls == ["batch_get"] * 3
