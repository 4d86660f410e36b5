"""Where a job's one live timer should lie, worked out from its newest record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_execution, decode_timer
from fencepost.application.planting import WATERMARK, fire_timer, shard_of
from fencepost.application.store import Item, Query, Store, Table, items
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.instants import EPOCH, MINUTE, floor_minute, from_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Execution, Job, Timer, TimerKind
from fencepost.domain.schedule import next_occurrence

NEWEST = 50
"""How many of a job's newest records are looked through for one of its present generation."""
FEW = 3
"""How many of them are looked at first: together within one read unit."""
BUCKETS = 15 * 60
"""How many minutes of buckets are looked through for a timer that lies later than its instant."""
NEAR = 60 * MINUTE
"""How far behind now such a timer is looked for besides: the scan works upwards, so a chain's next link is near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The occurrence whose timer should exist (None: the schedule is over), and whether it was found."""

    instant: datetime | None
    ordinal: int
    found: bool


def expected_timer(store: Store, job: Job, now: datetime, limits: Limits) -> Expected:
    """The timer of `job`'s present generation. Raises UndecodableError for records that cannot be read.

    Where none of that generation is on record, its records may have gone with their age: what was claimed of late has
    one, so the timer is then the first one after what nobody may have forgotten yet.
    """
    instant, ordinal = expected_occurrence(store, job)
    expected = _looked_for(store, job, instant, ordinal, now, limits)
    remembered = now - limits.record_min_life
    if expected.found or instant is None or instant >= remembered:
        return expected
    if newest_of_generation(store, job) is not None:
        return expected
    if _scanned_until(store, job, limits) < remembered:  # it may lie in any minute that was not looked at yet
        return Expected(instant=instant, ordinal=ordinal, found=True)
    return _looked_for(store, job, next_occurrence(job.schedule, remembered), ordinal, now, limits)


def _looked_for(
    store: Store, job: Job, instant: datetime | None, ordinal: int, now: datetime, limits: Limits
) -> Expected:
    if instant is None:
        return Expected(instant=None, ordinal=ordinal, found=True)
    timer = fire_timer(job, instant, ordinal=ordinal, now=min(now, instant), limits=limits)
    return Expected(instant=instant, ordinal=ordinal, found=lies(store, timer, now, limits))


def _scanned_until(store: Store, job: Job, limits: Limits) -> datetime:
    """The last minute in which no timer of the job's shard can lie."""
    item = store.get(keys.watermark(shard_of(job.uid, limits)))
    return EPOCH if item is None else from_ms(item[WATERMARK])


def expected_occurrence(store: Store, job: Job) -> tuple[datetime | None, int]:
    """What follows the newest record of `job`'s present generation, and which firing it is; None: nothing does.

    Raises UndecodableError.
    """
    last = newest_of_generation(store, job)
    if last is None:
        after, ordinal = job.ended_until or job.created_at, 1
    else:
        after = last.until or last.id.nominal or last.due
        ordinal = last.next_ordinal
    instant = next_occurrence(job.schedule, after)
    if last is None and job.begins_with is not None:
        instant = job.begins_with
    most = job.schedule.max_firings
    over = most is not None and ordinal > most
    return (None if over else instant), ordinal


def newest_of_generation(store: Store, job: Job) -> Execution | None:
    """The newest record whose successor was planted by the job's present generation: nearly always the very newest, so
    that few are read until it is not among them.
    """
    for few in (FEW, NEWEST):
        query = Query(
            table=Table.EXECUTIONS,
            pk=job.uid,
            first=keys.execution_sk(ExecutionKind.OCCURRENCE, ""),
            last=keys.execution_sk(ExecutionKind.OCCURRENCE, "~"),
            forward=False,
            limit=few,
        )
        looked_at = 0
        for item in items(store, query):
            record = decode_execution(item)
            if record.planted_generation == job.generation:
                return record
            looked_at += 1
        if looked_at < few:
            return None
    return None


def lies(store: Store, timer: Timer, now: datetime, limits: Limits) -> bool:
    """Whether a `fire` timer of the job's generation is there: at its own key, or in a later bucket where a
    predecessor's or a limited release put it (protocol C1, C4). Those near now are where a chain that catches up lies,
    however old its occurrences are.
    """
    if store.get(keys.timer(timer)) is not None:
        return True
    first, end = floor_minute(timer.due), floor_minute(now + limits.timer_instead)
    near = max(first, floor_minute(now - NEAR))
    looked = min(near, first + BUCKETS * MINUTE)
    return any(
        _in_bucket(store, Bucket(minute, timer.bucket.shard), timer)
        for minute in (*_minutes(near, end + MINUTE), *_minutes(first, looked))
    )


def _minutes(first: datetime, end: datetime) -> list[datetime]:
    return [first + n * MINUTE for n in range(max(0, (end - first) // MINUTE))]


def _in_bucket(store: Store, bucket: Bucket, timer: Timer) -> bool:
    query = Query(table=Table.TIMERS, pk=keys.bucket_partition(bucket))
    return any(_same(item, timer) for item in items(store, query))


def _same(item: Item, timer: Timer) -> bool:
    try:
        found = decode_timer(item)
    except UndecodableError:
        return False
    return found.kind is TimerKind.FIRE and found.uid == timer.uid and found.generation == timer.generation
