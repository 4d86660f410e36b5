"""Teams over HTTP."""

from __future__ import annotations

from typing import assert_never

from fencepost.adapters.api import render
from fencepost.adapters.api.conditional import precondition, unchanged
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import etag, forbidden, missing, refusal
from fencepost.adapters.api.reading import read_object
from fencepost.adapters.api.translate import patched_team, team_draft
from fencepost.application.registry import revisions
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.results import Conflict, Missing, NotAllowed
from fencepost.application.registry.teams import DrawTeam, TeamDone, TeamRequest, declare_team
from fencepost.domain.model import Team


def put(request: Request) -> Answer:
    """Declares the team in full."""
    raw = read_object(request.body)
    return _declare(request, lambda _: team_draft(raw))


def patch(request: Request) -> Answer:
    """Changes what the body names."""
    raw = read_object(request.body)
    if find_team(request.services.store, request.team) is None:
        return missing("team", request.team)
    return _declare(request, lambda team: patched_team(team or Team(name=request.team), raw))


def get(request: Request) -> Answer:
    """The team."""
    team = find_team(request.services.store, request.team)
    if team is None:
        return missing("team", request.team)
    tag = etag(team.revision)
    if unchanged(request.headers, tag):
        return Answer(status=304, headers={"ETag": tag})
    return Answer(body=render.team(team, request.services.now()), headers={"ETag": tag})


def history(request: Request) -> Answer:
    """Every change of the team, the newest first."""
    wanted = limit(request)
    found = revisions.of_team(
        request.services.store, request.team, older_than=position(request), limit=wanted
    )
    after = found[-1].revision if len(found) == wanted else None
    return page(request, [revisions.entry_to_wire(entry) for entry in found], after)


def _declare(request: Request, draw: DrawTeam) -> Answer:
    wanted = precondition(request.headers)
    outcome = declare_team(
        request.services.registry,
        TeamRequest(caller=request.caller, team=request.team, expected=wanted.revision, absent=wanted.absent),
        draw,
    )
    match outcome:
        case TeamDone(team=team, created=created):
            return Answer(
                status=201 if created else 200,
                body=render.team(team, request.services.now()),
                headers={"ETag": etag(team.revision)},
            )
        case NotAllowed(rule):
            return forbidden(rule)
        case Missing() | Conflict():
            return refusal(outcome)
        case _:
            assert_never(outcome)
