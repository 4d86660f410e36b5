"""What an older version of the time-zone database left behind, written down by hand.

British Columbia stopped changing its clocks in 2026: by the old rules 09:00 on 5 November was 17:00 UTC, by the ones that
are loaded it is 16:00 UTC.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys
from fencepost.application.codec import decode_timer, encode_execution, encode_timer
from fencepost.application.registry.reading import find_job
from fencepost.application.store import Delete, Put, Table
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Bucket, Execution, Job, Origin, Timer
from fencepost.domain.states import ExecutionState

VANCOUVER = {"cron": "0 9 * * *", "timezone": "America/Vancouver"}
OLD_OFFSET = -8 * 3600
OLD_RULES = "2025b"


def job_named(store: MemoryStore, name: str) -> Job:
    """The job of team `payments`; it has to be there."""
    job = find_job(store, "payments", name)
    assert job is not None, f"no job {name}"
    return job


def timers_of(store: MemoryStore, job: Job) -> list[Timer]:
    """The job's timers by instant."""
    found = [decode_timer(item) for item in store.everything(Table.TIMERS)]
    return sorted((timer for timer in found if timer.uid == job.uid), key=lambda timer: timer.instant)


def planted_by_old_rules(store: MemoryStore, name: str, instant: str) -> None:
    """The job's one timer lies where the old rules put it."""
    [timer] = timers_of(store, job_named(store, name))
    at = from_wire(instant)
    bucket = Bucket.at(at, timer.bucket.shard)
    old = replace(timer, instant=at, due=at, bucket=bucket, offset=OLD_OFFSET, tzdata=OLD_RULES)
    store.write(Delete(key=keys.timer(timer)))
    store.write(Put(key=keys.timer(old), item=encode_timer(old)))


def claimed_by_old_rules(store: MemoryStore, name: str, instant: str) -> None:
    """The last occurrence was claimed under the old rules, and is over."""
    job, at = job_named(store, name), from_wire(instant)
    record = Execution(
        id=ExecutionId.occurrence(job.uid, at),
        team=job.team,
        job=job.name,
        state=ExecutionState.SUCCEEDED,
        origin=Origin.SCHEDULE,
        tier=job.tier,
        due=at,
        generation=job.generation,
        planted_generation=job.generation,
        claimed_at=at - timedelta(minutes=2),
        offset=OLD_OFFSET,
        tzdata=OLD_RULES,
    )
    store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))
