"""What it takes to make a team's jobs those of a file. Every step is the service's own word, from a dry run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fencepost.client.declaration import FIELDS
from fencepost.client.errors import ApiError, FaultsError
from fencepost.client.fencepost import Fencepost
from fencepost.client.results import JobChange, Occurrence, UnreadableJob

PARALLEL = 8


class Action(StrEnum):
    """What becomes of a job."""

    CREATE = "create"
    CHANGE = "change"
    KEEP = "keep"
    DELETE = "delete"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field, by its dotted path; None where there is none."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What becomes of one job, and why. `revision`: the one that the step was planned on, 0 for none there. `cancels`:
    queued firings that would no longer run. `error`: why the service refuses it.
    """

    name: str
    action: Action
    job: Mapping[str, Any] | None = None
    revision: int = 0
    changes: tuple[FieldChange, ...] = ()
    cancels: tuple[str, ...] = ()
    next_before: tuple[Occurrence, ...] = ()
    next_after: tuple[Occurrence, ...] = ()
    error: ApiError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Which of the team's jobs are deleted when the file leaves them out: those with all of these labels. Never one that
    nobody can read: what it is, and which labels it carries, nobody can tell."""

    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps by name, deletions last. `unreadable`: what pruning came upon and nobody can read, whatever its labels;
    the plan deletes none of it, and a step that declares such a job replaces it.
    """

    steps: tuple[Step, ...]
    unreadable: tuple[UnreadableJob, ...] = ()

    @property
    def left(self) -> tuple[UnreadableJob, ...]:
        """What would be left as it is, since nobody can read it and the file leaves it out."""
        named = {step.name for step in self.steps}
        return tuple(each for each in self.unreadable if each.name not in named)

    @property
    def pending(self) -> tuple[Step, ...]:
        """What would be done."""
        return tuple(step for step in self.steps if step.action not in {Action.KEEP, Action.REFUSE})

    @property
    def refused(self) -> tuple[Step, ...]:
        """What cannot be done."""
        return tuple(step for step in self.steps if step.action is Action.REFUSE)

    def count(self, action: Action) -> int:
        """How many steps are of this kind."""
        return sum(step.action is action for step in self.steps)


def plan(
    client: Fencepost,
    jobs: Mapping[str, Mapping[str, Any]],
    *,
    prune: Prune | None = None,
    parallel: int = PARALLEL,
    seen: Callable[[Step], None] | None = None,
) -> Plan:
    """Asks the service about every job, `parallel` at once; `seen` hears of each step as it is found.

    A job that the service refuses is a step like any other, so that all faults of a file are told at once.
    """
    with ThreadPoolExecutor(parallel, thread_name_prefix="fencepost-plan") as pool:
        asked = [pool.submit(_declared, client, name, job) for name, job in sorted(jobs.items())]
        try:
            steps = [_told(each.result(), seen) for each in asked]
            gone, unreadable = ([], ()) if prune is None else _left_out(client, jobs, prune)
            deleted = [pool.submit(_deleted, client, name) for name in gone]
            steps += [_told(each.result(), seen) for each in deleted]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Plan(tuple(steps), unreadable)


def _told(step: Step, seen: Callable[[Step], None] | None) -> Step:
    if seen is not None:
        seen(step)
    return step


def _declared(client: Fencepost, name: str, job: Mapping[str, Any]) -> Step:
    try:
        change = client.job(name).would_put(**job)
    except FaultsError as error:
        return Step(name=name, action=Action.REFUSE, job=job, error=error)
    changes = tuple(differences(change.before, change.after))
    action = Action.CREATE if change.before is None else Action.CHANGE if changes else Action.KEEP
    return _step(name, action, change, job, changes)


def _deleted(client: Fencepost, name: str) -> Step:
    return _step(name, Action.DELETE, client.job(name).would_delete(), None, ())


def _step(
    name: str,
    action: Action,
    change: JobChange,
    job: Mapping[str, Any] | None,
    changes: tuple[FieldChange, ...],
) -> Step:
    return Step(
        name=name,
        action=action,
        job=job,
        revision=0 if change.before is None else int(change.before["revision"]),
        changes=changes,
        cancels=change.cancels,
        next_before=change.next_before,
        next_after=change.next_after,
    )


def _left_out(
    client: Fencepost, jobs: Mapping[str, object], prune: Prune
) -> tuple[list[str], tuple[UnreadableJob, ...]]:
    """The names to delete, and what could not be looked at."""
    listing = client.jobs(labels=prune.labels)
    names = sorted(job.name for job in listing if job.name not in jobs)
    return names, listing.unreadable


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """What differs between two declarations, field by field."""
    for name in FIELDS:
        old = None if before is None else before.get(name)
        yield from _differ(name, old, after.get(name))


def _differ(where: str, before: object, after: object) -> Iterator[FieldChange]:
    if before == after:
        return
    if where != "payload" and isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            yield from _differ(f"{where}.{name}", before.get(name), after.get(name))
        return
    yield FieldChange(field=where, before=before, after=after)
