"""A stage of one shard in memory: jobs planted by hand, scanned on a settable clock, and looked at afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys, messages
from fencepost.application.codec import decode_execution, decode_timer, encode_timer
from fencepost.application.codec_job import encode_ended_generation, encode_job
from fencepost.application.messages import ScanRequest
from fencepost.application.planting import offset_seconds
from fencepost.application.ports import Queues, tier_queue
from fencepost.application.scanning.claimer import Claimer
from fencepost.application.scanning.handover import HandOver
from fencepost.application.scanning.quarantine import Quarantine, SetAside
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.resolve import Resolver
from fencepost.application.scanning.scan import Scan
from fencepost.application.scanning.tick import Tick
from fencepost.application.scanning.watermark import Watermark
from fencepost.application.store import Put, Query, Store, Table, items
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, EndedGeneration, Execution, Job, Misfire, Tier, Timer, TimerKind
from fencepost.domain.schedule import effective_instant, next_occurrence, parse_schedule
from fencepost.domain.states import JobState, Reason
from tests.support.clock import CountingEntropy, SettableClock

DEFAULTS: dict[str, Any] = {"revision": 1, "generation": 1, "state": JobState.ACTIVE, "detail": "0" * 64}


def uid_of(name: str) -> str:
    """A uid that says whose it is."""
    return ("".join(c for c in name if c.isalpha()) + "a" * 20)[:20]


class Shard:
    """One shard's timers, and everything that claims them."""

    def __init__(
        self,
        start: str,
        *,
        store: Store | None = None,
        queues: Queues | None = None,
        clock: SettableClock | None = None,
        **limits: Any,
    ) -> None:
        self.clock = clock or SettableClock(start)
        self.limits = replace(Limits(shards=1), **limits)
        self.memory_queues = MemoryQueues(self.clock)
        self.queues: Queues = queues or self.memory_queues
        self.store: Store = store or MemoryStore(self.clock)
        self.entropy = CountingEntropy()
        self.told: list[SetAside] = []
        self.jobs: dict[str, Job] = {}
        Watermark(store=self.store, limits=self.limits).read(0, self.clock.now())

    def scanner(self, *, store: Store | None = None, queues: Queues | None = None) -> Scan:
        """A scanner over this shard, through ports of its own where they are given."""
        store, queues = store or self.store, queues or self.queues
        common: dict[str, Any] = {"store": store, "clock": self.clock, "limits": self.limits}
        handover = HandOver(queues=queues, **common)
        quarantine = Quarantine(store=store, tell=self.told.append)
        resolver = Resolver(store=store, handover=handover, limits=self.limits)
        claimer = Claimer(
            entropy=self.entropy, handover=handover, resolver=resolver, quarantine=quarantine, **common
        )
        return Scan(
            entropy=self.entropy,
            claimer=claimer,
            handover=handover,
            quarantine=quarantine,
            watermark=Watermark(store=store, limits=self.limits),
            **common,
        )

    def scan(self, at: str | None = None) -> ScanReport:
        """One pass of shard 0."""
        if at is not None:
            self.clock.set(at)
        return self.scanner().run(ScanRequest(0, self.clock.now()))

    def tick(self) -> Tick:
        """The tick of this stage."""
        return Tick(store=self.store, queues=self.queues, limits=self.limits)

    def register(
        self, name: str, schedule: Mapping[str, object], *, misfire: Misfire | None = None, **changes: Any
    ) -> Job:
        """Plants a job and its first timer, as a registration would."""
        now = self.clock.now()
        parsed = parse_schedule(schedule, now=now)
        values = {**DEFAULTS, "created_at": now, "updated_at": now, **changes}
        job = Job(team="payments", name=name, uid=uid_of(name), schedule=parsed, **values)
        job = job if misfire is None else replace(job, misfire=misfire)
        self.put(job)
        self.plant(job, now)
        return job

    def put(self, job: Job) -> None:
        """Writes the job's hot item as it is given."""
        self.jobs[job.name] = job
        self.store.write(Put(key=keys.job(job.uid), item=encode_job(job)))

    def plant(self, job: Job, after: datetime, ordinal: int = 1) -> Timer | None:
        """Plants the job's timer for the first occurrence after `after`."""
        instant = next_occurrence(job.schedule, after)
        if instant is None:
            return None
        due = effective_instant(job.schedule, job.uid, instant)
        timer = Timer(
            bucket=Bucket.at(due, 0),
            kind=TimerKind.FIRE,
            instant=instant,
            uid=job.uid,
            sequence=job.generation,
            due=due,
            team=job.team,
            tier=job.tier,
            ordinal=ordinal,
            offset=offset_seconds(job.schedule, instant),
        )
        self.store.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
        return timer

    def end_generation(self, job: Job, by: Reason, **changes: Any) -> Job:
        """Ends the job's generation now, as an edit, a pause or a delete would, and plants the next one's timer."""
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
        item = encode_ended_generation(ended)
        self.store.write(Put(key=keys.ended_generation(job.uid, job.generation), item=item))
        newer = replace(
            job,
            generation=job.generation + 1,
            revision=job.revision + 1,
            ended_until=now,
            ended_by=by,
            **changes,
        )
        self.put(newer)
        if newer.state is JobState.ACTIVE:
            self.plant(newer, now)
        return newer

    def edit(self, job: Job, schedule: Mapping[str, object], **changes: Any) -> Job:
        """Changes when the job fires, and what else is named."""
        parsed = parse_schedule(schedule, now=self.clock.now())
        return self.end_generation(job, Reason.SUPERSEDED, schedule=parsed, **changes)

    def pause(self, job: Job) -> Job:
        """Pauses the job."""
        return self.end_generation(job, Reason.PAUSED, state=JobState.PAUSED)

    def resume(self, job: Job) -> Job:
        """Resumes the job."""
        return self.end_generation(job, Reason.PAUSED, state=JobState.ACTIVE)

    def delete(self, job: Job) -> Job:
        """Deletes the job; its item stays as a tombstone."""
        return self.end_generation(job, Reason.DELETED, state=JobState.DELETED)

    def timers(self) -> list[Timer]:
        """Every timer of the shard from a day ago to two days ahead, oldest bucket first."""
        minute = self.clock.now().replace(second=0, microsecond=0) - timedelta(days=1)
        found = list[Timer]()
        for n in range(3 * 24 * 60):
            bucket = Bucket(minute + timedelta(minutes=n), 0)
            query = Query(table=Table.TIMERS, pk=keys.bucket_partition(bucket))
            found += [decode_timer(item) for item in items(self.store, query)]
        return found

    def records(self, job: Job) -> list[Execution]:
        """The job's records by instant."""
        query = Query(table=Table.EXECUTIONS, pk=job.uid)
        return [decode_execution(item) for item in items(self.store, query)]

    def record(self, job: Job, instant: str) -> Execution | None:
        """The record of one occurrence."""
        item = self.store.get(keys.execution(ExecutionId.occurrence(job.uid, from_wire(instant))))
        return None if item is None else decode_execution(item)

    def sent(self) -> list[str]:
        """The executions that messages on the tier queues point at."""
        tiers = [tier_queue(tier) for tier in Tier]
        return [
            str(messages.read_wake(message.body))
            for queue in tiers
            for message in self.memory_queues.waiting(queue)
        ]
