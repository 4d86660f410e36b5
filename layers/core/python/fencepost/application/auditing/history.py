"""A job's past, read from its revisions, its ended generations and the versions of the calendars that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.codec_job import decode_ended_generation
from fencepost.application.registry.revisions import Entry, decode_entry
from fencepost.application.store import Key, Query, Store, Table, items
from fencepost.domain.auditing.history import Era, JobHistory, Pages, Terms
from fencepost.domain.faults import Faults
from fencepost.domain.instants import MINUTE
from fencepost.domain.model import EndedGeneration, Job, Misfire, MisfirePolicy, Overlap, Tier
from fencepost.domain.schedule import Calendar, parse_calendar
from fencepost.domain.states import JobState, Reason

CHANGES = 500
"""How many changes of a job, the newest ones, an audit reads; what lies before them it does not judge."""
VERSIONS = 100
_TICK = timedelta(milliseconds=1)
SLACK = 15 * MINUTE
"""How much farther back than the audit its history reaches: claims are made ahead, by what was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A history, and the instant from which on it is complete."""

    history: JobHistory
    since: datetime


def read_history(store: Store, job: Job, since: datetime) -> Known:
    """What happened to `job` since about `since`. Raises StoreError, UndecodableError."""
    reach = since - SLACK
    changed = job.updated_at >= reach
    entries = _entries(store, job, reach) if changed else []
    ended = list(_ended(store, job, reach)) if changed else []
    eras = _eras(job, ended, entries)
    history = JobHistory(
        uid=job.uid,
        state=job.state,
        eras=eras,
        terms=_terms(job, entries),
        pages=_pages(store, job, eras),
    )
    begins = entries[0].at if len(entries) >= CHANGES else since
    return Known(history=history, since=max(since, begins))


def _entries(store: Store, job: Job, since: datetime) -> list[Entry]:
    """The changes since `since` and the one before them, the oldest first."""
    found: list[Entry] = []
    for entry in _newest(store, keys.job_revision(job.uid, 0), CHANGES):
        found.append(entry)
        if entry.at <= since:
            break
    return found[::-1]


def _newest(store: Store, first: Key, limit: int) -> Iterator[Entry]:
    query = Query(table=first.table, pk=first.pk, first=first.sk, last="R#~", forward=False, limit=limit)
    return (decode_entry(item) for item in items(store, query))


def _ended(store: Store, job: Job, since: datetime) -> Iterator[EndedGeneration]:
    """The generations that ended since `since` and one more, the newest first. One that cannot be read ends the list."""
    first, last = keys.ended_generation(job.uid, 0), keys.ended_generation(job.uid, job.generation)
    query = Query(table=Table.JOBS, pk=first.pk, first=first.sk, last=last.sk, forward=False, limit=CHANGES)
    for item in items(store, query):
        try:
            ended = decode_ended_generation(item)
        except UndecodableError:
            return
        yield ended
        if ended.until <= since:
            return


def _eras(job: Job, ended: Sequence[EndedGeneration], entries: Sequence[Entry]) -> tuple[Era, ...]:
    """The last one read is only the beginning of the one after it, unless it is the job's first."""
    known = sorted(ended, key=lambda each: each.generation)
    found = [
        _era(each, earlier.until, earlier.ended_by, entries)
        for earlier, each in pairwise(known)
        if each.generation == earlier.generation + 1
    ]
    if known and known[0].generation == 1:
        found.insert(0, _era(known[0], job.created_at, None, entries))
    return (*found, _current(job, entries))


def _era(ended: EndedGeneration, begins: datetime, after: Reason | None, entries: Sequence[Entry]) -> Era:
    began, ends = _change_to(ended.generation, entries), _change_to(ended.generation + 1, entries)
    return Era(
        generation=ended.generation,
        schedule=ended.schedule,
        begins=begins,
        until=ended.until,
        ended_by=ended.ended_by,
        ended_at=ended.until if ends is None else ends.at,
        ended_with=ended.misfire,
        fires=_fired(began, ends, after),
        failed=ends is not None and (ends.before or {}).get("state") == JobState.ERROR,
        refreshed=began is not None and began.what == "tz_refresh",
    )


def _current(job: Job, entries: Sequence[Entry]) -> Era:
    began, begins = _change_to(job.generation, entries), job.begins_with
    return Era(
        generation=job.generation,
        schedule=job.schedule,
        begins=(job.ended_until or job.created_at) if begins is None else begins - _TICK,
        fires=job.state not in {JobState.PAUSED, JobState.DELETED},
        failed=job.state is JobState.ERROR,
        refreshed=begins is None and began is not None and began.what == "tz_refresh",
    )


def _change_to(generation: int, entries: Sequence[Entry]) -> Entry | None:
    """The change that began a generation."""
    return next((entry for entry in entries if (entry.after or {}).get("generation") == generation), None)


def _fired(began: Entry | None, ended: Entry | None, after: Reason | None) -> bool:
    """Whether a generation was active: as the change that began it says, or the one that ended it, or what went before."""
    if began is not None and began.after is not None:
        return bool(began.after.get("state") == JobState.ACTIVE)
    if ended is not None and ended.before is not None:
        return ended.before.get("state") in {JobState.ACTIVE, JobState.ERROR}
    return after not in {Reason.PAUSED, Reason.DELETED}


def _terms(job: Job, entries: Sequence[Entry]) -> tuple[Terms, ...]:
    """What the declaration said, from change to change."""
    said = [_said(entry.after, entry.at) for entry in entries if entry.after is not None]
    if entries and entries[0].before is not None:
        said.insert(0, _said(entries[0].before, job.created_at))
    return tuple(said) or (_terms_of(job),)


def _terms_of(job: Job) -> Terms:
    return Terms(
        since=job.created_at,
        misfire=job.misfire,
        overlap=job.overlap,
        max_attempts=job.retry.max_attempts,
        tier=job.tier,
        keep_newest=job.keep_newest,
    )


def _said(document: Mapping[str, Any], since: datetime) -> Terms:
    misfire = document["misfire"]
    return Terms(
        since=since,
        misfire=Misfire(
            policy=MisfirePolicy(misfire["policy"]),
            window=timedelta(seconds=misfire["window_seconds"]),
            max_runs=misfire["max_runs"],
        ),
        overlap=Overlap(document["overlap"]),
        max_attempts=document["retry"]["max_attempts"],
        tier=Tier(document["tier"]),
        keep_newest=document.get("keep_newest"),
    )


def _pages(store: Store, job: Job, eras: Sequence[Era]) -> Pages:
    names = {name for era in eras for name in era.schedule.exclude}
    return Pages(versions={name: list(_versions(store, job.team, name)) for name in sorted(names)})


def _versions(store: Store, team: str, name: str) -> Iterator[tuple[datetime, Calendar | None]]:
    """The oldest first. A version that cannot be read is as if it excluded nothing, as it is for a claim."""
    for entry in reversed(list(_newest(store, keys.calendar_version(team, name, 0), VERSIONS))):
        yield entry.at, None if entry.after is None else _calendar(name, entry.after, entry)


def _calendar(name: str, document: Mapping[str, Any], entry: Entry) -> Calendar | None:
    try:
        return parse_calendar(document, name=name, version=entry.revision, dated=entry.at)
    except Faults:
        return None
