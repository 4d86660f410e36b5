"""A team as a frozen value: what it may use of the stage, who is told, who may call, and how it sends."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fencepost.domain.manners import HostLimit
from fencepost.domain.policies import JOB_TIERS, Tier
from fencepost.domain.switches import Halt

MAX_DAILY_FIRINGS = 10_000_000
"""What a team's schedules may ask for in a day, unless an administrator says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyTargets:
    """Where a team is told about what went wrong. All that are set are told, with one id."""

    sns: str | None = None
    webhook: str | None = None
    event_bus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A tenant. `max_concurrency` is its cap on leased slots and is never unlimited.

    `halts` are its switches, and those of the stage where it was read as it stands; `shut`: the tiers in which nothing
    may start, as of when it was read so. `born`: its first revision, where a team of this name was there before.
    `leaving_since`: it is being deleted, and only what runs still knows it; `gone_at`: its name is free.
    `max_records`: about how many records it may fill; `kept_one_in`: of its successes one in so many is kept for the
    whole retention, which follows from what its jobs bring a day; `thinned_until`: when that last was more than one.
    """

    name: str
    revision: int = 1
    max_concurrency: int = 50
    notify: NotifyTargets = field(default_factory=NotifyTargets)
    notify_on: frozenset[str] = frozenset({"dead", "circuit_open"})
    tiers: tuple[Tier, ...] = JOB_TIERS
    principals: tuple[str, ...] = ()
    retention: timedelta = timedelta(days=30)
    max_records: int | None = None
    kept_one_in: int = 1
    thinned_until: datetime | None = None
    halts: tuple[Halt, ...] = ()
    shut: frozenset[Tier] = frozenset()
    max_jobs: int = 100_000
    max_daily_firings: int = MAX_DAILY_FIRINGS
    allowed_hosts: tuple[str, ...] | None = None
    hosts: tuple[HostLimit, ...] = ()
    delivery_role: str | None = None
    external_id: str | None = None
    signing_keys: tuple[SigningKey, ...] = ()
    created_at: datetime | None = None
    born: int = 1
    leaving_since: datetime | None = None
    gone_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One signing key of a team. `secret` is sealed (an envelope), never the plain key."""

    id: str
    scheme: str
    secret: str
    created_at: datetime
    public: str | None = None
