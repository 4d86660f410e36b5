"""From the domain to answers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from fencepost.application.registry.documents import (
    job_declaration,
    job_settings,
    job_standing,
    team_declaration,
    team_standing,
)
from fencepost.application.registry.records import Span
from fencepost.application.registry.unreadable import Unreadable
from fencepost.application.registry.views import Outlook
from fencepost.domain.instants import optional_wire, to_wire
from fencepost.domain.model import Attempt, Detail, Execution, Job, Team
from fencepost.domain.schedule import Schedule
from fencepost.domain.schedule.caution import warnings
from fencepost.domain.schedule.describe import describe
from fencepost.domain.schedule.preview import PreviewedOccurrence

_MS = timedelta(milliseconds=1)


def occurrences(found: Iterable[PreviewedOccurrence]) -> list[dict[str, Any]]:
    """Each in UTC and on the schedule's own wall clock."""
    return [
        {
            "at": to_wire(each.at),
            "local": each.local.isoformat(timespec="seconds"),
            "moved": None if each.moved is None else each.moved.value,
            "excluded": each.excluded,
        }
        for each in found
    ]


def job(value: Job, detail: Detail, ahead: Outlook) -> dict[str, Any]:
    """A job in full."""
    return _job(value, ahead) | job_declaration(value, detail) | in_words(value.schedule)


def job_summary(value: Job, ahead: Outlook) -> dict[str, Any]:
    """A job as lists show it."""
    return _job(value, ahead) | job_settings(value) | {"says": describe(value.schedule)}


def unreadable(value: Unreadable) -> dict[str, Any]:
    """A job that cannot be shown."""
    return {"name": value.name, "uid": value.uid, "why": value.why}


def left(value: Job) -> dict[str, Any]:
    """A job as its item alone says it, without what lies ahead."""
    return job_standing(value) | job_settings(value)


def in_words(schedule: Schedule) -> dict[str, Any]:
    """What the schedule means, and what might surprise."""
    return {"says": describe(schedule), "warnings": list(warnings(schedule))}


def _job(value: Job, ahead: Outlook) -> dict[str, Any]:
    return job_standing(value) | {"state": ahead.state.value, "next": occurrences(ahead.next)}


def team(value: Team, now: datetime) -> dict[str, Any]:
    """A team, without its secrets."""
    return team_standing(value, now) | team_declaration(value)


def execution(record: Execution, span: Span | None) -> dict[str, Any]:
    """A record; `span` counts a range."""
    lateness = record.lateness
    return {
        "id": str(record.id),
        "team": record.team,
        "job": record.job,
        "due": to_wire(record.due),
        "state": record.state.value,
        "reason": None if record.reason is None else record.reason.value,
        "note": record.note,
        "origin": record.origin.value,
        "tier": record.tier.value,
        "generation": record.generation,
        "claimed_at": to_wire(record.claimed_at),
        "waited_from": optional_wire(record.waited_from),
        "started_at": optional_wire(record.started_at),
        "ended_at": optional_wire(record.ended_at),
        "retry_at": optional_wire(record.retry_at),
        "lease_until": optional_wire(record.lease_until),
        "lateness_ms": None if lateness is None else lateness // _MS,
        "fence": record.fence,
        "coalesced": _coalesced(record, span),
        "attempts": [_attempt(each) for each in record.attempts],
        "attempts_dropped": record.attempts_dropped,
        "actor": record.actor,
    }


def _coalesced(record: Execution, span: Span | None) -> dict[str, Any] | None:
    if record.until is None or span is None:
        return None
    return {"until": to_wire(record.until), "count": span.count, "at_least": span.at_least}


def _attempt(each: Attempt) -> dict[str, Any]:
    return {
        "number": each.number,
        "fence": each.fence,
        "started_at": to_wire(each.started_at),
        "ended_at": optional_wire(each.ended_at),
        "outcome": each.outcome,
        "status": each.status,
        "error": each.error,
        "excerpt": each.excerpt,
    }


def declared(value: Job, detail: Detail) -> dict[str, Any]:
    """What a job says and where it stands, without what lies ahead."""
    return job_standing(value) | job_declaration(value, detail)
