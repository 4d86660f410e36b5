"""The second net (protocol C2): a daily pass that finds what no wake-up points at. Its finds should be zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError, UndecodableError, decode_execution
from fencepost.application.codec_job import decode_job
from fencepost.application.planting import fire_timer, plant, wake_timer
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.scan import Scan
from fencepost.application.scanning.succession import expected_timer
from fencepost.application.store import (
    Action,
    Check,
    Committed,
    Item,
    Put,
    Query,
    Share,
    Store,
    StoreError,
    Table,
    equals,
    every,
)
from fencepost.domain.instants import MINUTE, floor_minute
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Execution, Job
from fencepost.domain.schedule import CronSchedule
from fencepost.domain.states import ExecutionState, JobState

Refresh = Callable[[Job], bool]
"""Plants a job's timer anew where the loaded time-zone rules move it; whether they did. It may raise StoreError."""
LOOK_BACK = timedelta(hours=48)
OVERDUE = timedelta(hours=1)


@dataclass(slots=True)
class SweepReport:
    """Counts of true finds, each mended. `unreadable` items (by key) and `quarantined` timers are for a human.

    `moved_jobs`: time-zone rules moved them; that is no find, but what an update of the rules is for. `newer`: what was
    left to the later version that wrote it.
    """

    stray_buckets: int = 0
    timerless_jobs: int = 0
    forgotten_executions: int = 0
    unmarked_lanes: int = 0
    quarantined: int = 0
    moved_jobs: int = 0
    jobs_seen: int = 0
    executions_seen: int = 0
    newer: int = 0
    unreadable: list[str] = field(default_factory=list)

    @property
    def finds(self) -> int:
        """What must be zero."""
        return self.stray_buckets + self.timerless_jobs + self.forgotten_executions + self.unmarked_lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Reads everything once, in shares that may run side by side; mends only what it has seen twice.

    `overdue` is how far past its instant an unfinished execution has to be before anybody wonders. Zero: whenever it is due,
    as after a restore, whose queues hold no message of it.
    """

    store: Store
    scan: Scan
    limits: Limits
    refresh: Refresh | None = None
    overdue: timedelta = OVERDUE

    def run(self, now: datetime, number: int = 0, of: int = 1) -> SweepReport:
        """Share `number` of `of`: its shards' past buckets, its jobs, its executions. The tables are read at half
        price, as they were a moment ago: whatever is mended is conditioned on what the record says then.
        """
        report = SweepReport()
        for shard in range(number, self.limits.shards, of):
            self._buckets(shard, now, report)
            aside = Query(table=Table.TIMERS, pk=keys.quarantine_partition(shard))
            report.quarantined += sum(len(page) for page in self.store.pages(aside))
        self.mend(now, number, of, report)
        return report

    def mend(
        self,
        now: datetime,
        number: int,
        of: int,
        report: SweepReport,
        in_time: Callable[[], bool] = lambda: True,
    ) -> None:
        """The jobs and the executions of a share, while it is `in_time`."""
        for job in self._jobs(Share(table=Table.JOBS, number=number, of=of, strong=False), report):
            if not in_time():
                return
            self._job(job, now, report)
        for record in self._executions(
            Share(table=Table.EXECUTIONS, number=number, of=of, strong=False), report
        ):
            if not in_time():
                return
            self._execution(record, now, report)

    def _buckets(self, shard: int, now: datetime, report: SweepReport) -> None:
        """Timers in minutes that were proven empty: claimed as if the scan had met them."""
        proven = self.scan.watermark.read(shard, now)
        minute = floor_minute(now - LOOK_BACK)
        while minute < proven:
            bucket = Bucket(minute, shard)
            query = Query(table=Table.TIMERS, pk=keys.bucket_partition(bucket), limit=1)
            if any(page for page in self.store.pages(query)):
                report.stray_buckets += 1
                self.scan.bucket(bucket, None, ScanReport())
            minute += MINUTE

    def _jobs(self, share: Share, report: SweepReport) -> Iterator[Job]:
        for item in self._items(share):
            if item["sk"] != "J" or item.get("state") != JobState.ACTIVE or item.get("exhausted"):
                continue
            try:
                yield decode_job(item)
                report.jobs_seen += 1
            except NewerShapeError:
                report.newer += 1
            except UndecodableError:
                report.unreadable.append(f"{item['pk']}/{item['sk']}")

    def _executions(self, share: Share, report: SweepReport) -> Iterator[Execution]:
        unfinished = {state.value for state in _UNFINISHED}
        for item in self._items(share):
            if item.get("state") not in unfinished or str(item["pk"]).startswith("D#"):
                continue
            try:
                yield decode_execution(item)
                report.executions_seen += 1
            except NewerShapeError:
                report.newer += 1
            except UndecodableError:
                report.unreadable.append(f"{item['pk']}/{item['sk']}")

    def _items(self, share: Share) -> Iterator[Item]:
        for page in self.store.scan(share):
            yield from page

    def _job(self, job: Job, now: datetime, report: SweepReport) -> None:
        """An active job without a live timer gets one. A claim may be under way, so it is looked at twice."""
        try:
            if expected_timer(self.store, job, now, self.limits).found or self._moved(job, report):
                return
            again = self.store.get(keys.job(job.uid))
            fresh = None if again is None else decode_job(again)
            if fresh is None or fresh.generation != job.generation or fresh.exhausted:
                return
            now = self._now(now)
            expected = expected_timer(self.store, fresh, now, self.limits)
            if expected.found or expected.instant is None or fresh.state is not JobState.ACTIVE:
                return
            timer = fire_timer(fresh, expected.instant, ordinal=expected.ordinal, now=now, limits=self.limits)
            same = Check(key=keys.job(fresh.uid), condition=equals("gen", fresh.generation))
            self._plant([*plant(timer, now, self.limits).actions, same])
            report.timerless_jobs += 1
        except NewerShapeError:
            report.newer += 1
        except UndecodableError:
            report.unreadable.append(f"J#{job.uid}")

    def _moved(self, job: Job, report: SweepReport) -> bool:
        """Whether the timer lies elsewhere because other time-zone rules planted it. Where that can't be told now,
        nothing is planted: a second timer would be a second firing.
        """
        if self.refresh is None or not isinstance(job.schedule, CronSchedule):
            return False
        try:
            moved = self.refresh(job)
        except StoreError:
            return True
        report.moved_jobs += moved
        return moved

    def _execution(self, record: Execution, now: datetime, report: SweepReport) -> None:
        """An unfinished execution long past its instant gets a wake-up; whoever receives it trusts the record."""
        now = self._now(now)
        if self.overdue and _since(record, now) <= self.overdue:
            return
        if record.state is ExecutionState.WAITING and record.lane is not None:
            self._mark(record, record.lane, report)
            return
        timer = wake_timer(record, now, now=now, limits=self.limits)
        unmoved = every(equals("state", record.state.value), equals("fence", record.fence))
        check = Check(key=keys.execution(record.id), condition=unmoved)
        if self._plant([*plant(timer, now, self.limits).actions, check]):
            report.forgotten_executions += 1

    def _now(self, began: datetime) -> datetime:
        """A share may take longer than the watermark stays behind: what is planted as of its beginning would be lost."""
        return max(began, self.scan.clock.now())

    def _mark(self, record: Execution, lane: str, report: SweepReport) -> None:
        """A long wait under a marked lane is the team's cap at work; without a mark nobody would pump it."""
        key = keys.mark(record.team, lane)
        if self.store.get(key) is None:
            self.store.write(Put(key=key, item={"v": 1}))
            report.unmarked_lanes += 1

    def _plant(self, actions: list[Action]) -> bool:
        try:
            return isinstance(self.store.transact(actions), Committed)
        except StoreError:
            return False


_UNFINISHED = (
    ExecutionState.QUEUED,
    ExecutionState.WAITING,
    ExecutionState.RUNNING,
    ExecutionState.RETRY_WAIT,
)


def _since(record: Execution, now: datetime) -> timedelta:
    """How long ago somebody should have acted on the record."""
    if record.state is ExecutionState.RUNNING and record.lease_until is not None:
        return now - record.lease_until
    return now - record.wake_at
