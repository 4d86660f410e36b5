"""Time-zone rules over HTTP: plants anew what older rules planted."""

from __future__ import annotations

from fencepost.adapters.api import render
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import following, limit, position
from fencepost.application.registry.refresh import refresh_team
from fencepost.domain.instants import optional_wire, to_wire
from fencepost.domain.schedule import tzdata_version


def refresh(request: Request) -> Answer:
    """One page of the team's jobs, by name."""
    found = refresh_team(
        request.services.registry, request.caller, request.team, after=position(request), limit=limit(request)
    )
    moved = [
        {"job": each.job, "before": to_wire(each.before), "after": optional_wire(each.after)}
        for each in found.moved
    ]
    return Answer(
        body={
            "tzdata": tzdata_version(),
            "moved": moved,
            "unreadable": [render.unreadable(each) for each in found.unreadable],
            "looked_at": found.looked_at,
            "next": following(request, found.after),
        }
    )
