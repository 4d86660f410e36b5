"""What the service answers, as values. Times are aware UTC datetimes; `raw` of each is the JSON as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fencepost.client.decoding import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence(Result):
    """An instant, and the same on the schedule's wall clock. `moved`: `gap` or `overlap` where a change of that clock
    touches it; `excluded`: the calendar that keeps it from running.
    """

    at: datetime
    local: str
    moved: str | None = None
    excluded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Result):
    """A job. Lists leave out `target`, `payload`, `description`, `says` and `warnings`. `cancelled`: the executions that
    a pause or a delete cancelled.
    """

    team: str
    name: str
    uid: str
    revision: int
    generation: int
    state: str
    schedule: Mapping[str, Any]
    tier: str
    overlap: str
    retry: Mapping[str, Any]
    misfire: Mapping[str, Any]
    labels: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    next: tuple[Occurrence, ...]
    state_reason: str | None = None
    paused_by: str | None = None
    paused_until: datetime | None = None
    target: Mapping[str, Any] | None = None
    payload: Any = None
    description: str = ""
    says: str = ""
    warnings: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableJob(Result):
    """A job that is there and that nobody can read: a put replaces it, a delete removes it."""

    name: str
    uid: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange(Result):
    """What a write would change; nothing was written. `cancels`: queued executions that would no longer run."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    next_before: tuple[Occurrence, ...]
    next_after: tuple[Occurrence, ...]
    cancels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Team(Result):
    """A team. Secrets are never shown."""

    name: str
    revision: int
    max_concurrency: int
    tiers: tuple[str, ...]
    max_jobs: int
    notify: Mapping[str, Any]
    notify_on: tuple[str, ...]
    principals: tuple[str, ...]
    retention_days: int
    max_records: int | None = None
    allowed_hosts: tuple[str, ...] | None = None
    delivery_role: str | None = None
    external_id: str | None = None
    paused: bool = False
    paused_note: str | None = None
    pauses: tuple[Mapping[str, Any], ...] = ()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Result):
    """One try. `outcome` is None while it runs."""

    number: int
    fence: int
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = None
    status: int | None = None
    error: str | None = None
    excerpt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coalesced(Result):
    """The occurrences that one record stands for, up to `until`; `at_least` where counting stopped."""

    until: datetime
    count: int
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Result):
    """The record of one firing, or of a range of occurrences that did not run."""

    id: str
    team: str
    job: str
    due: datetime
    state: str
    origin: str
    claimed_at: datetime
    waited_from: datetime | None = None
    fence: int
    attempts: tuple[Attempt, ...]
    tier: str = ""
    generation: int = 0
    reason: str | None = None
    note: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    lease_until: datetime | None = None
    lateness_ms: int | None = None
    coalesced: Coalesced | None = None
    attempts_dropped: int = 0
    actor: str | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more is expected to happen to it."""
        return self.state in FINAL_STATES


FINAL_STATES = frozenset({"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRedriven(Result):
    """A dead letter that stayed, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redriven(Result):
    """What was sent again, what was not; `more`: there are dead letters left to send."""

    redriven: tuple[str, ...]
    left: tuple[NotRedriven, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(Result):
    """One change of a job or a team: who, when, from what to what."""

    revision: int
    what: str
    actor: str
    at: datetime
    source: str = ""
    note: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Result):
    """What a schedule would do."""

    schedule: Mapping[str, Any]
    says: str
    occurrences: tuple[Occurrence, ...]
    misfire: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Result):
    """How the service is. `watermark_age_seconds`: the oldest minute that some shard has not yet proven empty. `trouble`:
    why the store refuses writes, where `status` is `failing`.
    """

    status: str
    tzdata: str
    now: datetime
    shards: int = 0
    watermark_age_seconds: int | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Result):
    """A limit, and what is used of it; None where use makes no sense."""

    limit: int
    used: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Result):
    """A team's limits."""

    max_jobs: Limit
    max_daily_firings: Limit
    max_concurrency: Limit
    payload_bytes: Limit
    tiers: tuple[str, ...]
