"""After an update of the time-zone database: timers that the new rules move are planted anew (protocol B10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_timer
from fencepost.application.planting import fire_timer
from fencepost.application.registry.commit import Done, commit
from fencepost.application.registry.job_changes import Change, Current, regenerated
from fencepost.application.registry.listing import MAX_PAGE, Filter, list_jobs
from fencepost.application.registry.moment import Moment
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_current
from fencepost.application.registry.unreadable import Unreadable, UnreadableJobError
from fencepost.application.scanning.succession import newest_of_generation
from fencepost.application.store import Absent, Check, Item, Key, StoreBusyError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Caller, Execution, Job
from fencepost.domain.schedule import (
    CronSchedule,
    IntervalSchedule,
    effective_instant,
    next_after_refresh,
    next_occurrence,
    tzdata_version,
)
from fencepost.domain.schedule.model import LONGEST_EVERY
from fencepost.domain.states import JobState, Reason

_QUARTER = timedelta(minutes=15)
_FARTHEST = 104
"""Zone rules move an instant by whole quarters of an hour, 26 hours at the very most."""
LOOKS = 3
"""How often a job is looked at that is claimed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A job whose next occurrence the new rules moved; `after` None: nothing follows any more."""

    job: str
    before: datetime
    after: datetime | None


@dataclass(frozen=True, slots=True)
class _Stays:
    """Nothing to do."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """The write, and what it will have moved."""

    change: Change
    moved: Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshPage:
    """The moved jobs of one page; `after` is the last name that was looked at, None at the end. `unreadable`: jobs that
    stay where they are, since nobody can read them.
    """

    moved: tuple[Moved, ...]
    unreadable: tuple[Unreadable, ...]
    looked_at: int
    after: str | None


def refresh_team(
    ports: RegistryPorts, caller: Caller, team: str, after: str | None = None, limit: int = MAX_PAGE
) -> RefreshPage:
    """Looks at one page of a team's jobs, and moves those that the loaded rules move."""
    page = list_jobs(ports.store, team, Filter(), now=ports.clock.now(), after=after, limit=limit)
    moved, unread = list[Moved](), list(page.unreadable)
    for job in (listed.job for listed in page.items):
        try:
            found = refresh_job(ports, caller, job)
        except UnreadableJobError as error:
            unread.append(Unreadable(error.name, error.uid, error.why))
            continue
        moved += [] if found is None else [found]
    return RefreshPage(
        moved=tuple(moved), unreadable=tuple(unread), looked_at=len(page.items), after=page.after
    )


def refresh_job(ports: RegistryPorts, caller: Caller, job: Job) -> Moved | None:
    """Plants the job's timer anew if it was planted by other rules that say otherwise; None where it stays.

    The old generation ends at its last claimed instant. What the new rules put into the past is for the job's
    misfire policy. Raises StoreBusyError where others kept winning.
    """
    if not isinstance(job.schedule, CronSchedule):
        return None
    found: list[Moved] = []

    def plan(now: datetime) -> Change | _Stays:
        current = find_current(ports.store, job.team, job.name)
        if current is None or current.job.uid != job.uid:
            return _Stays()
        found[:] = []
        looks = (_plan(ports, current, now) for _ in range(LOOKS))
        planned = next((each for each in looks if each is not None), None)
        if planned is None:
            raise StoreBusyError(f"{job.name}: others keep claiming it")
        if isinstance(planned, _Stays):
            return planned
        found.append(planned.moved)
        return planned.change

    outcome = commit(ports, caller, f"time-zone rules {tzdata_version()}", plan)
    return found[0] if isinstance(outcome, Done) and found else None


def _plan(ports: RegistryPorts, current: Current, now: datetime) -> _Planned | _Stays | None:
    """None where the job was claimed between two looks at it."""
    job = current.job
    if job.state is not JobState.ACTIVE or job.exhausted:
        return _Stays()
    last = newest_of_generation(ports.store, job)
    if last is not None and last.tzdata == tzdata_version():
        return _Stays()
    # Of what was claimed longer ago than that, nothing need be on record any more.
    remembered = now - ports.limits.record_min_life
    claimed = max(job.ended_until or job.created_at, remembered)
    if last is not None:
        claimed = last.until or last.id.nominal or last.due
    following = _following(job, last, claimed, remembered)
    found = _planted(ports, job, following or claimed, claimed, now)
    if found is None or found[0] == following:
        return _Stays()
    planted, item = found
    if _id(newest_of_generation(ports.store, job)) != _id(
        last
    ):  # what was found follows a claim of this very moment
        return None
    moved = Moved(job=job.name, before=planted, after=following)
    at = Moment(now=now, limits=ports.limits, ordinal=_ordinal(item, last))
    return _Planned(_replanted(current, claimed, moved, at), moved)


def _ordinal(item: Item, last: Execution | None) -> int:
    """Which firing it is, by the last one's record and by the timer that is replaced: of the first one after an edit or a
    resume the timer alone tells.
    """
    after = 1 if last is None else last.next_ordinal
    with suppress(UndecodableError):
        return max(after, decode_timer(item).ordinal)
    return after


def _id(record: Execution | None) -> ExecutionId | None:
    return None if record is None else record.id


def _following(job: Job, last: Execution | None, claimed: datetime, remembered: datetime) -> datetime | None:
    if last is None and job.begins_with is not None and job.begins_with >= remembered:
        return job.begins_with
    if last is None:
        return next_occurrence(job.schedule, claimed)
    return next_after_refresh(job.schedule, claimed, timedelta(seconds=last.offset))


def _replanted(current: Current, claimed: datetime, moved: Moved, at: Moment) -> Change:
    """The change, which holds only while nobody has claimed the timer that it replaces."""
    job = replace(current.job, revision=current.job.revision + 1, updated_at=at.now)
    change = Change(what="tz_refresh", before=current, job=job, detail=current.detail)
    change = regenerated(change, Reason.SUPERSEDED, replace(at, now=claimed))
    unclaimed = Check(key=keys.execution(ExecutionId.occurrence(job.uid, moved.before)), condition=Absent())
    regenerate = replace(change.job, begins_with=moved.after, exhausted=moved.after is None)
    change = replace(change, job=regenerate, checks=(unclaimed,))
    if moved.after is None:
        return change
    timer = fire_timer(regenerate, moved.after, ordinal=at.ordinal, now=at.now, limits=at.limits)
    return replace(change, timer=timer)


def _planted(
    ports: RegistryPorts, job: Job, near: datetime, claimed: datetime, now: datetime
) -> tuple[datetime, Item] | None:
    """The job's live timer and its instant, looked for where rules may have moved it from; `near` itself first."""
    apart = _apart(job, near)
    wanted = {
        key: instant
        for instant in _around(near)
        if instant > claimed or instant == near
        for key in _lies(job, instant, apart, now, ports.limits)
    }
    found = ports.store.batch_get(list(wanted))
    return next(((instant, found[key]) for key, instant in wanted.items() if key in found), None)


def _lies(job: Job, instant: datetime, apart: timedelta, now: datetime, limits: Limits) -> Iterator[Key]:
    """Where a timer of `instant` may lie. Its jitter ends where the next occurrence begins, and that is elsewhere by rules
    under which `instant` is none at all.
    """
    timer = fire_timer(job, instant, ordinal=1, now=min(now, instant), limits=limits)
    yield keys.timer(timer)
    if job.schedule.jitter_seconds:
        by_old = IntervalSchedule(every=apart, anchor=instant, jitter_seconds=job.schedule.jitter_seconds)
        due = effective_instant(by_old, job.uid, instant)
        yield keys.timer(replace(timer, bucket=Bucket.at(due, timer.bucket.shard)))


def _apart(job: Job, near: datetime) -> timedelta:
    """How far apart the job's occurrences lie, as a rule."""
    first = next_occurrence(job.schedule, near)
    second = None if first is None else next_occurrence(job.schedule, first)
    return LONGEST_EVERY if first is None or second is None else min(second - first, LONGEST_EVERY)


def _around(near: datetime) -> Iterator[datetime]:
    yield near
    for step in range(1, _FARTHEST + 1):
        yield near + step * _QUARTER
        yield near - step * _QUARTER
