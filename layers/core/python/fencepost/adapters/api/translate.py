"""From request bodies to what use cases take; what is wrong with a body's shape travels along as faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.api.merging import merged
from fencepost.adapters.api.models import HostBody, JobBody, MisfireBody, TeamBody
from fencepost.adapters.api.reading import compact_json, shaped
from fencepost.application.registry.documents import job_declaration, team_declaration
from fencepost.application.registry.drafts import MISFIRE_DEFAULTS, JobDraft, Settings
from fencepost.application.registry.job_changes import Current
from fencepost.application.registry.teams import TeamDraft
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.manners import HostLimit
from fencepost.domain.model import LongWork, Misfire, MisfirePolicy, Overlap, RetryPolicy, Team, Tier
from fencepost.domain.schedule import parse_schedule, schedule_to_wire


def job_draft(raw: Mapping[str, Any]) -> JobDraft:
    """A declaration as a draft. It never raises: a faulty one carries its faults to those that the domain finds."""
    payload = b"" if raw.get("payload") is None else compact_json(raw["payload"])
    schedule, target = raw.get("schedule"), raw.get("target")
    faults: list[Fault] = []
    body = shaped(JobBody, raw, faults, domain={"schedule", "target"})
    if body is None:
        return JobDraft(schedule=schedule, target=target, payload=payload, faults=tuple(faults))
    return JobDraft(
        schedule=schedule,
        target=target,
        payload=payload,
        settings=_settings(body),
        faults=(*_across(body), *misfire_faults(body.misfire)),
    )


def patched_draft(current: Current, patch: Mapping[str, Any]) -> JobDraft:
    """The job as it is, with what the patch names changed."""
    return job_draft(merged(job_declaration(current.job, current.detail), patch))


def settled_delay(raw: Mapping[str, Any], accepted_at: datetime) -> Mapping[str, Any]:
    """`raw` with a delay turned into the instant that it meant when the request was first accepted."""
    schedule = raw.get("schedule")
    if not isinstance(schedule, Mapping) or "in" not in schedule:
        return raw
    try:
        meant = parse_schedule(schedule, now=accepted_at)
    except Faults:
        return raw  # the use case finds the same faults and tells them with the others
    return {**raw, "schedule": schedule_to_wire(meant)}


def misfire(body: MisfireBody) -> Misfire:
    """The policy with its own defaults where the body says nothing."""
    default = MISFIRE_DEFAULTS[MisfirePolicy(body.policy)]
    window = default.window if body.window_seconds is None else timedelta(seconds=body.window_seconds)
    return replace(default, window=window, max_runs=body.max_runs or default.max_runs)


def misfire_faults(body: MisfireBody) -> tuple[Fault, ...]:
    """One late run is one run: a cap on it would be ignored."""
    if body.policy == "catch_up" or body.max_runs in {None, 1}:
        return ()
    rule = f"must be 1 under {body.policy}; only catch_up runs several"
    return (Fault(field="misfire.max_runs", value=body.max_runs, rule=rule, suggestion="1"),)


def team_draft(raw: Mapping[str, Any]) -> TeamDraft:
    """A declaration of a team as a draft; the name is the path's."""
    notify = raw.get("notify", {})
    faults: list[Fault] = []
    body = shaped(TeamBody, raw, faults, domain={"notify"})
    if body is None:
        return TeamDraft(team=Team(name=""), notify=notify, faults=tuple(faults))
    team = Team(
        name="",
        max_concurrency=body.max_concurrency,
        notify_on=frozenset(body.notify_on),
        tiers=tuple(tier for tier in Tier if tier.value in body.tiers),
        principals=tuple(dict.fromkeys(body.principals)),
        retention=timedelta(days=body.retention_days),
        max_records=body.max_records,
        max_jobs=body.max_jobs,
        max_daily_firings=body.max_daily_firings,
        allowed_hosts=None if body.allowed_hosts is None else tuple(body.allowed_hosts),
        hosts=tuple(_host_limit(host, body.hosts[host]) for host in sorted(body.hosts)),
        delivery_role=body.delivery_role,
    )
    return TeamDraft(team=team, notify=notify)


def _host_limit(host: str, body: HostBody) -> HostLimit:
    return HostLimit(host=host, max_parallel=body.max_parallel, max_per_minute=body.max_per_minute)


def patched_team(team: Team, patch: Mapping[str, Any]) -> TeamDraft:
    """The team as it is, with what the patch names changed."""
    return team_draft(merged(team_declaration(team), patch))


def _settings(body: JobBody) -> Settings:
    return Settings(
        tier=Tier(body.tier),
        retry=RetryPolicy(
            max_attempts=body.retry.max_attempts,
            initial_delay=timedelta(seconds=body.retry.initial_delay_seconds),
            multiplier=float(body.retry.multiplier),
            max_delay=timedelta(seconds=body.retry.max_delay_seconds),
        ),
        misfire=misfire(body.misfire),
        overlap=Overlap(body.overlap),
        long_work=LongWork(
            lease=timedelta(seconds=body.lease_seconds), max_run=timedelta(seconds=body.max_run_seconds)
        ),
        description=body.description,
        labels=tuple(sorted(body.labels.items())),
        notify_on=None if body.notify_on is None else frozenset(body.notify_on),
        pause_after_dead=body.pause_after_dead,
        delete_after_completion=body.delete_after_completion,
        keep_newest=body.keep_newest,
    )


def _across(body: JobBody) -> tuple[Fault, ...]:
    """What only two fields together can be blamed for."""
    faults = []
    if body.retry.max_delay_seconds < body.retry.initial_delay_seconds:
        value = body.retry.max_delay_seconds
        rule = "must not be less than initial_delay_seconds"
        faults.append(Fault(field="retry.max_delay_seconds", value=value, rule=rule))
    if body.max_run_seconds < body.lease_seconds:
        rule = "must not be less than lease_seconds"
        faults.append(Fault(field="max_run_seconds", value=body.max_run_seconds, rule=rule))
    return tuple(faults)
