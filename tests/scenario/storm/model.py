"""Delivery under load, timed: a store call takes 5 ms, a target 200 ms, a batch has 10 messages, 60 run at once.

The real use cases run on the simulator's kernel; the queues are plain FIFO, the worst that a standard queue may be to
whoever comes last. Nothing fails here: what is looked at is who waits for whom, and what it costs.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import END, PortCall, seamed
from fencepost.application import keys, messages
from fencepost.application.codec import encode_execution
from fencepost.application.codec_job import encode_detail, encode_job, encode_team
from fencepost.application.ports import Outgoing, QueueName, Received, tier_queue
from fencepost.application.store import Put
from fencepost.domain.delivery import Delivery
from fencepost.domain.identity import ExecutionId, digest
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Detail, Execution, Job, NotifyTargets, Origin, Team, Tier
from fencepost.domain.notification import Notification
from fencepost.domain.outcome import Delivered, Outcome
from fencepost.domain.schedule import parse_schedule
from fencepost.domain.states import ExecutionState, JobState
from fencepost.domain.targets import WebhookTarget
from fencepost.runtime import delivering, scanning
from fencepost.runtime.batches import Again
from fencepost.runtime.settings import Settings
from tests.simulation.kernel import MINUTE, MS, SECOND, Host, Kernel, Task
from tests.simulation.stage import HostClock, TaskEntropy

T = TypeVar("T")
BEGIN = from_wire("2026-03-01T09:00:00Z")
STORE_CALL = 5 * MS
TARGET_CALL = 200 * MS
BATCH = 10
INVOCATIONS = 60


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a target; instants in microseconds since the begin."""

    team: str
    tier: Tier
    execution: str
    due: datetime
    began: int


class Silent:
    """Stands for logger and telemetry."""

    def __getattr__(self, name: str) -> Any:
        return self if name in {"logger", "telemetry"} else lambda *_, **__: None


class StormStage:
    """`runtime.stage.Stage` of one host."""

    def __init__(self, storm: Storm, host: Host) -> None:
        self.observed: Any = Silent()
        self.settings = storm.settings
        self.clock = HostClock(storm.kernel, host, BEGIN)
        self.entropy = TaskEntropy(storm.kernel)
        self.store: Any = seamed(storm.store, "store", storm.around)
        self.quick_store = self.store
        self.queues: Any = seamed(storm, "queues", storm.around)
        self.targets: Any = storm
        self.notifier: Any = storm
        self.advance = delivering.deliveries(self).advance
        self.backlog = delivering.doors(self).backlog


class Storm:
    """A stage in which firings come due in crowds."""

    def __init__(self, *, invocations: int = INVOCATIONS) -> None:
        self.kernel = Kernel("storm", self._broken)
        self.store = MemoryStore(page_size=1000)
        self.called: list[Called] = []
        self.flying: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._invocations = invocations
        self._queues: dict[QueueName, list[tuple[int, int, Received]]] = defaultdict(list)
        self._free: dict[QueueName, list[Host]] = {}
        self._serial = 0
        self._stages: dict[str, StormStage] = {}
        self._tiers: dict[str, Tier] = {}
        self.settings = Settings(stage="storm", limits=Limits(shards=1))

    def team(self, name: str, cap: int) -> None:
        """A team with one job, whose firings are put by hand."""
        self.store.write(Put(key=keys.team(name), item=encode_team(Team(name=name, max_concurrency=cap))))
        detail = Detail(
            digest=digest(name), target=WebhookTarget(url="https://example.com/hook"), payload=b"{}"
        )
        job = Job(
            team=name,
            name="job",
            uid=uid(name),
            revision=1,
            generation=1,
            state=JobState.ACTIVE,
            schedule=parse_schedule({"cron": "0 9 * * *", "timezone": "UTC"}, now=BEGIN),
            detail=detail.digest,
            created_at=BEGIN,
            updated_at=BEGIN,
        )
        self.store.write(Put(key=keys.job(job.uid), item=encode_job(job)))
        self.store.write(Put(key=keys.detail(job.uid, detail.digest), item=encode_detail(detail)))

    def due(
        self, team: str, count: int, *, tier: Tier = Tier.STANDARD, at: float = 1.0, step: float = 0
    ) -> None:
        """`count` claimed firings, whose messages surface when they are due: at `at` seconds, `step` apart."""
        for number in range(count):
            due = BEGIN + timedelta(seconds=at + number * step)
            record = Execution(
                id=ExecutionId.run_now(uid(team), f"{tier}-{at}-{number}"),
                team=team,
                job="job",
                state=ExecutionState.QUEUED,
                origin=Origin.SCHEDULE,
                tier=tier,
                due=due,
                generation=1,
                planted_generation=1,
                claimed_at=BEGIN,
            )
            self._tiers[str(record.id)] = tier
            self.store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))
            self._surface(tier_queue(tier), messages.wake_body(record.id), due - BEGIN)

    def run(self, seconds: float) -> None:
        """Lets `seconds` go by, with a tick at each minute."""
        until = self.kernel.now + int(seconds * SECOND)
        minute = (self.kernel.now // MINUTE + 1) * MINUTE
        while minute <= until:
            self.kernel.run(minute)
            self._tick()
            minute += MINUTE
        self.kernel.run(until)

    def began(self, team: str, tier: Tier | None = None) -> list[Called]:
        """The calls of a team's target, in order."""
        return [call for call in self.called if call.team == team and tier in {None, call.tier}]

    def lateness(self, team: str, tier: Tier) -> list[float]:
        """Seconds from due to call, sorted."""
        found = self.began(team, tier)
        return sorted(call.began / SECOND - (call.due - BEGIN).total_seconds() for call in found)

    def send(self, outgoing: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        for message in outgoing:
            self._surface(message.queue, message.body, timedelta(seconds=message.delay), now=self.kernel.now)
        return [True] * len(outgoing)

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`."""
        self._surface(message.queue, message.body, timedelta(seconds=seconds), now=self.kernel.now)

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """See `Targets.call`."""
        del timeout
        facts = delivery.facts
        tier = self._tiers[str(facts.execution_id)]
        self.called.append(Called(facts.team, tier, str(facts.execution_id), facts.due, self.kernel.now))
        self.flying[facts.team] += 1
        self.most[facts.team] = max(self.most[facts.team], self.flying[facts.team])
        self.kernel.pause(TARGET_CALL)
        self.flying[facts.team] -= 1
        return Delivered(status=200)

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """See `Notifier.notify`."""
        raise AssertionError(f"nothing is to be told: {notification}, {targets}")

    def around(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        if call.port == "targets" or self.kernel.current is None:
            return proceed()
        self.kernel.pause(STORE_CALL)
        result = proceed()
        if result is not END:
            self.calls[f"{call.port}.{call.method}"] += 1
        return result

    def _surface(self, queue: QueueName, body: str, after: timedelta, now: int = 0) -> None:
        if queue is QueueName.SCAN:
            return  # everything was claimed before
        self._serial += 1
        visible = now + after // timedelta(microseconds=1)
        received = Received(queue=queue, body=body, receipt=str(self._serial), receive_count=1)
        heapq.heappush(self._queues[queue], (visible, self._serial, received))
        self.kernel.at(visible, self._poll, queue)

    def _poll(self, queue: QueueName) -> None:
        waiting = self._queues[queue]
        if queue not in self._free:
            self._free[queue] = [Host(f"{queue}-{n}", queue, 0) for n in range(self._invocations)]
        while waiting and waiting[0][0] <= self.kernel.now and self._free[queue]:
            taken = list[Received]()
            while waiting and waiting[0][0] <= self.kernel.now and len(taken) < BATCH:
                taken.append(heapq.heappop(waiting)[2])
            self._invoke(self._free[queue].pop(), taken)

    def _invoke(self, host: Host, taken: Sequence[Received]) -> None:
        stage, left = self._stage(host), [len(taken)]

        def one(message: Received) -> None:
            if host.kind == QueueName.PUMP:
                stage.backlog.pump(messages.read_pump(message.body), stage.clock.now())
            else:
                disposition = stage.advance.run(messages.read_wake(message.body), message)
                verdict = delivering.verdict_of(disposition)
                if isinstance(verdict, Again):
                    self.set_visibility(message, verdict.seconds)
            left[0] -= 1
            if not left[0]:
                self._free[message.queue].append(host)
                self._poll(message.queue)

        def begin() -> None:
            if host.kind != QueueName.PUMP:
                delivering.expect(stage.advance, taken)
            for message in taken:
                self.kernel.spawn(f"{host.name}/{message.receipt}", host, partial(one, message))

        self.kernel.spawn(f"{host.name}/{taken[0].receipt}/batch", host, begin)

    def _tick(self) -> None:
        host = Host("tick", "tick", 0)
        stage = self._stage(host)

        def tick() -> None:
            scanning.tick(stage).run(stage.clock.now())

        self.kernel.spawn("tick", host, tick)

    def _stage(self, host: Host) -> StormStage:
        if host.name not in self._stages:
            self._stages[host.name] = StormStage(self, host)
        return self._stages[host.name]

    def _broken(self, task: Task, error: Exception) -> None:
        raise AssertionError(f"{task.name} let out {error!r}") from error


def uid(team: str) -> str:
    """The uid of a team's job."""
    return (team.replace("-", "") * 20)[:20]
