"""Audits over HTTP: the ledger held to what should have happened, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.api import render
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import following, position
from fencepost.adapters.api.problems import missing
from fencepost.application.auditing.audit import Window
from fencepost.application.auditing.teams import Place, TeamAudit, audit_one, audit_team
from fencepost.application.registry.locate import locate
from fencepost.domain.auditing.findings import Finding
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import optional_wire, to_wire
from fencepost.domain.model import Job

USUAL = timedelta(hours=24)
PATIENCE = timedelta(seconds=5)
"""How long a page may take before it takes up no other job: whoever waits for an answer gives up after half a minute, and
asks again while this one is still at work."""


def audit(request: Request) -> Answer:
    """A team, or one of its jobs, between two instants."""
    window, place = _window(request), _place(request)
    store, word = request.services.store, request.query.get("job")
    if word is None:
        found = audit_team(store, request.team, window, after=place, enough=_enough(request))
        return _page(request, window, found)
    job = locate(store, request.team, str(word))
    if job is None:
        return missing("job", str(word))
    return _page(request, window, audit_one(store, job, window, after=place))


def _enough(request: Request) -> Callable[[], bool]:
    """Whether the call has taken so long that its answer should not be put off for another job."""
    until = request.now + PATIENCE
    return lambda: request.services.registry.clock.now() >= until


def _window(request: Request) -> Window:
    """The last day, unless something else is asked for."""
    given = request.query
    before = given.get("to", request.now)
    assert isinstance(before, datetime)  # noqa: S101 - read by its parameter
    since = given.get("from", before - USUAL)
    assert isinstance(since, datetime)  # noqa: S101 - read by its parameter
    if since >= before:
        rule = f"must lie before the end, {to_wire(before)}"
        raise Faults([Fault(field="from", value=to_wire(since), rule=rule)])
    limits = request.services.registry.limits
    return Window(since=since, before=before, now=request.now, limits=limits)


def _place(request: Request) -> Place | None:
    found = position(request)
    return None if found is None else (found[0], found[1])


def _page(request: Request, window: Window, found: TeamAudit) -> Answer:
    body: dict[str, Any] = {
        "items": [_shown(job, finding) for job, finding in found.findings],
        "next": following(request, found.after),
        "judged_to": to_wire(window.end),
        "unreadable": [render.unreadable(each) for each in found.unreadable],
        "jobs": len(found.jobs),
        "records": found.records,
        "explained": sum(each.explained for each in found.jobs),
        "pending": sum(each.pending for each in found.jobs),
        "unjudged": sum(each.unjudged for each in found.jobs),
    }
    return Answer(body=body)


def _shown(job: Job, finding: Finding) -> dict[str, object]:
    return {
        "job": job.name,
        "uid": job.uid,
        "kind": finding.kind.value,
        "at": to_wire(finding.at),
        "last": optional_wire(finding.last),
        "execution": finding.execution,
        "says": finding.says,
    }
