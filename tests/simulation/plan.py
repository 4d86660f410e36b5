"""A history before it happens: everything that is drawn from its seed, as plain values that can be taken away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.simulation.faults import Fault
from tests.simulation.kernel import HOUR, MINUTE

FAULTS_END = 80 * MINUTE
END = 2 * HOUR
TIERS = ("critical", "standard", "bulk")
CALENDAR = "quiet"
"""The calendar that every team has; some of its jobs leave out what it names."""

HostLimits = Mapping[str, tuple[int | None, int | None]]
"""By host: how many calls at once, and how many a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPlan:
    """A team, its cap, the hosts that it spares, and the spans of its calendar."""

    name: str
    cap: int
    notify_on: tuple[str, ...] = ("dead",)
    hosts: HostLimits = field(default_factory=dict)
    quiet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A job, when its owner declares it, and how its target behaves."""

    number: int
    team: str
    name: str
    at: int
    schedule: Mapping[str, Any]
    settings: Mapping[str, Any]
    timeout: int
    odds: Mapping[str, float]
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpPlan:
    """Something that an owner does: at an instant, or (`on`) beside the next move of that kind."""

    number: int
    at: int
    what: str
    team: str
    job: str
    on: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A stretch of time in which ticks go wrong, or in which nobody polls a queue; its `kind` is how, or which one."""

    kind: str
    begins: int
    ends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One history."""

    seed: int
    profile: str
    begin: datetime
    shards: int
    latency: tuple[int, int]
    page_size: int
    slowest: int
    skews: int
    strict: bool
    teams: tuple[TeamPlan, ...]
    jobs: tuple[JobPlan, ...]
    ops: tuple[OpPlan, ...]
    faults: tuple[Fault, ...]
    troubles: tuple[Trouble, ...]
    odds: Mapping[str, float]
    deaf: float
    zones_at: int | None = None
    """When a newer release of the time-zone database is deployed."""
    asleep: tuple[Trouble, ...] = ()
    """When nobody polls which queue."""
    sweeps: tuple[int, ...] = ()
    """When the second net looks through everything."""
    asks: int = 3
    """How often an owner asks who gets no good answer."""
    lanes: int = 8
    whole: bool = True
    """Nothing was taken away: it is to have as many firings as a history needs."""
    ends: int = END
    faults_end: int = FAULTS_END
