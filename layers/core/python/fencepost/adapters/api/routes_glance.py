"""The routes for those who look at a whole team, the console above all."""

from __future__ import annotations

from fencepost.adapters.api import answers_glance, glance
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.paths import EXECUTION, TEAM
from fencepost.adapters.api.queries import CURSOR, Parameter, number, text
from fencepost.adapters.api.route import Route
from fencepost.application.registry.outcomes import MAX_EACH, MAX_JOBS

_UID = r"[a-z2-7]{20}"
OUTCOMES_OF = (
    Parameter(
        name="uid",
        read=text(_UID, "must be a job's uid"),
        schema={"type": "string", "pattern": f"^{_UID}$"},
        says=f"A job; may be given up to {MAX_JOBS} times.",
        repeated=True,
    ),
    Parameter(
        name="last",
        read=number(1, MAX_EACH),
        schema={"type": "integer", "minimum": 1, "maximum": MAX_EACH, "default": glance.DEFAULT_EACH},
        says="How many occurrences of each.",
    ),
)

GLANCE_ROUTES = (
    Route(
        name="listOutcomes",
        method="GET",
        path=TEAM + "/outcomes",
        says="What became of the newest occurrences of up to 50 jobs, in short.",
        role=Role.READER,
        handle=glance.outcomes,
        gives={200: answers_glance.Outcomes},
        query=OUTCOMES_OF,
    ),
    Route(
        name="getForecast",
        method="GET",
        path=TEAM + "/forecast",
        says="How many firings each minute of the next 24 hours holds, and how many jobs are in which state: a thousand "
        "jobs a page, and pages add up.",
        role=Role.READER,
        handle=glance.forecast,
        gives={200: answers_glance.Forecast},
        query=(CURSOR,),
    ),
    Route(
        name="getBacklog",
        method="GET",
        path=TEAM + "/backlog",
        says="How many executions wait: for a slot, for a switch, or for an earlier firing of their job.",
        role=Role.READER,
        handle=glance.backlog,
        gives={200: answers_glance.Backlog},
    ),
    Route(
        name="getRequest",
        method="GET",
        path=EXECUTION + "/request",
        says="What an execution's attempts send, and where to.",
        role=Role.READER,
        handle=glance.sent,
        gives={200: answers_glance.Sent},
    ),
)
