"""Hosts that a team spares: so many calls at once, so many a minute. Whoever is too many waits, and nobody is dropped."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from threading import Barrier
from typing import Any, TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.delivery.hosts import Go, Hosts, Wait
from fencepost.application.delivery.records import Lease, leased
from fencepost.application.delivery.results import PutBack
from fencepost.application.messages import wake_body
from fencepost.application.moves import rewritten
from fencepost.application.ports import QueueName, Received
from fencepost.application.store import Put, StoreBusyError, Update
from fencepost.domain.instants import MINUTE, SECOND, from_wire, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.manners import HostLimit, HostWait, longer
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.outcome import Outcome
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.world import BROKEN, OK, START, World

T = TypeVar("T")
HOST = "report.example.com"


def world_with(
    *, cap: int = 50, parallel: int | None = None, minute: int | None = None, **limits: Any
) -> World:
    world = World(**limits)
    limit = HostLimit(host=HOST, max_parallel=parallel, max_per_minute=minute)
    world.team(max_concurrency=cap, hosts=(limit,))
    return world


def crowd(world: World, count: int) -> list[Execution]:
    """So many firings of one job's host, all due now."""
    jobs = [
        world.job(f"job-{chr(97 + n // 26)}{chr(97 + n % 26)}", url=f"https://{HOST}/hook")
        for n in range(count)
    ]
    return [world.queue(job) for job in jobs]


def during_the_call(act: Callable[[], object]) -> Callable[[object], Outcome]:
    """An answer before which something else happens."""

    def answer(_: object) -> Outcome:
        act()
        return OK

    return answer


def taken(world: World, number: int, until: str) -> None:
    """Somebody holds a place, as a worker does that has died since."""
    item = {"v": 1, "x": "somebody", "until": to_ms(from_wire(until))}
    world.memory.write(Put(key=keys.host_place("payments", HOST, number), item=item))


def wake_of(record: Execution) -> Received:
    """A wake-up of the record, in hand."""
    return Received(
        queue=QueueName.STANDARD, body=wake_body(record.id), receipt="", receive_count=1, message_id="m"
    )


class TestSoManyAtOnce:
    def test_whoever_is_one_too_many_waits_without_an_attempt_and_says_why(self) -> None:
        world = world_with(parallel=1)
        first, second = crowd(world, 2)
        seen: list[Execution] = []

        def look() -> None:
            world.poll()
            seen.append(world.record(second))

        world.targets.script = [during_the_call(look)]
        world.poll(limit=1)
        [waiting] = seen
        assert (waiting.state, waiting.attempt, waiting.attempts) == (ExecutionState.RETRY_WAIT, 0, ())
        assert waiting.note == f"put off: {HOST} takes 1 of the team's calls at once"
        assert waiting.waited_from is not None
        assert len(world.targets.calls) == 1
        world.run()
        for record in map(world.record, (first, second)):
            assert (record.state, record.attempt, len(record.attempts)) == (ExecutionState.SUCCEEDED, 1, 1)
        assert world.at_rest()

    def test_as_many_as_are_let_in_are_called_at_once(self) -> None:
        world = world_with(parallel=2)
        crowd(world, 3)
        inner = during_the_call(lambda: world.poll(limit=1))
        world.targets.script = [during_the_call(lambda: world.poll(limit=1)), inner]
        world.poll(limit=1)
        assert len(world.targets.calls) == 2
        world.run()
        assert len(world.targets.calls) == 3

    def test_the_place_of_a_dead_worker_is_free_when_its_lease_is_over(self) -> None:
        world = world_with(parallel=1)
        taken(world, 0, "2026-03-01T09:00:35Z")
        [record] = crowd(world, 1)
        world.run()
        [call] = world.targets.calls
        assert from_wire("2026-03-01T09:00:35Z") <= call.at < from_wire("2026-03-01T09:01:10Z")
        assert world.record(record).attempt == 1

    def test_other_hosts_and_other_teams_are_not_kept(self) -> None:
        world = world_with(parallel=1)
        taken(world, 0, "2026-03-01T10:00:00Z")
        world.team("ledger")
        other = world.queue(world.job("other"))
        theirs = world.queue(world.job("theirs", team="ledger", url=f"https://{HOST}/hook"))
        world.poll()
        assert {world.record(each).state for each in (other, theirs)} == {ExecutionState.SUCCEEDED}

    def test_whoever_waits_for_its_host_keeps_no_slot_of_the_team(self) -> None:
        world = world_with(cap=1, parallel=1)
        [record] = crowd(world, 1)
        world.targets.script = [during_the_call(world.poll)]
        other = world.job("other")
        taken(world, 0, "2026-03-01T09:05:00Z")
        world.poll()
        assert world.record(record).state is ExecutionState.RETRY_WAIT
        assert world.slots() == []
        done = world.queue(other)
        world.poll()
        assert world.record(done).state is ExecutionState.SUCCEEDED

    def test_it_gives_up_the_slot_that_was_kept_for_its_turn(self) -> None:
        world = world_with(cap=1, parallel=1)
        busy = world.queue(world.job("busy"))
        [record] = crowd(world, 1)
        world.targets.script = [during_the_call(world.poll)]
        world.poll(limit=1)
        assert world.record(record).state is ExecutionState.WAITING
        assert world.record(busy).state is ExecutionState.SUCCEEDED
        taken(world, 0, "2026-03-01T09:01:00Z")
        world.clock.advance(seconds=2)
        world.poll()
        assert (world.record(record).state, world.slots()) == (ExecutionState.RETRY_WAIT, [])
        world.run()
        assert world.record(record).state is ExecutionState.SUCCEEDED

    def test_places_are_given_back_whatever_happens_next(self) -> None:
        world = world_with(cap=1, parallel=5)
        crowd(world, 3)
        world.targets.script = [during_the_call(world.poll)]
        world.poll(limit=1)
        assert not [
            item
            for item in world.memory.everything(keys.host_rate("", "").table)
            if item["pk"].startswith("P#")
        ]

    def test_threads_never_hold_more_places_than_there_are(self) -> None:
        world = world_with(parallel=3)
        hosts = Hosts(tools=world.tools, finish=world.parts.advance.finish)
        limit = HostLimit(host=HOST, max_parallel=3)
        together = Barrier(8, timeout=30)

        def call(record: Execution) -> bool:
            together.wait()
            verdict = hosts.ask(record, limit, world.clock.now() + MINUTE)
            together.wait()
            if isinstance(verdict, Go):
                hosts.leave(verdict.place)
            return isinstance(verdict, Go)

        with ThreadPoolExecutor(8) as pool:
            let_in = list(pool.map(call, crowd(world, 8)))
        assert 1 <= let_in.count(True) <= 3


class TestSoManyAMinute:
    def test_calls_begin_no_closer_than_the_rate_allows_and_each_waits_once(self) -> None:
        world = world_with(minute=60)
        records = crowd(world, 10)
        world.run()
        begun = sorted(call.at for call in world.targets.calls)
        assert len(begun) == 10
        assert all(later - earlier >= SECOND for earlier, later in pairwise(begun))
        assert begun[-1] - begun[0] < 12 * SECOND
        assert {world.record(each).attempt for each in records} == {1}
        assert world.at_rest()

    def test_a_crowd_beyond_the_lookahead_comes_through_at_the_same_rate(self) -> None:
        world = world_with(minute=30, host_lookahead=timedelta(seconds=20))
        records = crowd(world, 60)
        world.run(steps=3_000)
        begun = sorted(call.at for call in world.targets.calls)
        assert len(begun) == 60
        assert all(later - earlier >= 2 * SECOND for earlier, later in pairwise(begun))
        assert {world.record(each).state for each in records} == {ExecutionState.SUCCEEDED}
        assert {world.record(each).attempt for each in records} == {1}

    def test_whoever_loses_every_race_for_an_instant_asks_again_soon(self) -> None:
        world = world_with(minute=60)

        def rival(call: PortCall, proceed: Callable[[], T], /) -> T:
            """Somebody else takes each instant just before."""
            subject = call.args[0] if call.args else None
            if call.method == "write" and isinstance(subject, Update) and subject.key == rate:
                item = world.memory.get(rate)
                first = to_ms(world.clock.now()) if item is None else item["next"]
                world.memory.write(Put(key=rate, item={"v": 1, "next": first + 1}))
            return proceed()

        rate = keys.host_rate("payments", HOST)
        [record] = crowd(world, 1)
        world.rewire(rival)
        world.poll()
        waiting = world.record(record)
        assert waiting.retry_at is not None
        assert waiting.retry_at - world.clock.now() <= SECOND
        assert waiting.host_wait == HostWait(since=world.clock.now())

    def test_whoever_finds_the_host_full_keeps_the_ticket_that_it_has(self) -> None:
        world = world_with(parallel=1, minute=1)
        taken(world, 0, "2026-03-01T09:00:10Z")
        [record] = crowd(world, 1)
        world.poll()
        assert world.record(record).host_wait == HostWait(since=world.clock.now(), ticket=HOST)
        world.run()
        [call] = world.targets.calls
        assert call.at < from_wire("2026-03-01T09:01:00Z")
        assert world.record(record).host_wait is None

    def test_a_retry_asks_for_a_ticket_of_its_own(self) -> None:
        world = world_with(minute=1)
        world.targets.script = [BROKEN]
        [record] = crowd(world, 1)
        world.run()
        first, second = (call.at for call in world.targets.calls)
        assert second - first >= MINUTE
        assert (world.record(record).state, world.record(record).attempt) == (ExecutionState.SUCCEEDED, 2)


class TestWhileItWaits:
    def test_a_pause_of_its_job_reaches_it(self) -> None:
        world = world_with(parallel=1)
        taken(world, 0, "2026-03-01T09:05:00Z")
        job = world.job("report")
        record = world.queue(job)
        world.poll()
        world.change(job, Reason.PAUSED, JobState.PAUSED)
        world.run()
        assert (world.record(record).state, world.record(record).reason) == (
            ExecutionState.CANCELLED,
            Reason.PAUSED,
        )
        assert world.targets.calls == []

    def test_a_wake_up_that_comes_twice_puts_it_off_once(self) -> None:
        world = world_with(parallel=1)
        taken(world, 0, "2026-03-01T09:05:00Z")
        [record] = crowd(world, 1)
        stale = world.record(record)
        hosts = Hosts(tools=world.tools, finish=world.parts.advance.finish)
        limit = HostLimit(host=HOST, max_parallel=1)
        team = world.tools.reads.team("payments", world.clock.now())
        assert team is not None
        first, second = (hosts.ask(stale, limit, world.clock.now() + MINUTE) for _ in range(2))
        assert isinstance(first, Wait)
        assert isinstance(second, Wait)
        hosts.put_off(stale, team, first)
        until = world.record(record).retry_at
        hosts.put_off(stale, team, second)
        assert world.record(record).retry_at == until

    def test_A1_out_of_the_backlog_its_wake_up_is_in_the_same_write(self, monkeypatch) -> None:
        """Another hand of its message may have acknowledged it, since its entry woke it; this one dies right after."""
        world = world_with(cap=1, parallel=1)
        world.queue(world.job("busy"))
        [record] = crowd(world, 1)
        world.targets.script = [during_the_call(world.poll)]
        world.poll(limit=1)
        waiting = world.record(record)
        assert waiting.state is ExecutionState.WAITING
        hosts = Hosts(tools=world.tools, finish=world.parts.advance.finish)
        team = world.tools.reads.team("payments", world.clock.now())
        assert team is not None

        def dies(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(type(world.tools), "hand_over", dies)
        at = from_wire("2026-03-01T09:02:00Z")
        with pytest.raises(KeyboardInterrupt):
            hosts.put_off(waiting, team, Wait(until=at, why="full", ticket=None))
        assert world.record(record).state is ExecutionState.RETRY_WAIT
        assert [(timer.execution, timer.due) for timer in world.timers()] == [(record.id, at)]

    def test_a_lease_of_a_wake_up_that_saw_it_earlier_loses(self) -> None:
        world = world_with(parallel=1)
        taken(world, 0, "2026-03-01T09:00:05Z")
        [record] = crowd(world, 1)
        world.poll()
        stale = world.record(record)
        later = rewritten(stale, retry_at=from_wire("2026-03-01T09:02:00Z"))
        world.memory.write(later.write)
        lease = Lease(
            fence=to_ms(world.clock.now()), until=from_wire("2026-03-01T09:01:00Z"), begun=world.clock.now()
        )
        write = leased(stale, lease, slot="0", detail="x", limits=world.limits)
        assert not world.tools.commit(stale, write)
        assert world.record(record).retry_at == from_wire("2026-03-01T09:02:00Z")

    def test_its_owner_may_want_it_skipped_when_the_job_runs_already(self) -> None:
        world = world_with(parallel=1)
        job = world.job("report", overlap=Overlap.SKIP)
        taken(world, 0, "2026-03-01T09:00:05Z")
        late = world.queue(job)
        world.poll()
        assert world.record(late).state is ExecutionState.RETRY_WAIT
        world.clock.set("2026-03-01T09:00:10Z")
        running = world.queue(job, "2026-03-01T09:00:10Z")
        world.targets.script = [during_the_call(lambda: world.handle(wake_of(late)))]
        world.team(hosts=(HostLimit(host=HOST, max_parallel=2),))
        world.clock.advance(seconds=3)
        world.handle(wake_of(running))
        assert world.record(running).state is ExecutionState.SUCCEEDED
        assert (world.record(late).state, world.record(late).reason) == (
            ExecutionState.SKIPPED,
            Reason.OVERLAP,
        )

    def test_without_an_answer_of_the_store_nobody_is_called(self) -> None:
        world = world_with(parallel=1)

        def trouble(call: PortCall, proceed: Callable[[], T], /) -> T:
            subject = call.args[0] if call.args else None
            if call.method == "write" and isinstance(subject, Put) and subject.key.pk.startswith("P#"):
                raise StoreBusyError("throttled")
            return proceed()

        crowd(world, 1)
        world.rewire(trouble)
        world.poll()
        [disposition] = world.dispositions
        assert isinstance(disposition, PutBack)
        assert world.targets.calls == []


@pytest.mark.parametrize(
    ("waited", "fraction", "away"),
    [(0, 0.0, 0.5), (0, 1.0, 1.0), (40, 0.0, 5.0), (40, 1.0, 10.0), (900, 0.0, 30.0), (900, 1.0, 60.0)],
)
def test_the_longer_the_wait_the_seldomer_it_asks(waited: int, fraction: float, away: float) -> None:
    now = from_wire(START)
    found = longer(now - timedelta(seconds=waited), now, fraction, Limits())
    assert found == timedelta(seconds=away)


def test_the_spacing_is_rounded_so_that_a_minute_never_holds_one_more() -> None:
    for rate in (1, 7, 60, 601, 60_000):
        spacing = HostLimit(host=HOST, max_per_minute=rate).spacing
        assert spacing is not None
        assert spacing * rate >= MINUTE


@pytest.mark.parametrize("given", [{}, {"next": "soon"}, {"next": 10**40}, {"next": -5}])
def test_R10_a_rate_that_nobody_understands_begins_anew(given):
    world = world_with(minute=60)
    key = keys.host_rate("payments", HOST)
    world.memory.write(Put(key=key, item={"v": 1, **given}))
    records = crowd(world, 3)
    world.run()
    assert {world.record(record).state for record in records} == {ExecutionState.SUCCEEDED}
    calls = [call.at for call in world.targets.calls]
    assert all(later - earlier >= SECOND for earlier, later in pairwise(calls))


def test_R10_a_place_that_nobody_understands_is_taken_and_leaves_the_others():
    world = world_with(parallel=2)
    key = keys.host_place("payments", HOST, 0)
    world.memory.write(Put(key=key, item={"v": 1, "x": "?", "until": "soon"}))
    records = crowd(world, 4)
    world.run()
    assert {world.record(record).state for record in records} == {ExecutionState.SUCCEEDED}
