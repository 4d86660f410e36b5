"""What answers hold. The document is made from these, and tests hold the answers to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fencepost.adapters.api.models import (
    HostBody,
    Instant,
    JobTier,
    Labels,
    Notify,
    Payload,
    RetryBody,
    Schedule,
    Target,
)

State = Literal["ACTIVE", "PAUSED", "COMPLETED", "ERROR", "DELETED"]


class Out(BaseModel):
    """The manners of every answer."""

    model_config = ConfigDict(extra="forbid")


class Fault(Out):
    """One broken rule."""

    field: str
    value: Annotated[Any, Field(description="What was found there, cut short.")]
    rule: str
    suggestion: str | None


class Problem(Out):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    faults: list[Fault]


class Occurrence(Out):
    """An instant in UTC and on the schedule's own wall clock. `moved`: a change of that clock touches it."""

    at: Instant
    local: Instant
    moved: Literal["gap", "overlap"] | None
    excluded: str | None


class Misfire(Out):
    """The policy in force, defaults filled in."""

    policy: Literal["run_once_late", "skip", "catch_up"]
    window_seconds: int
    max_runs: int


class JobSummary(Out):
    """A job as lists show it: without target and payload."""

    team: str
    name: str
    uid: str
    revision: int
    generation: int
    state: State
    state_reason: str | None
    paused_by: str | None
    paused_until: Instant | None
    created_at: Instant
    updated_at: Instant
    schedule: Schedule
    says: str = Field(description="The schedule in words.")
    tier: JobTier
    retry: RetryBody
    misfire: Misfire
    overlap: Literal["allow", "skip", "queue"]
    lease_seconds: int
    max_run_seconds: int
    labels: Labels
    notify_on: list[str] | None
    pause_after_dead: int | None
    delete_after_completion: bool
    keep_newest: int | None
    next: list[Occurrence]


class Job(JobSummary):
    """A job in full, with what will happen next."""

    target: Target
    payload: Payload
    description: str
    warnings: list[str]


class JobSwept(Job):
    """A job after a pause or a delete, with the executions that this cancelled at once."""

    cancelled: list[str]


class JobGone(JobSummary):
    """A job that was deleted or paused though it cannot be read in full: what is left of it, and why that is not all."""

    cancelled: list[str]
    unreadable: str


class JobChange(Out):
    """What a dry run found: nothing was written."""

    dry_run: Literal[True]
    before: dict[str, Any] | None
    after: dict[str, Any]
    next_before: list[Occurrence]
    next_after: list[Occurrence]
    cancels: list[str] = Field(description="Queued firings that would no longer run.")


class BulkResult(Out):
    """What became of one item: the status and problem that the same call by itself would have had."""

    name: str
    action: Literal["put", "delete"]
    status: int
    revision: int | None
    uid: str | None
    problem: Problem | None


class BulkResults(Out):
    """One result per item, in order."""

    results: list[BulkResult]


class UnreadableJob(Out):
    """A job that is there and that nobody can read: PUT replaces it, DELETE removes it."""

    name: str
    uid: str
    why: str


class JobList(Out):
    """Jobs by name. `stopped_early`: the page looked at as much as it may; go on with `next`. `unreadable`: those among
    the names that cannot be shown, nor held to any filter but the prefix.
    """

    items: list[JobSummary]
    unreadable: list[UnreadableJob]
    next: str | None
    stopped_early: bool


class Pause(Out):
    """A switch that holds: nothing of this tier starts until it ends (null: until it is resumed)."""

    tier: Literal["critical", "standard", "bulk", "recovery"]
    since: Instant
    until: Instant | None
    by: str
    note: str | None


class Team(Out):
    """A team. Secrets are never shown. `paused`: all tiers of its jobs are."""

    name: str
    revision: int
    max_concurrency: int
    tiers: list[JobTier]
    max_jobs: int
    max_daily_firings: int
    notify: Notify
    notify_on: list[str]
    principals: list[str]
    retention_days: int
    max_records: int | None
    allowed_hosts: list[str] | None
    hosts: dict[str, HostBody]
    delivery_role: str | None
    external_id: str | None
    paused: bool
    paused_note: str | None
    pauses: list[Pause]
    created_at: Instant | None


class Limit(Out):
    """A limit and what is used of it; null where use makes no sense."""

    limit: int
    used: int | None


class Limits(Out):
    """A team's limits."""

    max_jobs: Limit
    max_daily_firings: Limit
    max_concurrency: Limit
    payload_bytes: Limit
    tiers: list[JobTier]


class Revision(Out):
    """One change: who, when, from what to what."""

    revision: int
    what: str
    actor: str
    source: str
    at: Instant
    note: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class RevisionList(Out):
    """Changes, the newest first."""

    items: list[Revision]
    next: str | None


class RevisionPage(RevisionList):
    """`stopped_early`: the page looked at as much as it may; go on with `next`."""

    stopped_early: bool


class Preview(Out):
    """What a schedule would do."""

    schedule: Schedule
    says: str
    warnings: list[str]
    misfire: Misfire
    occurrences: list[Occurrence]


class Health(Out):
    """How the service is. `watermark_age_seconds`: the oldest minute that some shard has not yet proven empty.
    `tzdata_age_days`: since the time-zone rules in use came out. `failing`: the store refuses writes, and `trouble` says
    why; only a service on one's own machine looks.
    """

    status: Literal["ok", "starting", "late", "failing"]
    trouble: str | None
    tzdata: str
    tzdata_age_days: int | None
    shards: int
    watermark_age_seconds: int | None
    now: Instant
