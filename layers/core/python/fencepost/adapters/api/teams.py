"""Teams over HTTP."""

from __future__ import annotations

from typing import assert_never

from fencepost.adapters.api import render
from fencepost.adapters.api.conditional import precondition, unchanged
from fencepost.adapters.api.history import asked, entries
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.identity import allowed
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import ProblemError, etag, forbidden, missing, refusal
from fencepost.adapters.api.reading import read_object
from fencepost.adapters.api.translate import patched_team, team_draft
from fencepost.application.registry import revisions
from fencepost.application.registry.departures import Leaving, errand_of
from fencepost.application.registry.directory import list_teams
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.results import BeingDeleted, Conflict, Missing, NotAllowed
from fencepost.application.registry.teams import DrawTeam, TeamDone, TeamDraft, TeamRequest, declare_team
from fencepost.application.registry.unreadable_teams import UnreadableTeamError, salvaged
from fencepost.domain.instants import optional_wire
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

    def draw(team: Team | None) -> TeamDraft:
        found = team or find_team(request.services.store, request.team)
        if found is None:
            raise ProblemError(missing("team", request.team))
        return patched_team(found, raw)

    return _declare(request, draw)


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
    """The changes of the team, the newest first."""
    store = request.services.store
    try:
        team = find_team(store, request.team)
    except UnreadableTeamError as error:  # whoever declares it anew wants to know what it was
        team = salvaged(store, error, request.now)
    if team is None:
        return missing("team", request.team)
    found = revisions.team_page(
        store, team, older_than=position(request), limit=limit(request), asked=asked(request)
    )
    return entries(request, found)


def browse(request: Request) -> Answer:
    """The teams that the caller has business with: all of them, for an administrator."""
    caller = request.caller
    found = list_teams(
        request.services.store,
        lambda team: caller.admin or allowed(caller, team.principals),
        after=position(request),
        limit=limit(request),
    )
    now = request.services.now()
    items = [render.team(team, now) for team in found.items]
    unread = list(found.unreadable)
    return page(request, items, found.after, stopped_early=found.stopped_early, unreadable=unread)


def delete(request: Request) -> Answer:
    """Puts the team on its way out; asked again, says how far it is."""
    upkeep = request.services.upkeep
    outcome = upkeep.departures.leave(
        request.team,
        request.caller,
        purge=request.query.get("purge") is True,
        expected=precondition(request.headers).revision,
    )
    if not isinstance(outcome, Leaving):
        return refusal(outcome)
    upkeep.hasten(errand_of(outcome.team))
    since = outcome.team.leaving_since
    body = {"name": outcome.team.name, "leaving_since": optional_wire(since), "jobs_left": outcome.jobs}
    return Answer(status=202, body=body, headers={"ETag": etag(outcome.team.revision)})


def _declare(request: Request, draw: DrawTeam) -> Answer:
    wanted, caps = precondition(request.headers), dict[str, int]()

    def drawn(current: Team | None) -> TeamDraft:
        caps[request.team] = 0 if current is None else current.max_concurrency
        return draw(current)

    outcome = declare_team(
        request.services.registry,
        TeamRequest(caller=request.caller, team=request.team, expected=wanted.revision, absent=wanted.absent),
        drawn,
    )
    match outcome:
        case TeamDone(team=team, created=created):
            if not created and team.max_concurrency > caps[team.name]:
                request.services.upkeep.pump_raised(team.name, request.now)
            return Answer(
                status=201 if created else 200,
                body=render.team(team, request.services.now()),
                headers={"ETag": etag(team.revision)},
            )
        case NotAllowed(rule):
            return forbidden(rule)
        case Missing() | Conflict() | BeingDeleted():
            return refusal(outcome)
        case _:
            assert_never(outcome)
