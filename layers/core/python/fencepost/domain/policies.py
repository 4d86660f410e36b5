"""The choices that an owner makes for a job: tier, retries, misfires, overlap, long work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class Tier(StrEnum):
    """The road that a firing travels. Jobs choose among the first three; catch-up, backfill and redrive take the last."""

    CRITICAL = "critical"
    STANDARD = "standard"
    BULK = "bulk"
    RECOVERY = "recovery"


JOB_TIERS = (Tier.CRITICAL, Tier.STANDARD, Tier.BULK)


class MisfirePolicy(StrEnum):
    """What happens to occurrences that nobody claimed within the grace after they were due."""

    RUN_ONCE_LATE = "run_once_late"
    SKIP = "skip"
    CATCH_UP = "catch_up"


class Overlap(StrEnum):
    """What happens when a firing comes due while an earlier one of the same job is not over."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"


class Origin(StrEnum):
    """Who asked for the execution."""

    SCHEDULE = "schedule"
    RUN_NOW = "run_now"
    BACKFILL = "backfill"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """At most `max_attempts` attempts, exponential delays with full jitter between them."""

    max_attempts: int = 5
    initial_delay: timedelta = timedelta(seconds=10)
    multiplier: float = 2.0
    max_delay: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """The owner's choice about missed runs: a policy, how old a missed run may be, and how many may run."""

    policy: MisfirePolicy = MisfirePolicy.RUN_ONCE_LATE
    window: timedelta = timedelta(hours=24)
    max_runs: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LongWork:
    """For targets that answer 202: how long a lease lasts between heartbeats, and how long a run may take in all."""

    lease: timedelta = timedelta(seconds=300)
    max_run: timedelta = timedelta(hours=1)
