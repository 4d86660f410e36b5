"""Who may call which route. IAM policies on paths are the boundary; this is the second look."""

from __future__ import annotations

from enum import StrEnum

from fencepost.adapters.api.identity import allowed
from fencepost.adapters.api.problems import ProblemError, forbidden
from fencepost.application.registry.reading import find_team
from fencepost.application.store import Store
from fencepost.domain.model import Caller


class Role(StrEnum):
    """The least that a caller must be, each including the ones before. IAM tells reader, operator and owner apart by
    method and path; the service itself tells a team's principals from strangers, and administrators from both.
    """

    ANYONE = "anyone"
    READER = "reader"
    OPERATOR = "operator"
    OWNER = "owner"
    ADMIN = "admin"


def admit(store: Store, caller: Caller, role: Role, team: str | None) -> None:
    """Raises ProblemError (403) for a stranger. Whether a team exists is told to nobody who has no business with it."""
    if caller.admin or role is Role.ANYONE:
        return
    if role is not Role.ADMIN and team is not None:
        found = find_team(store, team)
        if found is not None and allowed(caller, found.principals):
            return
    whose = "the stage" if team is None else f"team {team[:63]}"
    raise ProblemError(forbidden(f"{caller.principal} has no business with {whose}"))
