"""The table of routes: what there is, who may call it, what it takes and gives. The document is made from it, and from
the document the gateway and its permissions; a route that is not here does not exist.
"""

from __future__ import annotations

from fencepost.adapters.api import answers, extras, models
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.paths import TEAM
from fencepost.adapters.api.route import Route
from fencepost.adapters.api.routes_audit import AUDIT_ROUTES
from fencepost.adapters.api.routes_calendars import CALENDAR_ROUTES
from fencepost.adapters.api.routes_execution import EXECUTION_ROUTES
from fencepost.adapters.api.routes_glance import GLANCE_ROUTES
from fencepost.adapters.api.routes_job import JOB_ROUTES
from fencepost.adapters.api.routes_keys import KEY_ROUTES
from fencepost.adapters.api.routes_team import TEAM_ROUTES
from fencepost.adapters.api.routes_upkeep import BACKFILL_ROUTES, SWITCH_ROUTES

OPEN_ROUTES = (
    Route(
        name="preview",
        method="POST",
        path="/v1/preview",
        says="What a schedule would do; nothing is stored.",
        role=Role.ANYONE,
        handle=extras.preview,
        takes=models.PreviewBody,
        gives={200: answers.Preview},
        asks=True,
    ),
    Route(
        name="previewForTeam",
        method="POST",
        path=TEAM + "/preview",
        says="What a schedule would do with the team's calendars; nothing is stored.",
        role=Role.READER,
        handle=extras.preview_for_team,
        takes=models.PreviewBody,
        gives={200: answers.Preview},
        asks=True,
    ),
    Route(
        name="health",
        method="GET",
        path="/v1/health",
        says="How the service is.",
        role=Role.ANYONE,
        handle=extras.health,
        gives={200: answers.Health},
    ),
)

ROUTES: tuple[Route, ...] = (
    *TEAM_ROUTES,
    *KEY_ROUTES,
    *CALENDAR_ROUTES,
    *JOB_ROUTES,
    *EXECUTION_ROUTES,
    *GLANCE_ROUTES,
    *AUDIT_ROUTES,
    *BACKFILL_ROUTES,
    *SWITCH_ROUTES,
    *OPEN_ROUTES,
)
