"""Teams and jobs in the shape of the API, for answers, partial changes and the audit trail alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from fencepost.application.codec import compact
from fencepost.domain.identity import digest
from fencepost.domain.instants import optional_wire, to_wire
from fencepost.domain.model import JOB_TIERS, Detail, Job, Misfire, RetryPolicy, Team
from fencepost.domain.notification import notify_to_wire
from fencepost.domain.schedule import schedule_to_wire
from fencepost.domain.switches import Halt, shut
from fencepost.domain.targets import Target, target_to_wire

_SECOND = timedelta(seconds=1)


def seconds(duration: timedelta) -> int:
    """Whole seconds."""
    return duration // _SECOND


def job_declaration(job: Job, detail: Detail) -> dict[str, Any]:
    """What a PUT would say to get this job: defaults filled in, the payload decoded."""
    return job_settings(job) | {
        "target": target_to_wire(detail.target),
        "payload": payload_value(detail.payload),
        "description": detail.description,
    }


def job_settings(job: Job) -> dict[str, Any]:
    """The part of the declaration that the hot item holds."""
    return {
        "schedule": schedule_to_wire(job.schedule),
        "tier": job.tier.value,
        "retry": _retry(job.retry),
        "misfire": misfire_document(job.misfire),
        "overlap": job.overlap.value,
        "lease_seconds": seconds(job.long_work.lease),
        "max_run_seconds": seconds(job.long_work.max_run),
        "labels": dict(job.labels),
        "notify_on": None if job.notify_on is None else sorted(job.notify_on),
        "pause_after_dead": job.pause_after_dead,
        "delete_after_completion": job.delete_after_completion,
        "keep_newest": job.keep_newest,
    }


def job_standing(job: Job) -> dict[str, Any]:
    """What the service knows of a job besides its declaration."""
    return {
        "team": job.team,
        "name": job.name,
        "uid": job.uid,
        "revision": job.revision,
        "generation": job.generation,
        "state": job.state.value,
        "state_reason": job.state_reason,
        "paused_by": job.paused_by,
        "paused_until": optional_wire(job.paused_until),
        "created_at": optional_wire(job.created_at),
        "updated_at": optional_wire(job.updated_at),
    }


def audited_job(job: Job, detail: Detail) -> dict[str, Any]:
    """A job as the audit trail keeps it: the payload by digest and size, since it may be large."""
    payload = {"sha256": digest(detail.payload), "bytes": len(detail.payload), "detail": detail.digest}
    said = {"target": target_to_wire(detail.target), "payload": payload, "description": detail.description}
    return audited_state(job) | said


def audited_state(job: Job) -> dict[str, Any]:
    """The part of it that the hot item holds."""
    return job_settings(job) | {"generation": job.generation, "state": job.state.value} | _why(job)


def _why(job: Job) -> dict[str, Any]:
    until = optional_wire(job.paused_until)
    return compact({"state_reason": job.state_reason, "paused_by": job.paused_by, "paused_until": until})


def payload_value(payload: bytes) -> object:
    """The payload as a JSON value; None where there is none."""
    return json.loads(payload) if payload else None


def _retry(retry: RetryPolicy) -> dict[str, Any]:
    return {
        "max_attempts": retry.max_attempts,
        "initial_delay_seconds": seconds(retry.initial_delay),
        "multiplier": retry.multiplier,
        "max_delay_seconds": seconds(retry.max_delay),
    }


def misfire_document(misfire: Misfire) -> dict[str, Any]:
    """The policy in force."""
    return {
        "policy": misfire.policy.value,
        "window_seconds": seconds(misfire.window),
        "max_runs": misfire.max_runs,
    }


def team_declaration(team: Team) -> dict[str, Any]:
    """What a PUT would say to get this team, defaults filled in. Secrets are never part of it."""
    return {
        "max_concurrency": team.max_concurrency,
        "notify": notify_to_wire(team.notify),
        "notify_on": sorted(team.notify_on),
        "tiers": [tier.value for tier in team.tiers],
        "principals": list(team.principals),
        "retention_days": team.retention // timedelta(days=1),
        "max_records": team.max_records,
        "max_jobs": team.max_jobs,
        "max_daily_firings": team.max_daily_firings,
        "allowed_hosts": None if team.allowed_hosts is None else list(team.allowed_hosts),
        "hosts": {
            limit.host: {"max_parallel": limit.max_parallel, "max_per_minute": limit.max_per_minute}
            for limit in team.hosts
        },
        "delivery_role": team.delivery_role,
    }


def team_standing(team: Team, now: datetime) -> dict[str, Any]:
    """What the service knows of a team besides its declaration."""
    return {
        "name": team.name,
        "revision": team.revision,
        "paused": shut(team.halts, now) >= frozenset(JOB_TIERS),
        "paused_note": next((halt.note for halt in team.halts if halt.active(now) and halt.note), None),
        "pauses": pauses(team.halts, now),
        "external_id": team.external_id,
        "created_at": optional_wire(team.created_at),
    }


def pauses(halts: Sequence[Halt], now: datetime) -> list[dict[str, Any]]:
    """The switches that hold at `now`, by tier."""
    return [
        {
            "tier": halt.tier.value,
            "since": to_wire(halt.since),
            "until": optional_wire(halt.until),
            "by": halt.by,
            "note": halt.note,
        }
        for halt in halts
        if halt.active(now)
    ]


def target_digest(target: Target, payload: bytes, description: str) -> str:
    """The name of a detail: equal details have equal names, so that a repeated declaration writes nothing."""
    facts = {"target": target_to_wire(target), "description": description}
    return digest(canonical(facts).encode() + b"\n" + payload)[:32]


def canonical(value: Mapping[str, Any] | None) -> str:
    """JSON with one spelling per value."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
