"""What a use case of delivery tells its caller: what to do with the message, and facts for metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from fencepost.domain.instants import SECOND
from fencepost.domain.model import Execution, Origin, Tier
from fencepost.domain.states import ExecutionState

NO_TEAM_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is worth measuring. `lateness` is set by the run that made the first attempt, `outcome` by an attempt,
    `waited` where it waited for its own team or job before it."""

    team: str
    tier: Tier
    state: ExecutionState
    origin: Origin
    attempt: int = 0
    outcome: str | None = None
    lateness: timedelta | None = None
    waited: bool = False
    untold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledge:
    """The message may go: whatever is left to do has another durable wake-up."""

    why: str
    facts: Facts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """The message is this execution's wake-up: let it surface again after `seconds`."""

    seconds: int
    why: str
    facts: Facts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """It took its worker down before: run it again with `alone=True` when nothing else is in flight."""

    why: str


Disposition: TypeAlias = Acknowledge | PutBack | Alone


@dataclass(frozen=True, slots=True)
class Raced:
    """Somebody else changed the record meanwhile: read and judge it anew."""

    why: str


def facts_of(record: Execution, *, outcome: str | None = None, first: bool = False) -> Facts:
    """The record's facts; `first` says that its first attempt was just made."""
    return Facts(
        team=record.team,
        tier=record.tier,
        state=record.state,
        origin=record.origin,
        attempt=record.attempt,
        outcome=outcome,
        lateness=record.lateness if first else None,
    )


def no_team(record: Execution) -> PutBack:
    """Teams are never deleted, so one that is not there has not arrived yet: nothing is decided without it."""
    return PutBack(seconds=NO_TEAM_SECONDS, why=f"there is no team {record.team}")


def whole_seconds(duration: timedelta) -> int:
    """Rounded up, at least one: what comes back too early only comes back again."""
    return max(1, -(-duration // SECOND))
