"""Planting a wake-up that has no predecessor in its shard (protocol C2), and the marks that watch over it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.store import Absent, Action, Check, Compare, Put, either
from fencepost.domain.identity import hashed
from fencepost.domain.instants import floor_minute, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Execution, Job, Timer, TimerKind
from fencepost.domain.schedule import Schedule, effective_instant, offset_at, tzdata_version

WATERMARK = "m"
"""The attribute of a watermark's item: epoch milliseconds of the last minute that is proven empty."""


@dataclass(frozen=True, slots=True)
class Plant:
    """A timer on its way into the store; `actions` belong into the transaction that makes it necessary."""

    timer: Timer
    actions: tuple[Action, ...]


def shard_of(uid: str, limits: Limits) -> int:
    """The shard in which all timers of a job lie."""
    return hashed(uid, limits.shards)


def fire_timer(job: Job, nominal: datetime, *, ordinal: int, now: datetime, limits: Limits) -> Timer:
    """The timer of the job's occurrence `nominal`; what is past lies in the current minute's bucket."""
    due = effective_instant(job.schedule, job.uid, nominal)
    return Timer(
        bucket=Bucket(max(floor_minute(due), floor_minute(now)), shard_of(job.uid, limits)),
        kind=TimerKind.FIRE,
        instant=nominal,
        uid=job.uid,
        sequence=job.generation,
        due=due,
        team=job.team,
        tier=job.tier,
        ordinal=ordinal,
        tzdata=tzdata_version(),
        offset=offset_seconds(job.schedule, nominal),
    )


def offset_seconds(schedule: Schedule, nominal: datetime) -> int:
    """What a timer keeps of the zone's rules: enough to know, after an update of them, what wall clock it meant."""
    return int(offset_at(schedule, nominal).total_seconds())


def wake_timer(record: Execution, at: datetime, *, now: datetime, limits: Limits) -> Timer:
    """A `retry` timer that wakes `record` at `at`; what is past lies in the current minute's bucket."""
    return _of_execution(record, TimerKind.RETRY, record.attempt, at, now, limits)


def watch_timer(record: Execution, at: datetime, *, now: datetime, limits: Limits) -> Timer:
    """A `watch` timer that judges the lease of the record's current fence at `at`."""
    return _of_execution(record, TimerKind.WATCH, record.fence, at, now, limits)


def _of_execution(
    record: Execution, kind: TimerKind, sequence: int, at: datetime, now: datetime, limits: Limits
) -> Timer:
    return Timer(
        bucket=Bucket(max(floor_minute(at), floor_minute(now)), shard_of(record.id.uid, limits)),
        kind=kind,
        instant=at,
        uid=record.id.uid,
        sequence=sequence,
        due=at,
        team=record.team,
        tier=record.tier,
        execution=record.id,
    )


def plant(timer: Timer, now: datetime, limits: Limits) -> Plant:
    """The put of `timer` and, where it lies near, the check that the proof pass has not gone by."""
    put = Put(key=keys.timer(timer), item=encode_timer(timer))
    check = watermark_check(timer, now, limits)
    return Plant(timer, (put,) if check is None else (put, check))


def watermark_check(timer: Timer, now: datetime, limits: Limits) -> Check | None:
    """The shard is not yet proven empty up to the timer's bucket; None where the bucket lies far enough ahead."""
    if timer.bucket.minute - now > limits.planting_check:
        return None
    behind = either(Absent(), Compare(WATERMARK, "<", to_ms(timer.bucket.minute)))
    return Check(key=keys.watermark(timer.bucket.shard), condition=behind)
