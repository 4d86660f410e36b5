"""What a write does to a job, as pure functions: the job after it, the generation it ends, the timer it plants.

The generation grows only when *when it fires* changes: the schedule by its meaning, or whether it fires at all
(pause, resume, delete). The generation so far then ends at the instant of the change (protocol B3), and the next
occurrence is strictly later than that (B12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.application import moves
from fencepost.application.planting import fire_timer
from fencepost.application.registry.documents import target_digest
from fencepost.application.registry.drafts import JobSpec
from fencepost.application.registry.moment import Moment
from fencepost.application.store import Check, Condition, Key
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Detail, EndedGeneration, Execution, Job, Origin, Timer
from fencepost.domain.notification import Notification
from fencepost.domain.schedule import (
    effective_instant,
    latest_occurrence,
    next_occurrence,
    schedule_to_wire,
    tzdata_version,
)
from fencepost.domain.states import ExecutionState, JobMove, JobState, Reason, job_destination

CLAIMED_AHEAD = timedelta(minutes=15)
"""No timer was claimed farther ahead than that: the job's next one is at most the occurrence after."""
OUTLIVES = timedelta(days=30)
"""How much longer than its records a deleted job is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """A job as it was read."""

    job: Job
    detail: Detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """What could not be read: the detail, or (`as_read` given) the whole job, whose item is then written anew if that
    condition holds. `ended`: more generations to end; `uses`: notes of calendars that it may have named."""

    why: str
    as_read: Condition | None = None
    ended: tuple[EndedGeneration, ...] = ()
    uses: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One write of a job. `detail` is the one after it; `ended`, `skipped` and `timer` where there is such a thing;
    `checks` must hold as well; `told`: what the team will be told; `expires_at`: when all of a deleted job may
    go; `unread`: what of `before` is made up; `instead`: the delete of the unreadable job whose name this one takes."""

    what: str
    before: Current | None
    job: Job
    detail: Detail
    ended: EndedGeneration | None = None
    skipped: Execution | None = None
    timer: Timer | None = None
    expires_at: datetime | None = None
    checks: tuple[Check, ...] = ()
    told: tuple[Notification, ...] = ()
    unread: Unread | None = None
    instead: Change | None = None

    @property
    def regenerated(self) -> bool:
        """Whether this changes when the job fires."""
        return self.before is None or self.job.generation != self.before.job.generation


def created(team: str, name: str, uid: str, spec: JobSpec, at: Moment) -> Change:
    """A job that was not there: first revision, first generation, first timer."""
    detail = detail_of(spec)
    job = Job(
        team=team,
        name=name,
        uid=uid,
        revision=1,
        generation=1,
        state=JobState.ACTIVE,
        schedule=spec.schedule,
        detail=detail.digest,
        created_at=at.now,
        updated_at=at.now,
        **_settings(spec),
    )
    return _planted(Change(what="create", before=None, job=job, detail=detail), at)


def edited(before: Current, spec: JobSpec, at: Moment) -> Change | None:
    """The job declared anew; None if that changes nothing. Its state stays what it is."""
    detail = detail_of(spec)
    job = replace(before.job, schedule=spec.schedule, detail=detail.digest, **_settings(spec))
    if job == before.job and schedule_to_wire(job.schedule) == schedule_to_wire(before.job.schedule):
        return None
    job = replace(job, revision=job.revision + 1, updated_at=at.now)
    change = Change(what="edit", before=before, job=job, detail=detail)
    if job.schedule == before.job.schedule:
        return change
    return _planted(regenerated(change, Reason.SUPERSEDED, at), at)


def restated(before: Current, spec: JobSpec, why: str, at: Moment) -> Change:
    """The job declared anew where its detail could not be read: written even if all else is as it was."""
    change = edited(before, spec, at)
    if change is None:
        job = replace(before.job, revision=before.job.revision + 1, updated_at=at.now)
        change = Change(what="edit", before=before, job=job, detail=detail_of(spec))
    return replace(change, unread=Unread(why=why))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Who pauses, why, and until when (None: until somebody resumes)."""

    by: str
    note: str | None = None
    until: datetime | None = None


def paused(before: Current, pause: Pause, at: Moment) -> Change | None:
    """The job no longer fires; None where its state knows no pause."""
    state = job_destination(JobMove.PAUSE, before.job.state)
    if state is None:
        return None
    job = _next_revision(
        before.job, at, state=state, state_reason=pause.note, paused_by=pause.by, paused_until=pause.until
    )
    return regenerated(Change(what="pause", before=before, job=job, detail=before.detail), Reason.PAUSED, at)


def resumed(before: Current, at: Moment) -> Change | None:
    """The job fires again from its next occurrence on; None where there is nothing to resume from.

    What fell due meanwhile is one range record; the next timer is in the same write, so a job never sleeps on.
    """
    state = job_destination(JobMove.RESUME, before.job.state)
    if state is None:
        return None
    job = _next_revision(
        before.job,
        at,
        state=state,
        state_reason=None,
        paused_by=None,
        paused_until=None,
        dead_in_row=0,
    )
    change = Change(what="resume", before=before, job=job, detail=before.detail)
    return _planted(regenerated(change, Reason.SUPERSEDED, at), at)


def deleted(before: Current, at: Moment) -> Change | None:
    """The tombstone: the name is free, the uid is never used again."""
    state = job_destination(JobMove.DELETE, before.job.state)
    if state is None:
        return None
    job = _next_revision(before.job, at, state=state)
    change = Change(what="delete", before=before, job=job, detail=before.detail)
    change = regenerated(change, Reason.DELETED, at)
    return replace(
        change, expires_at=max(at.now, change.job.timers_until or at.now) + at.retention + OUTLIVES
    )


def regenerated(change: Change, ended_by: Reason, at: Moment) -> Change:
    """`change` with a new generation; the one before ends now, with a range record for what it slept through."""
    assert change.before is not None, "a new job has no generation to end"  # noqa: S101 - a bug, no input
    old = change.before.job
    ended = EndedGeneration(
        uid=old.uid,
        generation=old.generation,
        until=at.ends,
        ended_by=ended_by,
        schedule=old.schedule,
        misfire=old.misfire,
        overlap=old.overlap,
        tier=old.tier,
    )
    job = replace(
        change.job,
        generation=old.generation + 1,
        ended_until=at.ends,
        ended_by=ended_by,
        exhausted=False,
        begins_with=None,
        timers_until=farthest_timer(old, at),
    )
    return replace(change, job=job, ended=ended, skipped=slept_through(old, at))


def farthest_timer(job: Job, at: Moment) -> datetime | None:
    """An instant past every timer of the job's generations so far: nobody may forget the job before that, since a
    timer of a job that is not there waits for ever.
    """
    ends = [] if job.timers_until is None else [job.timers_until]
    nominal = next_occurrence(job.schedule, max(at.now, at.ends) + CLAIMED_AHEAD)
    candidates = [each for each in (nominal, job.begins_with) if each is not None]
    ends += [effective_instant(job.schedule, job.uid, each) for each in candidates]
    return max(ends, default=None)


def slept_through(job: Job, at: Moment) -> Execution | None:
    """One range record for the occurrences that fell due while the job was paused or in error; None for none."""
    if job.state not in {JobState.PAUSED, JobState.ERROR}:
        return None
    since = at.unexplained_since or job.ended_until or job.created_at
    first = next_occurrence(job.schedule, since)
    if first is None or first > at.ends:
        return None
    last = latest_occurrence(job.schedule, at.ends, first) or first
    return Execution(
        id=ExecutionId.span(job.uid, first),
        team=job.team,
        job=job.name,
        state=ExecutionState.SKIPPED,
        origin=Origin.SCHEDULE,
        tier=job.tier,
        due=first,
        generation=job.generation,
        planted_generation=job.generation,
        reason=Reason.PAUSED,
        note=job.state_reason,
        until=last,
        tzdata=tzdata_version(),
        claimed_at=at.now,
        ended_at=at.now,
        expires_at=moves.expiry(last, at.now, at.retention),
    )


def detail_of(spec: JobSpec) -> Detail:
    """Target, payload and description under their digest."""
    description = spec.settings.description
    name = target_digest(spec.target, spec.payload, description)
    return Detail(digest=name, target=spec.target, payload=spec.payload, description=description)


def _planted(change: Change, at: Moment) -> Change:
    """`change` with the timer of the job's next occurrence, or with the job exhausted if none follows."""
    if change.job.state is not JobState.ACTIVE:
        return change
    most = change.job.schedule.max_firings
    nominal = next_occurrence(change.job.schedule, at.ends)
    if nominal is None or (most is not None and at.ordinal > most):
        return replace(change, job=replace(change.job, exhausted=True))
    timer = fire_timer(change.job, nominal, ordinal=at.ordinal, now=at.now, limits=at.limits)
    return replace(change, timer=timer)


def _next_revision(job: Job, at: Moment, **changes: Any) -> Job:
    return replace(job, revision=job.revision + 1, updated_at=at.now, **changes)


def _settings(spec: JobSpec) -> dict[str, Any]:
    """The fields that a job takes over from its declaration as they are."""
    settings = spec.settings
    return {
        "tier": settings.tier,
        "retry": settings.retry,
        "misfire": settings.misfire,
        "overlap": settings.overlap,
        "long_work": settings.long_work,
        "labels": settings.labels,
        "notify_on": settings.notify_on,
        "pause_after_dead": settings.pause_after_dead,
        "delete_after_completion": settings.delete_after_completion,
        "keep_newest": settings.keep_newest,
    }
