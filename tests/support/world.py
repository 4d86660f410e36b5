"""Delivery in memory on a settable clock: firings queued by hand, scripted targets, pollers that act as Lambda's do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import Around, seamed
from fencepost.application import keys, messages
from fencepost.application.admission import Admission, Context, admission
from fencepost.application.codec import decode_execution, decode_timer, encode_execution
from fencepost.application.codec_job import encode_detail, encode_ended_generation, encode_job, encode_team
from fencepost.application.delivery.dead_letters import DeadLetter, decode_dead_letter
from fencepost.application.delivery.reads import Reads
from fencepost.application.delivery.results import Acknowledge, Alone, Disposition, PutBack
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.wiring import Delivery, delivery
from fencepost.application.ports import Outgoing, QueueName, Received, dead_queue, tier_queue
from fencepost.application.store import Delete, Put, Query, Table, items
from fencepost.application.switches.codec import StageSwitches, encode_stage
from fencepost.domain import delivery as wire
from fencepost.domain.identity import ExecutionId, digest
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import (
    Detail,
    EndedGeneration,
    Execution,
    Job,
    NotifyTargets,
    Origin,
    Team,
    Tier,
    Timer,
)
from fencepost.domain.notification import Notification
from fencepost.domain.outcome import Delivered, Failed, Outcome
from fencepost.domain.schedule import parse_schedule
from fencepost.domain.states import ExecutionState, JobState, Reason
from fencepost.domain.targets import WebhookTarget
from tests.support.clock import CountingEntropy, SettableClock

NINE = {"cron": "0 9 * * *", "timezone": "UTC"}
START = "2026-03-01T09:00:00Z"
OK = Delivered(status=200)
BROKEN = Failed(status=500, error="answered 500")
TIERS = tuple(tier_queue(tier) for tier in Tier)
GRAVES = tuple(dead_queue(tier) for tier in Tier)
HORIZON = timedelta(minutes=3)

Answer = Outcome | Callable[[wire.Delivery], Outcome] | BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a target was called with."""

    at: datetime
    execution: str
    attempt: int
    fence: int
    body: bytes
    url: str
    timeout: timedelta


@dataclass
class ScriptedTargets:
    """Answers by the script, then with `then`. A raised exception is a worker that dies in the call."""

    clock: SettableClock
    script: list[Answer] = field(default_factory=list)
    then: Answer = OK
    takes: timedelta = timedelta(milliseconds=120)
    calls: list[Call] = field(default_factory=list)

    def call(self, delivery: wire.Delivery, *, timeout: timedelta) -> Outcome:
        """See `Targets`."""
        facts, target = delivery.facts, delivery.target
        assert isinstance(target, WebhookTarget)
        self.calls.append(
            Call(
                at=self.clock.now(),
                execution=facts.execution_id,
                attempt=facts.attempt,
                fence=facts.fence,
                body=facts.body,
                url=target.url,
                timeout=timeout,
            )
        )
        self.clock.sleep(self.takes)
        answer = self.script.pop(0) if self.script else self.then
        if isinstance(answer, BaseException):
            raise answer
        return answer(delivery) if callable(answer) else answer


@dataclass
class ToldTeams:
    """Remembers what was told; refuses while `deaf`."""

    told: list[Notification] = field(default_factory=list)
    deaf: bool = False

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """See `Notifier`."""
        if not self.deaf:
            self.told.append(notification)
        return not self.deaf


class World:
    """One team, `payments`, unless a test adds more."""

    def __init__(
        self, start: str = START, *, fraction: float = 0.5, clock: SettableClock | None = None, **limits: Any
    ) -> None:
        self.clock = clock or SettableClock(start)
        self.limits = replace(Limits(shards=1), **limits)
        self.memory = MemoryStore(self.clock)
        self.mail = MemoryQueues(self.clock)
        self.entropy = CountingEntropy(fraction)
        self.targets = ScriptedTargets(self.clock)
        self.notifier = ToldTeams()
        self.dispositions: list[Disposition] = []
        self.rewire()
        self.memory.write(Put(key=keys.stage(), item=encode_stage(StageSwitches())))
        self.team()

    def rewire(self, *arounds: Around) -> None:
        """A new process: nothing is remembered. `arounds` are put around its ports."""
        self.store = seamed(self.memory, "store", *arounds)
        self.queues = seamed(self.mail, "queues", *arounds)
        targets = seamed(self.targets, "targets", *arounds)
        notifier = seamed(self.notifier, "notifier", *arounds)
        self.tools = Tools(
            store=self.store,
            queues=self.queues,
            clock=self.clock,
            entropy=self.entropy,
            reads=Reads(self.store),
            limits=self.limits,
        )
        context = Context(
            store=self.store,
            queues=self.queues,
            clock=self.clock,
            entropy=self.entropy,
            limits=self.limits,
        )
        self.doors: Admission = admission(context)
        self.parts: Delivery = delivery(self.tools, self.doors, targets, notifier)

    def team(self, name: str = "payments", **facts: Any) -> Team:
        """Puts a team."""
        team = Team(name=name, **facts)
        self.memory.write(Put(key=keys.team(name), item=encode_team(team)))
        return team

    def job(self, name: str = "report", *, payload: bytes = b'{"a":1}', url: str = "", **facts: Any) -> Job:
        """Puts a job with a webhook and its detail."""
        now = self.clock.now()
        target = WebhookTarget(url=url or f"https://{name}.example.com/hook")
        uid = ("".join(c for c in name if c.isalpha()) + "a" * 20)[:20]
        detail = Detail(digest=digest(payload + target.url.encode()), target=target, payload=payload)
        values: dict[str, Any] = {
            "team": "payments",
            "revision": 1,
            "generation": 1,
            "state": JobState.ACTIVE,
            "schedule": parse_schedule(NINE, now=now),
            "created_at": now,
            "updated_at": now,
        }
        job = Job(name=name, uid=uid, detail=detail.digest, **{**values, **facts})
        self.memory.write(Put(key=keys.detail(uid, detail.digest), item=encode_detail(detail)))
        return self.put(job)

    def put(self, job: Job) -> Job:
        """Writes the job's hot item as it is given."""
        self.memory.write(Put(key=keys.job(job.uid), item=encode_job(job)))
        return job

    def change(self, job: Job, by: Reason, state: JobState = JobState.ACTIVE, **facts: Any) -> Job:
        """Ends the job's generation now, as an edit, a pause, a resume or a delete does."""
        now = self.clock.now()
        ended = EndedGeneration(
            uid=job.uid,
            generation=job.generation,
            until=now,
            ended_by=by,
            schedule=job.schedule,
            misfire=job.misfire,
            overlap=job.overlap,
            tier=job.tier,
        )
        key = keys.ended_generation(job.uid, job.generation)
        self.memory.write(Put(key=key, item=encode_ended_generation(ended)))
        newer = replace(
            job, generation=job.generation + 1, state=state, ended_until=now, ended_by=by, **facts
        )
        return self.put(newer)

    def queue(self, job: Job, due: datetime | str | None = None, **facts: Any) -> Execution:
        """A claimed firing, its message on its way, as a scan leaves it."""
        now = self.clock.now()
        instant = now if due is None else due if isinstance(due, datetime) else from_wire(due)
        values: dict[str, Any] = {
            "state": ExecutionState.QUEUED,
            "origin": Origin.SCHEDULE,
            "tier": job.tier,
            "due": instant,
            "generation": job.generation,
            "planted_generation": job.generation,
            "claimed_at": now,
            "overlap": job.overlap,
            "team": job.team,
            "job": job.name,
        }
        record = self.store_record(
            Execution(id=ExecutionId.occurrence(job.uid, instant), **{**values, **facts})
        )
        self.mail.send([messages.wake(record, at=record.wake_at, now=now, limits=self.limits)])
        return record

    def store_record(self, record: Execution) -> Execution:
        """Writes a record as it is given."""
        self.memory.write(Put(key=keys.execution(record.id), item=encode_execution(record)))
        return record

    def record(self, of: Execution | ExecutionId) -> Execution:
        """The record as it is stored; it has to be there."""
        item = self.memory.get(keys.execution(of.id if isinstance(of, Execution) else of))
        assert item is not None
        return decode_execution(item)

    def records(self) -> list[Execution]:
        """Every record there is."""
        found = [item for item in self.memory.everything(Table.EXECUTIONS) if "state" in item]
        return [decode_execution(item) for item in found]

    def poll(self, queues: Sequence[QueueName] = TIERS, limit: int = 10) -> int:
        """One receive of each queue, each message handled as a handler does; how many there were."""
        found = [message for queue in queues for message in self.mail.receive(queue, limit, timedelta(0))]
        for message in found:
            self.handle(message)
        return len(found)

    def handle(self, message: Received) -> Disposition:
        """Runs the use case of the message's queue and does what it says."""
        if message.queue in {QueueName.SCAN, QueueName.PUMP}:
            self.doors.backlog.pump(messages.read_pump(message.body), self.clock.now())
            self.mail.delete([message])
            return Acknowledge(why="pumped")
        identity = messages.read_wake(message.body)
        if message.queue in GRAVES:
            receives = message.receive_count
            disposition = self.parts.dead_letters.handle(identity, self.clock.now(), receives)
        else:
            disposition = self.parts.advance.run(identity, message)
            if isinstance(disposition, Alone):
                disposition = self.parts.advance.run(identity, message, alone=True)
        self.dispositions.append(disposition)
        if isinstance(disposition, PutBack):
            self.mail.set_visibility(message, disposition.seconds)
        else:
            self.mail.delete([message])
        return disposition

    def scan(self) -> None:
        """Hands retry and watch timers inside the horizon over, as the scan does."""
        now = self.clock.now()
        for timer in self.timers():
            if timer.instant - now <= HORIZON and timer.execution is not None:
                delay = messages.delay_seconds(timer.instant - now, self.limits)
                body = messages.wake_body(timer.execution)
                self.mail.send([Outgoing(queue=tier_queue(timer.tier), body=body, delay=delay)])
                self.memory.write(Delete(key=keys.timer(timer)))

    def run(self, *, until: datetime | str | None = None, graves: bool = True, steps: int = 500) -> None:
        """Lets everything happen that is on its way, minute by minute, until `until` or until nothing is left."""
        end = from_wire(until) if isinstance(until, str) else until
        queues = (*TIERS, QueueName.PUMP, *(GRAVES if graves else ()))
        for _ in range(steps):
            self.scan()
            if self.poll(queues):
                continue
            moment = self._next(queues)
            if moment is None or (end is not None and moment > end):
                break
            self.clock.set(max(moment, self.clock.now()))
        else:
            raise AssertionError("it never comes to rest")
        if end is not None and end > self.clock.now():
            self.clock.set(end)

    def _next(self, queues: Sequence[QueueName]) -> datetime | None:
        moments = [each.visible_at for queue in queues for each in self.mail.waiting(queue)]
        moments += [timer.instant - HORIZON for timer in self.timers()]
        return min(moments, default=None)

    def timers(self) -> list[Timer]:
        """All timers that are planted."""
        return [decode_timer(item) for item in self.memory.everything(Table.TIMERS)]

    def slots(self, team: str = "payments") -> list[dict[str, Any]]:
        """The slots that are held or reserved."""
        found = self.memory.everything(Table.CONTROL)
        return [dict(item) for item in found if str(item["pk"]).startswith(f"S#{team}#")]

    def lock_holder(self, uid: str) -> str | None:
        """Which execution holds the job's overlap lock."""
        item = self.memory.get(keys.overlap_lock(uid))
        return None if item is None else item.get("x")

    def at_rest(self) -> bool:
        """No message, no timer, and no record that is not final."""
        unfinished = any(not record.final for record in self.records())
        return not unfinished and not self.timers() and self.mail.next_visible() is None

    def dead_letters(self, team: str = "payments") -> list[DeadLetter]:
        """The team's dead letters, the oldest first."""
        query = Query(table=Table.EXECUTIONS, pk=f"D#{team}")
        return [decode_dead_letter(item) for item in items(self.memory, query)]
