"""What answers for those who look at a whole team hold."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.adapters.api.answers import Out, State, UnreadableJob
from fencepost.adapters.api.answers_work import ExecutionStateName
from fencepost.adapters.api.models import Instant, Payload, Target


class Outcome(Out):
    """What became of one occurrence, in short."""

    id: str
    due: Instant
    state: ExecutionStateName
    reason: str | None
    lateness_ms: int | None
    attempts: int


class JobOutcomes(Out):
    """A job's newest occurrences, the newest first."""

    uid: str
    outcomes: list[Outcome]


class Outcomes(Out):
    """One entry per job that was asked for."""

    items: list[JobOutcomes]


class Troubled(Out):
    """A job that the service stopped, and why."""

    name: str
    uid: str
    state: State
    state_reason: str | None
    paused_by: str | None


class Forecast(Out):
    """A page of a team's jobs, counted; pages add up. `minutes`: firings in each of the 1,440 minutes from `start` on."""

    start: Instant
    minutes: Annotated[list[int], Field(min_length=1440, max_length=1440)]
    states: dict[State, int]
    troubled: list[Troubled]
    unreadable: list[UnreadableJob]
    next: str | None


class Line(Out):
    """Executions that wait for the same. `tier` null: for an earlier firing of their own job; `held`: for a switch,
    otherwise for a slot. `at_least`: counting stopped.
    """

    tier: Literal["critical", "standard", "bulk", "recovery"] | None
    held: bool
    count: int
    at_least: bool
    oldest_due: Instant


class Backlog(Out):
    """The lines in which somebody waits."""

    items: list[Line]


class Sent(Out):
    """What an execution's attempts send. `pinned`: the first attempt settled it; else it is what the job says now."""

    pinned: bool
    target: Target
    payload: Payload
