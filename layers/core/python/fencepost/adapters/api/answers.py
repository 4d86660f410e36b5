"""What answers hold. The document is made from these, and tests hold the answers to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fencepost.adapters.api.models import (
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
ExecutionStateName = Literal[
    "QUEUED", "WAITING", "RUNNING", "RETRY_WAIT", "SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"
]


class Out(BaseModel):
    """The manners of every answer."""

    model_config = ConfigDict(extra="forbid")


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
    next: list[Occurrence]


class Job(JobSummary):
    """A job in full, with what will happen next."""

    target: Target
    payload: Payload
    description: str
    says: str = Field(description="The schedule in words.")
    warnings: list[str]


class JobSwept(Job):
    """A job after a pause or a delete, with the executions that this cancelled at once."""

    cancelled: list[str]


class JobChange(Out):
    """What a dry run found: nothing was written."""

    dry_run: Literal[True]
    before: dict[str, Any] | None
    after: dict[str, Any]
    next_before: list[Occurrence]
    next_after: list[Occurrence]
    cancels: list[str] = Field(description="Queued firings that would no longer run.")


class JobList(Out):
    """Jobs by name. `stopped_early`: the page looked at as much as it may; go on with `next`."""

    items: list[JobSummary]
    next: str | None
    stopped_early: bool


class Team(Out):
    """A team. Secrets are never shown."""

    name: str
    revision: int
    max_concurrency: int
    tiers: list[JobTier]
    max_jobs: int
    notify: Notify
    notify_on: list[str]
    principals: list[str]
    retention_days: int
    allowed_hosts: list[str] | None
    delivery_role: str | None
    external_id: str | None
    paused: bool
    paused_note: str | None
    created_at: Instant | None


class Attempt(Out):
    """One try. `outcome` is null while it runs."""

    number: int
    fence: int
    started_at: Instant
    ended_at: Instant | None
    outcome: str | None
    status: int | None
    error: str | None
    excerpt: str | None


class Coalesced(Out):
    """The occurrences that one record stands for, from `due` to `until`; `at_least` where counting stopped."""

    until: Instant
    count: int
    at_least: bool


class Execution(Out):
    """The record of one firing, or of a range of occurrences that did not run."""

    id: str
    team: str
    job: str
    due: Instant
    state: ExecutionStateName
    reason: str | None
    note: str | None
    origin: Literal["schedule", "run_now", "backfill"]
    tier: Literal["critical", "standard", "bulk", "recovery"]
    generation: int
    claimed_at: Instant
    started_at: Instant | None
    ended_at: Instant | None
    retry_at: Instant | None
    lease_until: Instant | None
    lateness_ms: int | None
    fence: int
    coalesced: Coalesced | None
    attempts: list[Attempt]
    attempts_dropped: int
    actor: str | None


class ExecutionList(Out):
    """Records, the newest instant first."""

    items: list[Execution]
    next: str | None
    stopped_early: bool


class DeadLetterList(Out):
    """Dead executions, the newest first."""

    items: list[Execution]
    next: str | None


class NotRedriven(Out):
    """A dead letter that stayed, and why."""

    id: str
    why: str


class Redriven(Out):
    """What was sent again. `more`: there are dead letters left to send."""

    redriven: list[str]
    left: list[NotRedriven]
    more: bool


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


class Preview(Out):
    """What a schedule would do."""

    schedule: Schedule
    says: str
    warnings: list[str]
    misfire: Misfire
    occurrences: list[Occurrence]


class Health(Out):
    """How the service is. `watermark_age_seconds`: the oldest minute that some shard has not yet proven empty."""

    status: Literal["ok", "starting", "late"]
    tzdata: str
    shards: int
    watermark_age_seconds: int | None
    now: Instant


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
