"""The nouns of Fencepost as frozen values: team, job, timer, execution. They hold facts and decide nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fencepost.domain.instants import floor_minute
from fencepost.domain.policies import (
    JOB_TIERS,
    LongWork,
    Misfire,
    MisfirePolicy,
    Origin,
    Overlap,
    RetryPolicy,
    Tier,
)
from fencepost.domain.states import FINAL, ExecutionState, JobState, Reason
from fencepost.domain.teams import MAX_DAILY_FIRINGS, NotifyTargets, SigningKey, Team

if TYPE_CHECKING:
    from fencepost.domain.identity import ExecutionId
    from fencepost.domain.manners import HostWait
    from fencepost.domain.schedule import Schedule
    from fencepost.domain.targets import Target

__all__ = [
    "JOB_TIERS",
    "MAX_DAILY_FIRINGS",
    "Attempt",
    "Bucket",
    "Caller",
    "Detail",
    "EndedGeneration",
    "Execution",
    "Job",
    "LongWork",
    "Misfire",
    "MisfirePolicy",
    "NotifyTargets",
    "Origin",
    "Overlap",
    "RetryPolicy",
    "SigningKey",
    "Team",
    "Tier",
    "Timer",
    "TimerKind",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The standing order, as the hot item holds it (at most 1 KB; the rest is `Detail`, by digest).

    `ended_until` is the instant at which the generation before this one ended: of that generation, occurrences due
    at or before it stand, later ones are superseded. `ended_by` says what ended it. `begins_with`: this generation's
    first occurrence, where it is not simply the next one after `ended_until` (a time-zone refresh). `timers_until`: no
    timer of an earlier generation lies later than that. `keep_newest`: of its successes only so many are kept beyond
    two days; None: all, for as long as the team keeps records.
    """

    team: str
    name: str
    uid: str
    revision: int
    generation: int
    state: JobState
    schedule: Schedule
    detail: str
    tier: Tier = Tier.STANDARD
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    misfire: Misfire = field(default_factory=Misfire)
    overlap: Overlap = Overlap.ALLOW
    long_work: LongWork = field(default_factory=LongWork)
    exhausted: bool = False
    ended_until: datetime | None = None
    ended_by: Reason | None = None
    begins_with: datetime | None = None
    timers_until: datetime | None = None
    state_reason: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    notify_on: frozenset[str] | None = None
    paused_by: str | None = None
    paused_until: datetime | None = None
    pause_after_dead: int | None = None
    dead_in_row: int = 0
    delete_after_completion: bool = False
    keep_newest: int | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a firing sends and where: immutable, stored once under its digest."""

    digest: str
    target: Target
    payload: bytes
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedGeneration:
    """How a job's earlier generation decided, and until when: enough to claim what was due under it (protocol B3)."""

    uid: str
    generation: int
    until: datetime
    ended_by: Reason
    schedule: Schedule
    misfire: Misfire
    overlap: Overlap
    tier: Tier


class TimerKind(StrEnum):
    """`fire` makes an execution; `retry` and `watch` wake an existing one."""

    FIRE = "F"
    RETRY = "R"
    WATCH = "W"


@dataclass(frozen=True, slots=True, order=True)
class Bucket:
    """One UTC minute of one shard."""

    minute: datetime
    shard: int

    @classmethod
    def at(cls, instant: datetime, shard: int) -> Bucket:
        """The bucket in which a wake-up for `instant` lies."""
        return cls(floor_minute(instant), shard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A durable wake-up. The same key always means the same content (protocol B1), so deleting by key is safe.

    `instant` is the nominal instant of a `fire` timer and the wake-up instant of the others; `due` is the effective
    instant; `offset` is the zone's offset from UTC at `instant`, in seconds, by the rules of `tzdata`. `sequence` is the generation of a `fire` timer, the attempt of a `retry`, the fence of a `watch`.
    `catch_up_until`: links of a catch-up chain up to this instant carry the first link's decision; `not_before`:
    the instant to which recovery put the release off.
    """

    bucket: Bucket
    kind: TimerKind
    instant: datetime
    uid: str
    sequence: int
    due: datetime
    team: str = ""
    tier: Tier = Tier.STANDARD
    execution: ExecutionId | None = None
    ordinal: int = 1
    tzdata: str = ""
    offset: int = 0
    catch_up_until: datetime | None = None
    not_before: datetime | None = None

    @property
    def generation(self) -> int:
        """The generation of the job that planted a `fire` timer."""
        return self.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try. `outcome` is a word of `domain.outcome`, or `worker_lost`; None while it runs."""

    number: int
    fence: int
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = None
    status: int | None = None
    error: str | None = None
    excerpt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The record of one firing, or of a range of occurrences that did not run (`until` set).

    `attempt` counts attempts begun since the record was last queued (a redrive starts it anew); `attempts` keeps the
    newest, `attempts_dropped` counts those no longer kept. `ordinal` is which firing it is, and `offset` the seconds that
    its clock is ahead of UTC, both by the schedule of the generation that planted its successor. `told` is true once a
    dead letter's message was accepted by the dead-letter queue; `slot` names the slot that the current lease holds;
    `lane` where it waits while `WAITING`, `waited_from` since when its first attempt had to wait for a slot, a turn or a
    switch; `host_wait` since when its host's limits keep it; `watch` the fence that a planted `watch` timer judges;
    `hint` the digest that the job named at the claim, for reading ahead until a lease pins one.
    """

    id: ExecutionId
    team: str
    job: str
    state: ExecutionState
    origin: Origin
    tier: Tier
    due: datetime
    generation: int
    planted_generation: int
    reason: Reason | None = None
    note: str | None = None
    until: datetime | None = None
    not_before: datetime | None = None
    ordinal: int = 1
    tzdata: str = ""
    offset: int = 0
    claim_id: str = ""
    claimed_at: datetime
    fence: int = 0
    lease_until: datetime | None = None
    run_until: datetime | None = None
    attempt: int = 0
    attempts: tuple[Attempt, ...] = ()
    attempts_dropped: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    host_wait: HostWait | None = None
    detail: str | None = None
    hint: str | None = None
    slot: str | None = None
    lane: str | None = None
    waited_from: datetime | None = None
    watch: int | None = None
    losses: int = 0
    replants: int = 0
    told: bool = False
    overlap: Overlap = Overlap.ALLOW
    actor: str | None = None
    expires_at: datetime | None = None

    @property
    def final(self) -> bool:
        """No move leads on, but for redrive and adoption."""
        return self.state in FINAL

    @property
    def next_ordinal(self) -> int:
        """Which firing follows by the same count: what did not run is none."""
        return self.ordinal + (self.state not in {ExecutionState.SKIPPED, ExecutionState.CANCELLED})

    @property
    def wake_at(self) -> datetime:
        """The earliest instant at which this record may be acted on."""
        if self.state is ExecutionState.RETRY_WAIT and self.retry_at is not None:
            return self.retry_at
        return max(self.due, self.not_before or self.due)

    @property
    def lateness(self) -> timedelta | None:
        """From due to the start of the first attempt; None before that."""
        return None if self.started_at is None else self.started_at - self.due


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: the account and role of a signed call, never a session name. `admin` administers the stage."""

    principal: str
    admin: bool = False
    source: str = "api"
