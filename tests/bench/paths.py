"""What a firing costs in AWS requests, by what becomes of it: told as stories, counted on the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import timedelta
from typing import Any

from fencepost.application import keys
from fencepost.application.auditing.audit import Window, pages_of
from fencepost.application.codec import encode_execution
from fencepost.application.ports import QueueName, dead_queue, tier_queue
from fencepost.application.scanning.succession import expected_timer
from fencepost.application.store import Put
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import MINUTE, ZERO, from_wire
from fencepost.domain.model import Job, Misfire, MisfirePolicy, Overlap, RetryPolicy, Tier
from fencepost.domain.outcome import Accepted, Failed
from fencepost.domain.schedule import parse_schedule
from fencepost.runtime import delivering
from tests.bench.jobs import TEAM
from tests.bench.stage import START, Bench, opened
from tests.support.calls import Usage

BEFORE = "2026-03-02T10:57:30.000Z"
DUE = "2026-03-02T11:00:00.000Z"
FULL = 33  # a full group of claims
DAILY = {"cron": "0 11 * * *", "timezone": "UTC"}
REFUSED = Failed(status=429, error="answered 429")  # an answer that opens no circuit


@dataclass(frozen=True, slots=True)
class Cost:
    """Per firing."""

    calls: float = 0.0
    write_units: float = 0.0
    read_units: float = 0.0
    sqs_requests: float = 0.0

    @classmethod
    def of(cls, used: Usage, firings: int) -> Cost:
        """The share of one of so many firings."""
        values = (used.calls, used.write_units, used.read_units, used.sqs_requests)
        return cls(*(value / firings for value in values))

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def rounded(self) -> dict[str, float]:
        """By name, to the hundredth."""
        return {name: round(value, 2) for name, value in asdict(self).items()}


@dataclass
class Ledger:
    """What one firing used, phase by phase."""

    phases: dict[str, Cost] = field(default_factory=dict)

    @property
    def total(self) -> Cost:
        """All phases together."""
        return sum(self.phases.values(), Cost())

    def book(self, name: str, used: Usage, firings: int) -> None:
        """Adds to a phase what so many firings used."""
        self.phases[name] = self.phases.get(name, Cost()) + Cost.of(used, firings)


class Story:
    """Jobs of one stage come due together; what is done about it goes into a ledger."""

    def __init__(self, bench: Bench, firings: int) -> None:
        self.bench = bench
        self.firings = firings
        self.ledger = Ledger()

    def used(self, act: Callable[[], object]) -> Usage:
        """What `act` uses."""
        before = self.bench.calls.total()
        act()
        return self.bench.calls.total() - before

    @contextmanager
    def phase(self, name: str, firings: int | None = None) -> Iterator[None]:
        """Books what is used inside under `name`, for all firings or so many."""
        before = self.bench.calls.total()
        yield
        self.ledger.book(name, self.bench.calls.total() - before, firings or self.firings)

    def deliver(self, phase: str = "deliver", limit: int = 10) -> int:
        """Everything that the standard tier has to deliver now, each batch by a process that knows nothing yet.

        What is booked are full batches alone.
        """
        used, full, done = Usage(), 0, 0
        while True:
            before = self.bench.calls.total()
            found = self.batch(limit)
            done += found
            if found < limit:
                break
            full += found
            used += self.bench.calls.total() - before
        if full:
            self.ledger.book(phase, used, full)
        return done

    def batch(self, limit: int = 10) -> int:
        """One batch, by a new process."""
        return self.bench.poll(tier_queue(Tier.STANDARD), self.bench.deliverer(), limit)

    def ended(self, state: str) -> Ledger:
        """The ledger of a story in which every firing has one record, in `state`."""
        found = Counter(
            record.state.value for job in self.bench.planted for record in self.bench.records(job)
        )
        assert found == {state: len(self.bench.planted)}, found
        return self.ledger


@contextmanager
def _story(count: int = FULL, *, scanned: str = BEFORE, **facts: Any) -> Iterator[Story]:
    """Jobs that come due together, claimed by passes from `scanned` on. What an idle pass uses is not booked."""
    with opened(START) as bench:
        bench.scan()  # a shard's first pass proves an hour empty, once for ever
        bench.clock.set(BEFORE)
        bench.scan()
        story = Story(bench, count)
        idle = story.used(bench.scan)
        bench.jobs(count, **facts)
        bench.clock.set(scanned)
        while any(not bench.records(job) for job in bench.planted):
            story.ledger.book(
                "claim", story.used(bench.scan) - idle, count
            )  # a pass takes at most forty seconds
        bench.clock.set(max(bench.clock.now(), from_wire(DUE)))
        yield story


def success_full() -> Ledger:
    """Success at the first attempt, in full batches of one team."""
    with _story() as story:
        assert story.deliver() == FULL
        return story.ended("SUCCEEDED")


def success_alone() -> Ledger:
    """The same, each alone in its batch and in a process that knows nothing."""
    with _story() as story:
        assert story.deliver(limit=1) == FULL
        return story.ended("SUCCEEDED")


def success_many_teams() -> Ledger:
    """Success at the first attempt, in full batches of ten teams."""
    with _story(teams=10) as story:
        assert story.deliver() == FULL
        return story.ended("SUCCEEDED")


def retried() -> Ledger:
    """The first attempt fails, the second succeeds, both in full batches."""
    with _story() as story:
        story.bench.stage.targets.script = [REFUSED] * FULL
        assert story.deliver() == FULL
        story.bench.clock.advance(minutes=2)
        assert story.deliver("retry") == FULL
        return story.ended("SUCCEEDED")


def waited() -> Ledger:
    """A team of ten slots, all taken: thirty wait, and each gets the slot of one that ends."""
    with _story(40) as story:
        bench, clock = story.bench, story.bench.clock
        bench.team(max_concurrency=10)
        bench.stage.targets.script = [Accepted()] * 10
        story.batch()
        long = [record for job in bench.planted for record in bench.records(job) if record.fence]
        assert len(long) == 10
        assert story.deliver("join") == 30
        workers = delivering.deliveries(bench.stage).workers
        for record in long:
            workers.complete(TEAM, record.id, record.fence, "", clock.now())
        with story.phase("pump", 30):
            clock.advance(seconds=3)
            while bench.poll(QueueName.PUMP, bench.pumper):
                continue
        for _ in range(30):
            if not story.deliver():
                clock.advance(seconds=1)
        story.ended("SUCCEEDED")
        return story.ledger


def skipped() -> Ledger:
    """Found ten minutes late by the scan, and skipped as the job wants it."""
    misfire = Misfire(policy=MisfirePolicy.SKIP)
    with _story(scanned="2026-03-02T11:10:00.000Z", misfire=misfire) as story:
        assert story.deliver() == 0
        return story.ended("SKIPPED")


def long_work() -> Ledger:
    """The target answers 202 and completes a minute later; the watch finds it done. The API's own reads are included."""
    with _story() as story:
        bench, clock = story.bench, story.bench.clock
        bench.stage.targets.then = Accepted()
        assert story.deliver() == FULL
        clock.advance(minutes=1)
        with story.phase("complete"):
            for job in bench.planted:
                (record,) = bench.records(job)
                workers = delivering.deliveries(bench.stage).workers
                workers.complete(TEAM, record.id, record.fence, "", clock.now())
        clock.advance(minutes=10)
        story.deliver("watch")
        return story.ended("SUCCEEDED")


def no_overlap() -> Ledger:
    """Success at the first attempt of jobs that never overlap with themselves."""
    with _story(overlap=Overlap.SKIP) as story:
        assert story.deliver() == FULL
        return story.ended("SUCCEEDED")


def dead() -> Ledger:
    """One attempt, which fails; through the tier's dead-letter queue, and the team is told."""
    with _story(retry=RetryPolicy(max_attempts=1)) as story:
        bench = story.bench
        bench.stage.targets.then = REFUSED
        assert story.deliver() == FULL
        with story.phase("bury"):
            while bench.poll(dead_queue(Tier.STANDARD), bench.undertaker()):
                continue
        return story.ended("DEAD")


def idle_pass() -> Ledger:
    """A pass over a shard in which nothing is due, asked for by message."""
    with opened(START) as bench:
        story = Story(bench, 1)
        bench.scan()
        bench.clock.advance(minutes=1)
        with story.phase("pass"):
            bench.scan()
        return story.ledger


def tick() -> Ledger:
    """The minute's wake-up of a stage of 64 shards, its messages received and deleted by the mapping."""
    with opened(START, shards=64) as bench:
        while found := bench.mapping.receive(QueueName.SCAN, 10, ZERO):
            bench.mapping.delete(found)
        bench.clock.advance(minutes=1)
        story = Story(bench, 1)
        with story.phase("tick"):
            bench.ticker({}, None)
        bench.clock.advance(seconds=59)  # the last shard's pass begins most of a minute after the first one's
        with story.phase("mapping"):
            while found := bench.mapping.receive(QueueName.SCAN, 1, ZERO):
                bench.mapping.delete(found)
        return story.ledger


def second_net() -> Ledger:
    """The daily second net's look at one job that has fired a month long, once a day."""
    with _looked_after() as (bench, story, job):
        with story.phase("look"):
            assert expected_timer(bench.stage.store, job, bench.clock.now(), bench.limits).found
        return story.ledger


def audited() -> Ledger:
    """The daily audit of such a job."""
    with _looked_after() as (bench, story, job):
        now = bench.clock.now()
        window = Window(since=now - timedelta(hours=25), before=now, now=now, limits=bench.limits)
        with story.phase("audit"):
            for page in pages_of(bench.stage.store, job, window, by_hand_too=False):
                assert not page.findings
        return story.ledger


@contextmanager
def _looked_after() -> Iterator[tuple[Bench, Story, Job]]:
    """A daily job with its last record and twenty-nine before it."""
    begun = from_wire(START) - timedelta(days=40)
    facts: dict[str, Any] = {
        "schedule": parse_schedule(DAILY, now=begun),
        "created_at": begun,
        "updated_at": begun,
    }
    with _story(1, **facts) as story:
        bench = story.bench
        (job,) = bench.planted
        story.deliver(limit=1)
        (record,) = bench.records(job)
        for days in range(1, 30):
            at = record.due - timedelta(days=days)
            identity = ExecutionId.occurrence(job.uid, at)
            older = replace(record, id=identity, due=at, claimed_at=at - MINUTE)
            bench.setup.write(Put(key=keys.execution(identity), item=encode_execution(older)))
        bench.clock.advance(hours=1)
        yield bench, Story(bench, 1), job


PATHS: Mapping[str, Callable[[], Ledger]] = {
    "success, full batches of one team": success_full,
    "success, full batches of ten teams": success_many_teams,
    "success, alone in its batch": success_alone,
    "success at the second attempt": retried,
    "waited for a slot, then success": waited,
    "skipped as a misfire": skipped,
    "long work: 202, then complete": long_work,
    "success, overlap not allowed": no_overlap,
    "dead after one attempt": dead,
}
BACKGROUND: Mapping[str, Callable[[], Ledger]] = {
    "a shard's pass with nothing due": idle_pass,
    "a minute's tick of 64 shards": tick,
    "a month-old daily job in the daily second net": second_net,
    "a month-old daily job in the daily audit": audited,
}
