"""Declaring jobs: a PUT that says all of it, a PATCH that says what changes. Both are one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from fencepost.application.calendars import TeamCalendars
from fencepost.application.idempotency import RequestKey
from fencepost.application.registry.commit import Done, commit
from fencepost.application.registry.counting import explained
from fencepost.application.registry.drafts import JobDraft, specify
from fencepost.application.registry.job_changes import Change, Current, created, edited, restated
from fencepost.application.registry.moment import Moment
from fencepost.application.registry.notices import notices
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_current, find_team
from fencepost.application.registry.results import Conflict, Missing, Refusal
from fencepost.application.registry.sweep import cancel_deleted
from fencepost.application.registry.unreadable import UnreadableJobError, found_again, removed
from fencepost.application.registry.usage import over_limit
from fencepost.application.registry.volume import note
from fencepost.domain.model import Caller, Team

Draw: TypeAlias = Callable[[Current | None], JobDraft]
"""Makes the draft out of the job so far: a PUT ignores it, a PATCH changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """Who wants to change which job. `expected` is the revision that the caller saw; None where it does not care. `uid`: of
    which job, where a later one may have its name by now.

    `absent`: only if the name is free; `present`: only if it is taken. `whole`: what is declared says all of it, so that
    nothing of what is there need be readable. `dry_run`: decide and answer, write nothing. `key`: marked with the write.
    """

    caller: Caller
    team: str
    name: str
    expected: int | None = None
    uid: str | None = None
    absent: bool = False
    present: bool = False
    whole: bool = True
    note: str | None = None
    dry_run: bool = False
    key: RequestKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The job is already what it was declared to be: no revision, no entry."""

    current: Current


@dataclass(frozen=True, slots=True, kw_only=True)
class Would:
    """What a dry run found would change."""

    change: Change


Declared: TypeAlias = Done | Would | Unchanged | Refusal


def declare(ports: RegistryPorts, request: JobRequest, draw: Draw) -> Declared:
    """Creates the job or changes it to what `draw` makes of it. Raises Faults for a faulty declaration, and
    UnreadableJobError for a change of what nobody can read; declared as a whole, it takes that one's place.
    """

    owners: list[Team] = []

    def plan(now: datetime) -> Change | Would | Unchanged | Refusal:
        team = find_team(ports.store, request.team)
        if team is None:
            return Missing("team", request.team)
        owners.append(team)
        at = Moment(now=now, limits=ports.limits, retention=team.retention)
        there = _there(ports, request, at)
        if there.current is not None:
            at = explained(ports.store, there.current.job, at)
        if request.present and there.named is None:
            return Missing("job", request.name)
        lost = mismatch(request, there.named)
        if lost is not None:
            return lost
        change = _change(ports, request, team, there, draw, at)
        if request.dry_run and isinstance(change, Change):
            return Would(change=change)
        return notices(change, team) if isinstance(change, Change) else change

    outcome: Declared = commit(ports, request.caller, request.note, plan, request.key)
    if isinstance(outcome, Done):
        note(ports.store, owners[-1], outcome.change)
        if outcome.change.instead is not None:
            cancel_deleted(ports, outcome.change.instead.job.uid)
    return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _There:
    """What has the name. `why`: its detail could not be read; `gone`: nothing of it could, and so it would go."""

    current: Current | None = None
    why: str | None = None
    gone: Change | None = None

    @property
    def named(self) -> Current | None:
        """Whose revision a precondition is about."""
        return self.current if self.gone is None else self.gone.before


def _there(ports: RegistryPorts, request: JobRequest, at: Moment) -> _There:
    try:
        return _There(current=find_current(ports.store, request.team, request.name))
    except UnreadableJobError as error:
        if not request.whole:
            raise
        current = found_again(error)
        if current is not None:
            return _There(current=current, why=error.why)
        return _There(gone=removed(ports.store, error, at))


def mismatch(request: JobRequest, current: Current | None) -> Conflict | None:
    """Whether the job is another than the caller saw."""
    revision, uid = (None, None) if current is None else (current.job.revision, current.job.uid)
    if request.absent and revision is not None:
        return Conflict(revision=revision, expected=0, uid=uid)
    stale = request.expected is not None and request.expected != revision
    if stale or (request.uid is not None and request.uid != uid):
        return Conflict(revision=revision, expected=request.expected, uid=uid)
    return None


def _change(
    ports: RegistryPorts, request: JobRequest, team: Team, there: _There, draw: Draw, at: Moment
) -> Change | Unchanged | Refusal:
    current = there.current
    previous = None if current is None else current.job.schedule
    spec = specify(
        draw(current),
        now=at.now,
        previous=previous,
        team=team,
        egress=ports.egress,
        calendars=TeamCalendars(ports.store, team.name),
    )
    if current is None:
        change = created(team.name, request.name, ports.entropy.token(), spec, at)
        change = replace(change, instead=there.gone)
    elif there.why is not None:
        change = restated(current, spec, there.why, at)
    elif (edit := edited(current, spec, at)) is None:
        return Unchanged(current=current)
    else:
        change = edit
    return over_limit(ports.store, team, change) or change
