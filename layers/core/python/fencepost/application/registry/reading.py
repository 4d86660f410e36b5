"""Finding teams and jobs by name or uid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError, UndecodableError, decode_execution
from fencepost.application.codec_job import decode_detail, decode_ended_generation, decode_job, decode_team
from fencepost.application.registry.job_changes import Current
from fencepost.application.registry.unreadable import UnreadableJobError
from fencepost.application.registry.unreadable_teams import UnreadableTeamError
from fencepost.application.store import Item, Query, Store, Table
from fencepost.domain.identity import NAME_PATTERN, UID_PATTERN, ExecutionKind
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Detail, Execution, Job, Team
from fencepost.domain.schedule import Schedule
from fencepost.domain.states import JobState

NEWEST = 8
"""More than ended generations leave behind: one record each, and only of the last minutes."""


def find_team(store: Store, name: str) -> Team | None:
    """The team; None where there is none, or it is being deleted. Raises UnreadableTeamError."""
    team = known_team(store, name)
    return None if team is None or team.leaving_since is not None else team


def known_team(store: Store, name: str) -> Team | None:
    """The team of that name, one that is being deleted, or what is left of the last one. Raises UnreadableTeamError."""
    if not NAME_PATTERN.fullmatch(name):
        return None
    item = store.get(keys.team(name))
    if item is None:
        return None
    try:
        return decode_team(item)
    except NewerShapeError:
        raise
    except UndecodableError as error:
        raise UnreadableTeamError(name, str(error), item) from error


def find_uid(store: Store, team: str, name: str) -> str | None:
    """Who holds the name now. Raises UndecodableError."""
    if not NAME_PATTERN.fullmatch(name):
        return None
    claim = store.get(keys.name_claim(team, name))
    return None if claim is None else _uid_of(claim)


def _uid_of(claim: Item) -> str:
    uid = claim.get("uid")
    if not isinstance(uid, str) or not UID_PATTERN.fullmatch(uid):
        raise UndecodableError(f"name {claim['pk']}/{claim['sk']}: it does not say which job has it")
    return uid


def find_job(store: Store, team: str, name: str) -> Job | None:
    """The job that holds the name; None where it is free. Raises UnreadableJobError."""
    uid = find_uid(store, team, name)
    item = None if uid is None else store.get(keys.job(uid))
    if uid is None or item is None:
        return None
    try:
        job = decode_job(item)
    except NewerShapeError:
        raise
    except UndecodableError as error:
        raise UnreadableJobError(team, name, uid, str(error), item) from error
    return None if job.state is JobState.DELETED else job


def job_by_uid(store: Store, uid: str) -> Job | None:
    """The job or its tombstone."""
    item = store.get(keys.job(uid))
    return None if item is None else decode_job(item)


def find_current(store: Store, team: str, name: str) -> Current | None:
    """The job that holds the name, with its detail. Raises UnreadableJobError."""
    job = find_job(store, team, name)
    return None if job is None else Current(job=job, detail=detail_of(store, job))


def detail_of(store: Store, job: Job) -> Detail:
    """The job's detail, which was written with it and is never deleted before it. Raises UnreadableJobError."""
    item = store.get(keys.detail(job.uid, job.detail))
    why = f"there is no detail {job.detail}"
    try:
        if item is not None:
            return decode_detail(item)
    except NewerShapeError:
        raise
    except UndecodableError as error:
        why = str(error)
    raise UnreadableJobError(job.team, job.name, job.uid, why, job)


@dataclass(frozen=True, slots=True)
class NamedJobs:
    """The jobs of some names, as far as they were read: by name, in the order of the names."""

    readable: Mapping[str, Job]
    unreadable: Mapping[str, UnreadableJobError]


def named_jobs(store: Store, team: str, claims: Sequence[Item]) -> NamedJobs:
    """The jobs that hold these names. One that cannot be read hides no other; raises NewerShapeError."""
    readable, unreadable = dict[str, Job](), dict[str, UnreadableJobError]()
    uids = {str(claim["sk"]): str(claim.get("uid")) for claim in claims}
    found = store.batch_get([keys.job(uid) for uid in dict.fromkeys(uids.values())])
    for claim in claims:
        name = str(claim["sk"])
        item = found.get(keys.job(uids[name]))
        try:
            _uid_of(claim)
            if item is not None:
                readable[name] = decode_job(item)
        except NewerShapeError:
            raise
        except UndecodableError as error:
            unreadable[name] = UnreadableJobError(team, name, uids[name], str(error), item or {})
    return NamedJobs(readable, unreadable)


def newest_occurrences(store: Store, uid: str, until: datetime) -> tuple[Execution, ...]:
    """The records of the job's latest nominal instants up to `until` that have one of their own, newest first: a few,
    since what a generation that has ended left behind may lie after those of the present one.
    """
    prefix = f"{ExecutionKind.OCCURRENCE}#"
    last = f"{prefix}{to_ms(until):013d}"
    query = Query(table=Table.EXECUTIONS, pk=uid, first=prefix, last=last, forward=False, limit=NEWEST)
    return tuple(decode_execution(item) for page in store.pages(query) for item in page)


def schedule_of(store: Store, job: Job, generation: int) -> Schedule | None:
    """The schedule by which a generation of the job fired; None where its end is not on record."""
    if generation == job.generation:
        return job.schedule
    item = store.get(keys.ended_generation(job.uid, generation))
    return None if item is None else decode_ended_generation(item).schedule
