"""Whole teams over HTTP: outcomes of many jobs, the coming day, the backlog; and what one execution sends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fencepost.adapters.api import executions, render
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import following, position
from fencepost.adapters.api.problems import missing
from fencepost.application.registry import queue
from fencepost.application.registry.documents import payload_value
from fencepost.application.registry.forecast import forecast as forecast_of
from fencepost.application.registry.outcomes import MAX_JOBS, newest_outcomes
from fencepost.application.registry.sent import sent as sent_by
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import to_wire
from fencepost.domain.model import Execution, Job
from fencepost.domain.targets import target_to_wire

DEFAULT_EACH = 20
_MS = timedelta(milliseconds=1)


def outcomes(request: Request) -> Answer:
    """The newest occurrences of up to 50 jobs, those that are due."""
    uids = [str(uid) for uid in request.query.get("uid", [])]  # type: ignore[attr-defined]  # read by its parameter
    if len(uids) > MAX_JOBS:
        raise Faults([Fault(field="uid", value=len(uids), rule=f"must be given at most {MAX_JOBS} times")])
    each = int(str(request.query.get("last", DEFAULT_EACH)))
    found = newest_outcomes(request.services.store, request.team, uids, each, request.now)
    items = [{"uid": uid, "outcomes": [_outcome(record) for record in found[uid]]} for uid in found]
    return Answer(body={"items": items})


def forecast(request: Request) -> Answer:
    """The next 24 hours of a page of the team's jobs, and how these jobs are."""
    found = forecast_of(request.services.store, request.team, request.now, position(request))
    body = {
        "start": to_wire(found.start),
        "minutes": list(found.minutes),
        "states": {state.value: count for state, count in sorted(found.states.items())},
        "troubled": [_troubled(job) for job in found.troubled],
        "unreadable": [render.unreadable(each) for each in found.unreadable],
        "next": following(request, found.after),
    }
    return Answer(body=body)


def backlog(request: Request) -> Answer:
    """Who waits now."""
    lines = queue.waiting_lines(request.services.store, request.team)
    return Answer(body={"items": [_line(line) for line in lines]})


def sent(request: Request) -> Answer:
    """Target and payload of an execution's attempts."""
    record = executions.find(request)
    found = None if record is None else sent_by(request.services.store, record)
    if found is None:
        return missing("request of an execution", request.path["id"])
    target, payload = target_to_wire(found.detail.target), payload_value(found.detail.payload)
    return Answer(body={"pinned": found.pinned, "target": target, "payload": payload})


def _outcome(record: Execution) -> dict[str, Any]:
    lateness = record.lateness
    return {
        "id": str(record.id),
        "due": to_wire(record.due),
        "state": record.state.value,
        "reason": None if record.reason is None else record.reason.value,
        "lateness_ms": None if lateness is None else lateness // _MS,
        "attempts": len(record.attempts) + record.attempts_dropped,
    }


def _troubled(job: Job) -> dict[str, Any]:
    return {
        "name": job.name,
        "uid": job.uid,
        "state": job.state.value,
        "state_reason": job.state_reason,
        "paused_by": job.paused_by,
    }


def _line(line: queue.Line) -> dict[str, Any]:
    return {
        "tier": None if line.tier is None else line.tier.value,
        "held": line.held,
        "count": line.count,
        "at_least": line.at_least,
        "oldest_due": to_wire(line.oldest),
    }
