"""Who may call which route. IAM policies on paths are the boundary; this is the second look."""

from __future__ import annotations

from enum import StrEnum

from fencepost.adapters.api.identity import allowed
from fencepost.adapters.api.problems import ProblemError, forbidden, missing
from fencepost.application.registry.reading import find_team, known_team
from fencepost.application.registry.unreadable_teams import UnreadableTeamError
from fencepost.application.store import Store
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.identity import NAME_PATTERN
from fencepost.domain.model import Caller, Team

NAME_RULE = "must be 1..63 of a-z 0-9 -, and not begin with -"


class Role(StrEnum):
    """The least that a caller must be, each including the ones before. IAM tells reader, operator and owner apart by
    method and path; the service itself tells a team's principals from strangers, and administrators from both.
    """

    ANYONE = "anyone"
    READER = "reader"
    OPERATOR = "operator"
    OWNER = "owner"
    ADMIN = "admin"


def admit(
    store: Store,
    caller: Caller,
    role: Role,
    team: str | None,
    *,
    creates: bool = False,
    unread: bool = False,
) -> None:
    """Raises ProblemError: 403 for a stranger, 404 for a team that is not there, unless the route `creates` it. Raises
    UnreadableTeamError for a team that nobody can read, unless the route takes it as it is (`unread`).

    Whether a team exists is told to nobody who has no business with it. Where not even its principals can be read, that
    is everybody but administrators.
    """
    if role is Role.ANYONE:
        return
    try:
        found = None if team is None else _found(store, caller, role, team)
    except UnreadableTeamError as error:
        if not caller.admin and (role is Role.ADMIN or not allowed(caller, error.principals)):
            found = None
        elif unread:
            return
        else:
            raise
    known = found is not None and role is not Role.ADMIN and allowed(caller, found.principals)
    if not caller.admin and not known:
        whose = "the stage" if team is None else f"team {team[:63]}"
        raise ProblemError(forbidden(f"{caller.principal} has no business with {whose}"))
    if team is None or found is not None:
        return
    if not creates:
        raise ProblemError(missing("team", team))
    if not NAME_PATTERN.fullmatch(team):
        raise Faults([Fault(field="team", value=team, rule=NAME_RULE)])


def _found(store: Store, caller: Caller, role: Role, team: str) -> Team | None:
    """What deleted teams left behind may still be read by administrators."""
    reads = caller.admin and role is Role.READER
    return known_team(store, team) if reads else find_team(store, team)
