"""The teams of the stage by name, as far as a caller has business with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.codec_job import decode_team
from fencepost.application.registry.unreadable_teams import UnreadableTeamError
from fencepost.application.store import Query, Store
from fencepost.domain.teams import Team

LOOK = 1_000
"""How many names one page looks at before it says that it stopped early."""
_CHUNK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPage:
    """`after` is the last name that was looked at, None at the end; `stopped_early`: the page was not filled.
    `unreadable`: names of those that nobody can read.
    """

    items: tuple[Team, ...]
    after: str | None
    unreadable: tuple[str, ...] = ()
    stopped_early: bool = False


def list_teams(
    store: Store, wanted: Callable[[Team], bool], *, after: str | None = None, limit: int = 100
) -> TeamPage:
    """The first `limit` teams whose names follow `after` and that are `wanted`; none that is being deleted. Of one that
    nobody can read `wanted` is asked with its name and what can be read of its principals.
    """
    found, unread = list[Team](), list[str]()
    looked = 0
    for names in _names(store, after):
        teams = _teams(store, names)
        for name in names:
            looked += 1
            team = teams.get(name)
            if isinstance(team, UnreadableTeamError):
                unread += [name] if wanted(Team(name=name, principals=team.principals)) else []
            elif team is not None and team.leaving_since is None and wanted(team):
                found.append(team)
            if len(found) >= limit or looked >= LOOK:
                early = len(found) < limit
                return TeamPage(items=tuple(found), after=name, unreadable=tuple(unread), stopped_early=early)
    return TeamPage(items=tuple(found), after=None, unreadable=tuple(unread))


def _names(store: Store, after: str | None) -> Iterator[list[str]]:
    where = keys.team_listed(after or "-")
    query = Query(table=where.table, pk=where.pk, first=None if after is None else where.sk)
    names: list[str] = []
    for page in store.pages(query):
        names += [str(item["sk"]) for item in page if item["sk"] != after]
        while len(names) >= _CHUNK:
            yield names[:_CHUNK]
            names = names[_CHUNK:]
    if names:
        yield names


def _teams(store: Store, names: list[str]) -> dict[str, Team | UnreadableTeamError]:
    """By name; what a later version wrote is left out."""
    found = store.batch_get([keys.team(name) for name in names])
    teams: dict[str, Team | UnreadableTeamError] = {}
    for name in names:
        item = found.get(keys.team(name))
        if item is None:
            continue
        try:
            teams[name] = decode_team(item)
        except NewerShapeError:
            continue
        except UndecodableError as error:
            teams[name] = UnreadableTeamError(name, str(error), item)
    return teams
