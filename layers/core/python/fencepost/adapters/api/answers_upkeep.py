"""What answers about backfills, switches and the stage hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fencepost.adapters.api.answers import Out, Pause, Team
from fencepost.adapters.api.models import Instant


class Counts(Out):
    """Executions by state. `at_least`: counting stopped before the end."""

    queued: int
    waiting: int
    running: int
    retry_wait: int
    succeeded: int
    dead: int
    skipped: int
    cancelled: int
    at_least: bool


class Backfill(Out):
    """Past occurrences on their way again. `released`: executions made so far; `left_out`: instants that needed none;
    `reached`: the last instant that was looked at.
    """

    id: str
    team: str
    job: str
    uid: str
    state: Literal["EXPANDING", "EXPANDED", "CANCELLED"]
    from_: Instant = Field(alias="from")
    to: Instant
    rate: int
    overlap: Literal["allow", "skip", "queue"]
    force: bool
    note: str | None
    asked_at: Instant
    asked_by: str
    reached: Instant | None
    released: int
    left_out: int
    ended_at: Instant | None
    ended_by: str | None
    why: str | None


class BackfillWithCounts(Backfill):
    """A backfill, and what became of its executions so far."""

    executions: Counts


class Recovered(Out):
    """What a share of a recovery came to. `retired`: executions that had not ended in the copy, and have in the ledger
    that it replaces; `brought`: other records of that ledger; `woken`: unfinished executions that were given a wake-up;
    `planted`: jobs that were given a timer. `finished` is false where time ran out: ask for smaller shares.
    """

    retired: int
    brought: int
    woken: int
    planted: int
    jobs: int
    unfinished: int
    unreadable: list[str]
    finished: bool


class BackfillList(Out):
    """A job's backfills, the last one asked for first."""

    items: list[Backfill]
    next: str | None


class TeamList(Out):
    """Teams by name. `stopped_early`: the page looked at as much as it may; go on with `next`. `unreadable`: the names of
    those that nobody can read; an administrator's PUT replaces them.
    """

    items: list[Team]
    unreadable: list[str]
    next: str | None
    stopped_early: bool


class TeamDeparture(Out):
    """A team on its way out. Its name is free some minutes after the last of its jobs is gone and nothing of it runs;
    until then the same call says how far it is (`jobs_left` counts to 1,000).
    """

    name: str
    leaving_since: Instant
    jobs_left: int


class Stage(Out):
    """The stage's own switches. `paused`: nothing that jobs' tiers carry starts."""

    revision: int
    paused: bool
    pauses: list[Pause]
