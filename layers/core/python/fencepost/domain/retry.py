"""When a failed attempt is tried again, and when it is not: exponential delays with full jitter, within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.instants import ZERO, floor_ms
from fencepost.domain.model import RetryPolicy
from fencepost.domain.outcome import Failed, Outcome, Refused
from fencepost.domain.states import Reason


@dataclass(frozen=True, slots=True)
class Again:
    """The next attempt may begin at `at`."""

    at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Never:
    """No further attempt: the execution is dead, for `reason`."""

    reason: Reason
    why: str


def longest_delay(policy: RetryPolicy, attempt: int) -> timedelta:
    """The exponential bound on the delay after attempt number `attempt` (from 1), at most the policy's maximum."""
    try:
        grown = policy.initial_delay * policy.multiplier ** max(0, attempt - 1)
    except OverflowError:
        return policy.max_delay
    return min(max(grown, ZERO), policy.max_delay)


def backoff(policy: RetryPolicy, attempt: int, fraction: float) -> timedelta:
    """Full jitter: `fraction` (in [0, 1)) of the bound, so that those who failed together do not return together."""
    return longest_delay(policy, attempt) * fraction


def after_failure(
    policy: RetryPolicy,
    attempt: int,
    outcome: Outcome,
    *,
    now: datetime,
    fraction: float,
    not_before: datetime | None = None,
) -> Again | Never:
    """What follows attempt number `attempt` (counted since the record was last queued) that ended in `outcome`.

    A refusal is final at once. A target's wish (Retry-After) and `not_before` put the next attempt off, never forward.
    """
    if isinstance(outcome, Refused):
        return Never(Reason.REFUSED, "the target said never")
    if attempt >= policy.max_attempts:
        return Never(Reason.BUDGET_SPENT, f"{attempt} of {policy.max_attempts} attempts were used")
    wish = outcome.retry_after if isinstance(outcome, Failed) else None
    delay = max(backoff(policy, attempt, fraction), wish or ZERO)
    at = floor_ms(now + delay)
    return Again(at if not_before is None else max(at, not_before), f"attempt {attempt} ended {outcome.kind}")
