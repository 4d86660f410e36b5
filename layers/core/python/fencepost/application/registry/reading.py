"""Finding teams and jobs by name or uid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.codec_job import decode_detail, decode_ended_generation, decode_job, decode_team
from fencepost.application.registry.job_changes import Current
from fencepost.application.store import Query, Store, Table
from fencepost.domain.identity import NAME_PATTERN, ExecutionKind
from fencepost.domain.model import Detail, Execution, Job, Team
from fencepost.domain.schedule import Schedule
from fencepost.domain.states import JobState


def find_team(store: Store, name: str) -> Team | None:
    """The team; None where there is none, or it is being deleted."""
    team = known_team(store, name)
    return None if team is None or team.leaving_since is not None else team


def known_team(store: Store, name: str) -> Team | None:
    """The team of that name, one that is being deleted, or what is left of the last one."""
    if not NAME_PATTERN.fullmatch(name):
        return None
    item = store.get(keys.team(name))
    return None if item is None else decode_team(item)


def find_uid(store: Store, team: str, name: str) -> str | None:
    """Who holds the name now."""
    if not NAME_PATTERN.fullmatch(name):
        return None
    claim = store.get(keys.name_claim(team, name))
    return None if claim is None else str(claim["uid"])


def find_job(store: Store, team: str, name: str) -> Job | None:
    """The job that holds the name; None where it is free."""
    uid = find_uid(store, team, name)
    job = None if uid is None else job_by_uid(store, uid)
    return None if job is None or job.state is JobState.DELETED else job


def job_by_uid(store: Store, uid: str) -> Job | None:
    """The job or its tombstone."""
    item = store.get(keys.job(uid))
    return None if item is None else decode_job(item)


def find_current(store: Store, team: str, name: str) -> Current | None:
    """The job that holds the name, with its detail."""
    job = find_job(store, team, name)
    return None if job is None else Current(job=job, detail=detail_by_digest(store, job.uid, job.detail))


def detail_by_digest(store: Store, uid: str, digest: str) -> Detail:
    """A detail. Raises LookupError where it is missing: it was written with the job and is never deleted before it."""
    item = store.get(keys.detail(uid, digest))
    if item is None:
        raise LookupError(f"job {uid} has no detail {digest}")
    return decode_detail(item)


def jobs_by_uid(store: Store, uids: Sequence[str]) -> Mapping[str, Job]:
    """Those of the jobs that were read."""
    found = store.batch_get([keys.job(uid) for uid in uids])
    jobs = (decode_job(item) for item in found.values())
    return {job.uid: job for job in jobs}


def newest_occurrence(store: Store, uid: str) -> Execution | None:
    """The record of the job's latest nominal instant that has one of its own."""
    prefix = f"{ExecutionKind.OCCURRENCE}#"
    query = Query(table=Table.EXECUTIONS, pk=uid, first=prefix, last=prefix + "~", forward=False, limit=1)
    for page in store.pages(query):
        for item in page:
            return decode_execution(item)
    return None


def schedule_of(store: Store, job: Job, generation: int) -> Schedule | None:
    """The schedule by which a generation of the job fired; None where its end is not on record."""
    if generation == job.generation:
        return job.schedule
    item = store.get(keys.ended_generation(job.uid, generation))
    return None if item is None else decode_ended_generation(item).schedule
