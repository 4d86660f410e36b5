"""What answers about executions hold."""

from __future__ import annotations

from typing import Literal

from fencepost.adapters.api.answers import Out
from fencepost.adapters.api.models import Instant

ExecutionStateName = Literal[
    "QUEUED", "WAITING", "RUNNING", "RETRY_WAIT", "SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"
]


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
    """The record of one firing, or of a range of occurrences that did not run. `waited_from`: since when its first
    attempt had to wait for a slot of the team, for its turn or for a switch.
    """

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
    waited_from: Instant | None
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
