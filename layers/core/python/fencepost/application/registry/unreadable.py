"""A job that is there and that nobody can read: what is left of it, and what may still be done to it.

Its owner declares it anew or deletes it; nobody else may guess what it said. Where the hot item is gone, the generation
with it, timers of the old job must still find positive evidence that they are over: so it leaves a tombstone under its own
uid, and what is declared in its place is another job with another uid, as after delete and create.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.codec_job import decode_job, encode_job
from fencepost.application.registry.job_changes import Change, Current, Unread, deleted
from fencepost.application.registry.moment import Moment
from fencepost.application.store import (
    Condition,
    Item,
    Key,
    Lacks,
    Present,
    Query,
    Store,
    Table,
    equals,
    every,
    items,
)
from fencepost.domain.model import Detail, Job
from fencepost.domain.schedule import OneOffSchedule
from fencepost.domain.states import JobState
from fencepost.domain.targets import WebhookTarget

SANE = 1_000_000_000
"""No revision and no generation comes near it: a greater number is part of the garble."""
COMPARED = 2**53
"""Every store tells whole numbers below it apart."""
_KEPT = (
    *("rev", "gen", "state", "schedule", "tier", "retry", "misfire", "overlap", "lease", "max_run"),
    *("ended", "ended_by", "begins", "far", "labels", "created"),
)
_DATING = ("begins", "far")
_LIVING = frozenset({JobState.ACTIVE, JobState.PAUSED, JobState.ERROR})


class MendableError(UndecodableError):
    """What an owner's PUT replaces and DELETE removes, though nobody can read it."""


class UnreadableJobError(MendableError):
    """The job of a name is there, and it or its detail cannot be understood. `job` is its hot item where that much can
    be read; otherwise `item` is what is stored there.
    """

    def __init__(self, team: str, name: str, uid: str, why: str, found: Item | Job) -> None:
        self.team, self.name, self.uid, self.why = team, name, uid, why
        self.job = found if isinstance(found, Job) else None
        self.item = None if isinstance(found, Job) else found
        super().__init__(f"job {name} of team {team}, uid {uid}, is there and cannot be read: {why}")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What a list says of a job that it cannot show."""

    name: str
    uid: str
    why: str


def found_again(error: UnreadableJobError) -> Current | None:
    """The job, where it is its detail alone that cannot be read; with a detail that is never written nor shown."""
    return None if error.job is None else Current(job=error.job, detail=_stand_in(error.job))


def removed(store: Store, error: UnreadableJobError, at: Moment) -> Change:
    """The delete of a job that cannot be read; lost if anybody has changed what was read. Raises StoreError."""
    whole = found_again(error)
    job, dated = (whole.job, True) if whole is not None else _salvaged(store, error, at.now)
    try:
        change = _deleted(job, at)
    except (ArithmeticError, ValueError):  # it can be read, and leads beyond all time
        made_up = _made_up(error.uid, error.team, error.name, at.now)
        job, dated = replace(made_up, revision=job.revision, generation=job.generation), False
        change = _deleted(job, at)
    if error.item is None:
        return replace(change, unread=Unread(why=error.why))
    newest = _newest_number(store, error.uid, "G") + 1
    more = (
        ()
        if change.ended is None or newest == job.generation
        else (replace(change.ended, generation=newest),)
    )
    unread = Unread(
        why=error.why,
        as_read=as_read(error.item, encode_job(job)),
        ended=more,
        uses=_uses(store, error, job),
    )
    tombstone = replace(change.job, state_reason=f"it could not be read: {error.why}"[:200])
    return replace(change, job=tombstone, unread=unread, expires_at=change.expires_at if dated else None)


def as_read(item: Item, known: Mapping[str, Any]) -> Condition:
    """The stored item is still what was read, as far as conditions can tell. Whoever mends it makes it differ: every
    attribute that `known` has is then there.
    """
    held = [
        equals(name, item[name])
        for name in sorted(known)
        if isinstance(item.get(name), (str, bool))
        or (isinstance(item.get(name), int) and abs(item[name]) < COMPARED)
    ]
    return every(Present(), *held, *(Lacks(name) for name in sorted(known) if name not in item))


def salvaged(item: Item, *, uid: str, team: str, name: str, now: datetime) -> tuple[Job, bool]:
    """As much of a job as can be read, attribute by attribute; the rest is made up. Whether it tells until when timers
    of it may lie.
    """
    sound = {**encode_job(_made_up(uid, team, name, now)), "pk": keys.job(uid).pk, "sk": "J"}
    kept = set[str]()
    for attribute in _KEPT:
        if attribute in item:
            tried = {**sound, attribute: item[attribute]}
            try:
                job = decode_job(tried)
                encode_job(job)
            except (UndecodableError, TypeError, ValueError, AttributeError, ArithmeticError):
                continue
            sound = tried
            kept.add(attribute)
    job = decode_job(sound)
    if job.state not in _LIVING:
        job = replace(job, state=JobState.ERROR)
    return job, "schedule" in kept and all(each in kept for each in _DATING if each in item)


def _deleted(job: Job, at: Moment) -> Change:
    change = deleted(Current(job=job, detail=_stand_in(job)), at)
    if change is None:
        raise AssertionError("a job that holds a name can be deleted, whatever its state")
    return change


def _salvaged(store: Store, error: UnreadableJobError, now: datetime) -> tuple[Job, bool]:
    """What is left of the job, with a revision and a generation that no entry and no timer of it is beyond: every
    generation but the last has its record, and every revision its entry.
    """
    item: Item = error.item or {}
    job, dated = salvaged(item, uid=error.uid, team=error.team, name=error.name, now=now)
    revision = max(_sane(job.revision), _newest_number(store, error.uid, "R"), 1)
    generation = max(_sane(job.generation), _newest_number(store, error.uid, "G") + 1)
    return replace(job, revision=revision, generation=generation), dated


def _sane(number: int) -> int:
    return number if 0 < number < SANE else 0


def _newest_number(store: Store, uid: str, letter: str) -> int:
    """The greatest number among a job's revisions (R) or ended generations (G); 0 where there is none."""
    query = Query(
        table=Table.JOBS, pk=keys.job(uid).pk, first=f"{letter}#", last=f"{letter}#~", forward=False, limit=1
    )
    numbers = (str(item["sk"]).partition("#")[2] for item in items(store, query))
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _uses(store: Store, error: UnreadableJobError, job: Job) -> tuple[Key, ...]:
    """The calendars that somebody noted that the job names, besides those that it still says: its delete frees them."""
    every_one = keys.calendar(error.team, "")
    query = Query(table=Table.JOBS, pk=every_one.pk, first=every_one.sk, last=every_one.sk + "~")
    names = {str(item["sk"]).removeprefix(every_one.sk) for item in items(store, query)}
    noted = (
        keys.calendar_use(error.team, name, error.uid) for name in sorted(names - {*job.schedule.exclude})
    )
    return tuple(key for key in noted if store.get(key) is not None)


def _made_up(uid: str, team: str, name: str, now: datetime) -> Job:
    return Job(
        team=team,
        name=name,
        uid=uid,
        revision=1,
        generation=1,
        state=JobState.ACTIVE,
        schedule=OneOffSchedule(at=now.replace(microsecond=0)),
        detail="",
        created_at=now,
        updated_at=now,
    )


def _stand_in(job: Job) -> Detail:
    return Detail(digest=job.detail, target=WebhookTarget(url="https://unreadable.invalid/"), payload=b"")
