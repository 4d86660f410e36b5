"""IAM policies for those who call the API: what a role in a team needs, path by path, and nothing else.

They are the boundary between teams. The service looks a second time, at the team's `principals`, but only IAM tells a
reader from an owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

ANY_API = "arn:aws:execute-api:*:*:*/*"
"""Every API and every stage of it."""


class TeamRole(StrEnum):
    """Each may do what the ones before may."""

    READER = "reader"
    OPERATOR = "operator"
    OWNER = "owner"


ANYBODY = ("GET/v1/health", "POST/v1/preview", "GET/v1/stage", "GET/v1/teams")
"""What needs a signature and no team."""
OWNS = ("GET", "PUT", "PATCH")
"""What an owner may do to the team itself: deleting it is for whoever made it."""
QUESTIONS = ("POST preview",)
"""What a reader may ask although it is no GET."""
OPERATIONS = (
    "POST pause",
    "POST resume",
    "POST jobs/*/pause",
    "POST jobs/*/resume",
    "POST jobs/*/run",
    "POST jobs/*/backfills",
    "DELETE jobs/*/backfills/*",
    "POST executions/*/heartbeat",
    "POST executions/*/complete",
    "POST executions/*/fail",
    "POST executions/*/redrive",
    "POST dead-letters/redrive",
)
"""What keeps a team's jobs running, and declares nothing."""


def iam_policy(team: str, role: TeamRole, api: str = ANY_API) -> dict[str, Any]:
    """The policy document of a role in a team. `api` names the API and its stage, as ``arn:aws:execute-api:...:a1b2c3/*``."""
    resources = [f"{api}/{each}" for each in _resources(team, role)]
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": resources}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _resources(team: str, role: TeamRole) -> Iterator[str]:
    yield from ANYBODY
    if role is TeamRole.OWNER:
        yield from (f"{method}/v1/teams/{team}" for method in OWNS)
        yield f"*/v1/teams/{team}/*"
        return
    yield from (f"GET/v1/teams/{team}", f"GET/v1/teams/{team}/*")
    for each in (*QUESTIONS, *(OPERATIONS if role is TeamRole.OPERATOR else ())):
        verb, path = each.split(" ")
        yield f"{verb}/v1/teams/{team}/{path}"
