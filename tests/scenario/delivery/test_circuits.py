"""Hosts that keep failing are left alone for a while, then probed."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.store import StoreBusyError
from fencepost.domain.instants import from_wire
from fencepost.domain.model import RetryPolicy, Tier
from fencepost.domain.outcome import Accepted, Failed, TimedOut
from fencepost.domain.states import ExecutionState
from tests.support.world import BROKEN, OK, World

S = ExecutionState
SILENT = TimedOut(error="no answer within 10 s")
QUICK = RetryPolicy(max_attempts=10, initial_delay=timedelta(seconds=1), max_delay=timedelta(seconds=1))


def test_R03_a_host_that_keeps_failing_is_left_alone_and_then_probed():
    world = World()
    jobs = [
        world.job(f"job-{letter}", url="https://dead.example.com/hook", retry=QUICK) for letter in "abcdefgh"
    ]
    records = [world.queue(job) for job in jobs]
    world.targets.then = SILENT
    world.run(until="2026-03-01T09:00:05Z")
    assert len(world.targets.calls) == 5
    spared = [world.record(record) for record in records[5:]]
    assert {record.attempts[-1].outcome for record in spared} == {"circuit_open"}
    assert all("circuit is open" in (record.attempts[-1].error or "") for record in spared)
    assert all(record.fence == 0 and record.attempt == 1 for record in spared)
    assert world.slots() == []
    world.targets.then = OK
    world.run()
    assert {world.record(record).state for record in records} == {S.SUCCEEDED}
    probe = world.targets.calls[5]
    assert probe.at >= from_wire("2026-03-01T09:00:30Z")


def test_R03_a_probe_that_fails_keeps_the_circuit_open():
    world = World()
    records = [
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook", retry=QUICK))
        for letter in "abcdefgh"
    ]
    world.targets.then = BROKEN
    world.run(until="2026-03-01T09:10:00Z")
    calls = [call.at for call in world.targets.calls]
    assert len(calls) < 5 + 600 / 30 + 1
    assert all(later - earlier >= timedelta(seconds=29) for earlier, later in pairwise(calls[4:]))
    world.run()
    assert {world.record(record).state for record in records} == {S.DEAD}


def test_R03_the_circuit_is_known_to_other_processes_after_one_failure_of_their_own():
    world = World()
    for letter in "abcde":
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook"))
    world.targets.then = SILENT
    world.poll()
    world.rewire()  # another process
    for letter in "fgh":
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook"))
    world.poll()
    assert len(world.targets.calls) == 6


def test_R03_one_teams_broken_path_is_not_anothers():
    world = World()
    world.team("reports")
    for letter in "abcdefgh":
        world.queue(world.job(f"job-{letter}", url="https://shared.example.com/hook"))
    world.targets.then = SILENT
    world.poll()
    world.targets.then = OK
    record = world.queue(world.job("other", team="reports", url="https://shared.example.com/hook"))
    world.poll()
    assert world.record(record).state is S.SUCCEEDED


def test_R03_an_answer_of_four_hundred_shows_a_living_host():
    world = World()
    world.targets.then = Failed(status=404, error="answered 404")
    for letter in "abcdefgh":
        world.queue(world.job(f"job-{letter}", url="https://alive.example.com/hook"))
    world.poll()
    assert len(world.targets.calls) == 8


def test_R03_failures_count_only_in_a_row():
    world = World()
    world.targets.script = [*[SILENT] * 4, OK, *[SILENT] * 4]
    for letter in "abcdefghi":
        world.queue(world.job(f"job-{letter}", url="https://shaky.example.com/hook", retry=QUICK))
    world.poll()
    world.poll()
    assert len(world.targets.calls) >= 9
    assert "circuit_open" not in {a.outcome for record in world.records() for a in record.attempts}


def test_R03_while_one_probes_the_others_wait():
    world = World()
    jobs = [
        world.job(f"job-{letter}", url="https://dead.example.com/hook", retry=QUICK) for letter in "abcdef"
    ]
    records = [world.queue(job) for job in jobs]
    world.targets.script = [SILENT] * 5
    world.poll()
    waiting = next(
        record for record in records if world.record(record).attempts[-1].outcome == "circuit_open"
    )
    other = next(record for record in records if record != waiting)
    world.clock.set(world.record(waiting).retry_at or "")

    def meanwhile(_):
        world.parts.advance.run(other.id, None)
        return OK

    world.targets.script = [meanwhile]
    world.parts.advance.run(waiting.id, None)
    assert len(world.targets.calls) == 6
    assert world.record(waiting).state is S.SUCCEEDED
    assert world.record(other).attempts[-1].outcome == "circuit_open"


def test_R03_a_prober_that_dies_leaves_the_probe_to_another():
    world = World()
    job = world.job(url="https://dead.example.com/hook", retry=QUICK)
    for letter in "abcde":
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook"))
    world.targets.script = [SILENT] * 5
    world.poll()
    circuits = world.parts.advance.start.circuits
    now = world.clock.now() + timedelta(seconds=31)
    assert type(circuits.ask("payments", "dead.example.com", now)).__name__ == "Probe"
    assert type(circuits.ask("payments", "dead.example.com", now)).__name__ == "Open"
    later = now + timedelta(seconds=31)
    assert type(circuits.ask("payments", "dead.example.com", later)).__name__ == "Probe"
    assert job.state == "ACTIVE"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_R03_a_probe_that_has_to_wait_for_a_slot_is_made_when_its_turn_comes(elsewhere: bool):
    """Its host is well again, and the only slot is in use: whoever waited for it calls, and no attempt is lost."""
    world = World()
    world.team(max_concurrency=1)
    for letter in "abcde":
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook"))
    world.targets.script = [SILENT] * 5
    world.poll()
    long = world.queue(world.job("long"))
    world.targets.script = [Accepted()]
    world.poll()
    world.clock.advance(seconds=31)
    mine, rival = (
        world.queue(world.job(name, url="https://dead.example.com/hook", tier=Tier.CRITICAL))
        for name in ("mine", "rival")
    )
    circuits = world.parts.advance.start.circuits
    world.parts.advance.run(mine.id, None)
    assert world.record(mine).state is S.WAITING
    if elsewhere:  # this process believes that somebody probes, and does not know that he gave it up
        circuits._known["payments/dead.example.com"].until = world.clock.now() + timedelta(seconds=29)
    world.clock.advance(seconds=5)
    world.parts.workers.complete("payments", long.id, world.record(long).fence, "", world.clock.now())
    world.parts.advance.run(mine.id, None)
    assert world.record(mine).state is S.SUCCEEDED
    assert [attempt.outcome for attempt in world.record(mine).attempts] == ["delivered"]
    world.parts.advance.run(rival.id, None)
    assert world.record(rival).state is S.SUCCEEDED


def test_R03_a_store_that_fails_never_stands_in_the_way():
    world = World()
    records = [
        world.queue(world.job(f"job-{letter}", url="https://dead.example.com/hook", retry=QUICK))
        for letter in "abcdefg"
    ]

    def around(call: PortCall, proceed):
        key = getattr(call.args[0], "key", call.args[0]) if call.args else None
        if str(getattr(key, "pk", "")).startswith("C#"):
            raise StoreBusyError("busy")
        return proceed()

    world.rewire(around)
    world.targets.script = [SILENT] * 7
    world.run()
    assert {world.record(record).state for record in records} == {S.SUCCEEDED}
