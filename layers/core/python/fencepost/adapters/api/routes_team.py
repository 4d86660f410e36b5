"""The routes of teams."""

from __future__ import annotations

from fencepost.adapters.api import (
    answers,
    answers_team,
    answers_upkeep,
    limits,
    models,
    teams,
    zones,
)
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.filters import AUDIT_FILTERS
from fencepost.adapters.api.paths import TEAM, TEAMS
from fencepost.adapters.api.queries import PAGED, PURGE
from fencepost.adapters.api.route import Route

TEAM_ROUTES = (
    Route(
        name="listTeams",
        method="GET",
        path=TEAMS,
        says="The teams that the caller has business with; all of them, for an administrator.",
        role=Role.ANYONE,
        handle=teams.browse,
        gives={200: answers_upkeep.TeamList},
        query=PAGED,
    ),
    Route(
        name="putTeam",
        method="PUT",
        path=TEAM,
        says="Declare a team in full. Administrators create teams, set their limits, and replace one that nobody can read;"
        " the rest is the team's own.",
        role=Role.OWNER,
        handle=teams.put,
        takes=models.TeamBody,
        gives={200: answers.Team, 201: answers.Team},
        conditional=True,
        conflicts=True,
        unread=True,
    ),
    Route(
        name="patchTeam",
        method="PATCH",
        path=TEAM,
        says="Change what the body names (RFC 7386), and nothing else.",
        role=Role.OWNER,
        handle=teams.patch,
        takes=models.TeamPatch,
        gives={200: answers.Team},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="deleteTeam",
        method="DELETE",
        path=TEAM,
        says="Delete the team: refused while it has jobs, or (purge) together with them. Ask again for how far it is.",
        role=Role.ADMIN,
        handle=teams.delete,
        gives={202: answers_upkeep.TeamDeparture},
        query=(PURGE,),
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="getTeam",
        method="GET",
        path=TEAM,
        says="Read a team.",
        role=Role.READER,
        handle=teams.get,
        gives={200: answers.Team, 304: None},
        conditional=True,
    ),
    Route(
        name="listTeamRevisions",
        method="GET",
        path=TEAM + "/revisions",
        says="Who changed the team, when, from what to what; the newest first.",
        role=Role.READER,
        handle=teams.history,
        gives={200: answers.RevisionPage},
        query=(*PAGED, *AUDIT_FILTERS),
        unread=True,
    ),
    Route(
        name="refreshZones",
        method="POST",
        path=TEAM + "/tz-refresh",
        says="After an update of the time-zone rules: plant anew what they move, a page of jobs at a time, and say whose.",
        role=Role.OWNER,
        handle=zones.refresh,
        gives={200: answers_team.Refreshed},
        query=PAGED,
        conflicts=True,
    ),
    Route(
        name="getLimits",
        method="GET",
        path=TEAM + "/limits",
        says="A team's limits, and what is used of them.",
        role=Role.READER,
        handle=limits.get,
        gives={200: answers.Limits},
    ),
)
