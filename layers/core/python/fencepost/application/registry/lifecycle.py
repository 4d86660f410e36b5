"""Pause, resume and delete: from every state that knows the move, exhausted or not (protocol B8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from fencepost.application.registry.commit import Done, commit
from fencepost.application.registry.counting import counted
from fencepost.application.registry.job_changes import (
    Change,
    Current,
    Pause,
    Unread,
    deleted,
    paused,
    resumed,
)
from fencepost.application.registry.jobs import JobRequest, Would, mismatch
from fencepost.application.registry.moment import Moment
from fencepost.application.registry.notices import notices
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_current, known_team
from fencepost.application.registry.results import Missing, NotAllowed, Refusal
from fencepost.application.registry.sweep import cancel_deleted, cancel_unstarted
from fencepost.application.registry.unreadable import UnreadableJobError, found_again, removed
from fencepost.application.registry.usage import over_limit
from fencepost.application.registry.volume import note
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.states import JobState

KNOWN_MOVES = "one that is PAUSED or in ERROR can be resumed, and only one that is not PAUSED yet be paused"
"""What a refused pause or resume is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRest:
    """It was paused already, by the same caller with the same words and the same end: no revision, no entry. What such a
    pause cancels was looked for again.
    """

    current: Current
    cancelled: tuple[Execution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The write that was done, and the executions that it cancelled at once; the others are cancelled when their
    turn comes, since delivery asks the job before it starts anything.
    """

    done: Done
    cancelled: tuple[Execution, ...] = ()


Step: TypeAlias = Callable[[Current, Moment], Change | AtRest | None]
Otherwise: TypeAlias = Callable[[UnreadableJobError, Moment], Change | AtRest | Refusal]
"""What is done instead to a job that cannot be read, or not all of it."""


def pause(
    ports: RegistryPorts,
    request: JobRequest,
    *,
    until: datetime | None = None,
    cancel_started: bool = False,
    always_told: bool = False,
) -> Swept | AtRest | Would | Refusal:
    """Nothing of this job's schedule starts any more. `cancel_started` ends those between two attempts as well;
    `always_told`: the team is told whether it asked to be or not. A job whose detail alone cannot be read is paused too,
    and the detail stays as it is.
    """
    asked = Pause(by=request.caller.principal, note=request.note, until=until)

    def step(current: Current, at: Moment) -> Change | AtRest | None:
        return AtRest(current=current) if rests(current.job, asked) else paused(current, asked, at)

    def unread(error: UnreadableJobError, at: Moment) -> Change | AtRest | Refusal:
        return _half_read(ports, request, step, error, at)

    outcome = _move(ports, request, step, always_told=always_told, otherwise=unread)
    if isinstance(outcome, AtRest) and not request.dry_run:
        return replace(
            outcome, cancelled=cancel_unstarted(ports, outcome.current.job, begun_too=cancel_started)
        )
    if not isinstance(outcome, Done):
        return outcome
    cancelled = cancel_unstarted(ports, outcome.change.job, begun_too=cancel_started)
    return Swept(done=outcome, cancelled=cancelled)


def resume(
    ports: RegistryPorts, request: JobRequest, *, effective: datetime | None = None
) -> Swept | Would | Refusal:
    """The job fires again from its next occurrence on, out of a pause or an error.

    `effective`: as of when, where that is past; what fell due since then is the misfire policy's.
    """
    outcome = _move(ports, request, resumed, effective=effective)
    return Swept(done=outcome) if isinstance(outcome, Done) else _moved(outcome)


def delete(ports: RegistryPorts, request: JobRequest) -> Swept | Would | Refusal:
    """The name is free at once; what runs may end, all else is cancelled. A later job of that name is another job. One
    that nobody can read goes as well.
    """
    outcome = _move(ports, request, deleted, otherwise=lambda error, at: _removed(ports, request, error, at))
    if not isinstance(outcome, Done):
        return _moved(outcome)
    return Swept(done=outcome, cancelled=cancel_deleted(ports, outcome.change.job.uid))


def rests(job: Job, asked: Pause) -> bool:
    """Whether the job is paused already just as it is asked for."""
    as_it_is = Pause(by=str(job.paused_by), note=job.state_reason, until=job.paused_until)
    return job.state is JobState.PAUSED and as_it_is == asked


def _moved(outcome: AtRest | Would | Refusal) -> Would | Refusal:
    match outcome:
        case AtRest():
            raise AssertionError("only a pause leaves a job as it is")
        case _:
            return outcome


def _move(
    ports: RegistryPorts,
    request: JobRequest,
    step: Step,
    *,
    always_told: bool = False,
    otherwise: Otherwise | None = None,
    effective: datetime | None = None,
) -> Done | AtRest | Would | Refusal:
    owners: list[Team] = []

    def plan(now: datetime) -> Change | AtRest | Would | Refusal:
        team = known_team(
            ports.store, request.team
        )  # a job of a team that is being deleted is deleted with it
        if team is None:
            return Missing("team", request.team)
        owners.append(team)
        at = Moment(now=now, effective=effective, limits=ports.limits, retention=team.retention)
        try:
            change = _stepped(ports, request, step, at)
        except UnreadableJobError as error:
            if otherwise is None:
                raise
            change = otherwise(error, at)
        if not isinstance(change, Change):
            return change
        over = over_limit(ports.store, team, change)
        if over is not None:
            return over
        return Would(change=change) if request.dry_run else notices(change, team, always=always_told)

    outcome: Done | AtRest | Would | Refusal = commit(ports, request.caller, request.note, plan, request.key)
    if isinstance(outcome, Done):
        note(ports.store, owners[-1], outcome.change)
    return outcome


def _stepped(ports: RegistryPorts, request: JobRequest, step: Step, at: Moment) -> Change | AtRest | Refusal:
    current = find_current(ports.store, request.team, request.name)
    if current is None:
        return Missing("job", request.name)
    return _taken(ports, request, step, current, at)


def _taken(
    ports: RegistryPorts, request: JobRequest, step: Step, current: Current, at: Moment
) -> Change | AtRest | Refusal:
    lost = mismatch(request, current)
    if lost is not None:
        return lost
    change = step(current, counted(ports.store, current.job, at))
    return change or NotAllowed(f"the job is {current.job.state}; {KNOWN_MOVES}")


def _half_read(
    ports: RegistryPorts, request: JobRequest, step: Step, error: UnreadableJobError, at: Moment
) -> Change | AtRest | Refusal:
    """The step of a job whose detail alone cannot be read. Raises `error` where the job itself cannot."""
    current = found_again(error)
    if current is None:
        raise error
    change = _taken(ports, request, step, current, at)
    return replace(change, unread=Unread(why=error.why)) if isinstance(change, Change) else change


def _removed(
    ports: RegistryPorts, request: JobRequest, error: UnreadableJobError, at: Moment
) -> Change | Refusal:
    change = removed(ports.store, error, at if error.job is None else counted(ports.store, error.job, at))
    return mismatch(request, change.before) or change
