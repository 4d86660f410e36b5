"""What a caller declares a job to be: as a draft, which may be faulty, and as a specification, which is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from fencepost.domain.delivery import rendered_size
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.model import LongWork, Misfire, MisfirePolicy, Overlap, RetryPolicy, Team, Tier
from fencepost.domain.schedule import Calendar, Schedule, parse_schedule
from fencepost.domain.targets import Target, parse_target

MAX_PAYLOAD = 256 * 1024

MISFIRE_DEFAULTS = {
    MisfirePolicy.RUN_ONCE_LATE: Misfire(),
    MisfirePolicy.SKIP: Misfire(policy=MisfirePolicy.SKIP),
    MisfirePolicy.CATCH_UP: Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=1000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a job says besides when, where to and what."""

    tier: Tier = Tier.STANDARD
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    misfire: Misfire = field(default_factory=Misfire)
    overlap: Overlap = Overlap.ALLOW
    long_work: LongWork = field(default_factory=LongWork)
    description: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    notify_on: frozenset[str] | None = None
    pause_after_dead: int | None = None
    delete_after_completion: bool = False
    keep_newest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDraft:
    """A declaration as it came in. `schedule` and `target` are still raw: their meaning depends on the instant, on
    the schedule so far and on the team. `faults` are those found already.
    """

    schedule: object
    target: object
    payload: bytes = b""
    settings: Settings = field(default_factory=Settings)
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """A declaration without a fault."""

    schedule: Schedule
    target: Target
    payload: bytes
    settings: Settings


def specify(
    draft: JobDraft,
    *,
    now: datetime,
    previous: Schedule | None,
    team: Team,
    egress: EgressPolicy,
    calendars: Mapping[str, Calendar] | None = None,
) -> JobSpec:
    """The specification of `draft` as of `now`. Raises Faults with every fault, those of the draft included.

    `calendars` are the team's; without them names of calendars are not judged.
    """
    faults = [*draft.faults, *payload_faults(draft.payload), *_tier_faults(draft.settings, team)]
    schedule = read_schedule(draft.schedule, now=now, previous=previous, faults=faults, calendars=calendars)
    target = _read_target(draft.target, replace(egress, allowed_hosts=team.allowed_hosts), faults)
    if faults or schedule is None or target is None:
        raise Faults(once(faults))
    return JobSpec(schedule=schedule, target=target, payload=draft.payload, settings=draft.settings)


def once(faults: list[Fault]) -> tuple[Fault, ...]:
    """Each fault once, in the order found."""
    return tuple(dict.fromkeys(faults))


def read_schedule(
    raw: object,
    *,
    now: datetime,
    previous: Schedule | None,
    faults: list[Fault],
    calendars: Mapping[str, Calendar] | None = None,
) -> Schedule | None:
    """The schedule, or None with its faults added to `faults`. Names of calendars are judged by `calendars`, if given."""
    if not isinstance(raw, Mapping):
        faults.append(Fault(field="schedule", value=raw, rule="is required and must be an object"))
        return None
    try:
        return parse_schedule(raw, now=now, previous=previous, calendars=calendars)
    except Faults as refused:
        faults.extend(refused.faults)
        return None


def _read_target(raw: object, policy: EgressPolicy, faults: list[Fault]) -> Target | None:
    try:
        return parse_target(raw, policy)
    except Faults as refused:
        faults.extend(refused.faults)
        return None


def payload_faults(payload: bytes) -> tuple[Fault, ...]:
    """The limit holds for what is sent, with placeholders filled in."""
    size = rendered_size(payload)
    if size <= MAX_PAYLOAD:
        return ()
    rule = f"must be at most {MAX_PAYLOAD:,} bytes of JSON; this has {size:,}"
    return (Fault(field="payload", value=f"{size} bytes", rule=rule),)


def _tier_faults(settings: Settings, team: Team) -> tuple[Fault, ...]:
    if settings.tier in team.tiers:
        return ()
    rule = f"is not among the team's tiers: {', '.join(team.tiers)}"
    return (Fault(field="tier", value=settings.tier.value, rule=rule),)
