"""A team that is there and that nobody can read: who may know of it, and what of it goes on when it is declared anew.

An administrator declares it in full, which says all that a declaration says. Kept beside that, attribute by attribute, is
what no declaration says and can still be read: its signing keys, what its delivery role trusts, its switches. Where a
switch cannot be read the team is held until somebody resumes it: what was stopped in an emergency does not start
because its item was spoiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.codec_job import decode_team, encode_team
from fencepost.application.registry.unreadable import SANE, MendableError, as_read
from fencepost.application.store import Condition, Item, Query, Store, items
from fencepost.domain.policies import Tier
from fencepost.domain.switches import Halt, paused
from fencepost.domain.teams import Team

HELD = "its switches could not be read"
_KEPT = ("external_id", "created", "one_in", "thinned", "gone")


class UnreadableTeamError(MendableError):
    """The team's item is there and cannot be understood. `principals`: whose it is, as far as that can be read."""

    def __init__(self, name: str, why: str, item: Item) -> None:
        self.name, self.why, self.item = name, why, item
        found = item.get("principals")
        self.principals = tuple(each for each in _listed(found) if isinstance(each, str))
        super().__init__(f"team {name} is there and cannot be read: {why}")


def salvaged(store: Store, error: UnreadableTeamError, now: datetime) -> Team:
    """As much of the team as can be read, the rest as if nobody had said anything. Its revision is the last that is on
    record, and what its trail holds of another team of that name stays hidden. Raises StoreError.
    """
    item = error.item
    sound: Item = {**encode_team(Team(name=error.name)), "pk": item["pk"], "sk": item["sk"]}
    for attribute in _KEPT:
        if attribute in item:
            sound = _with(sound, attribute, item[attribute]) or sound
    for attribute in ("keys", "halts"):
        for each in _listed(item.get(attribute)):
            sound = _with(sound, attribute, [*sound.get(attribute, ()), each]) or sound
    newest, began = _trail(store, error.name)
    known = item.get("rev")
    revision = max(known if type(known) is int and 0 < known < SANE else 0, newest, 1)
    team = replace(decode_team(sound), revision=revision, born=began)
    lost = "halts" in item and [*_listed(item["halts"])] != [*sound.get("halts", ("?",))]
    return replace(team, halts=_held(team.halts, now)) if lost else team


def still(error: UnreadableTeamError, known: Team) -> Condition:
    """The stored item is what was read. `known`: what was salvaged of it."""
    return as_read(error.item, encode_team(known))


def _with(sound: Item, attribute: str, value: object) -> Item | None:
    """`sound` with the attribute; None where a team that has it cannot be read, or not be written again."""
    tried: dict[str, Any] = {**sound, attribute: value}
    try:
        team = decode_team(tried)
        encode_team(team)
    except (UndecodableError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return tried if all(isinstance(each, str) for each in _texts(team)) else None


def _texts(team: Team) -> Iterator[object]:
    """What is nothing but text wherever it can be read."""
    if team.external_id is not None:
        yield team.external_id
    for key in team.signing_keys:
        yield from (key.id, key.scheme, key.secret, key.public or "")
    for halt in team.halts:
        yield from (halt.by, halt.note or "")


def _held(halts: tuple[Halt, ...], now: datetime) -> tuple[Halt, ...]:
    """With every tier held that is not held as it is."""
    free = [tier for tier in Tier if not any(halt.tier is tier and halt.active(now) for halt in halts)]
    return paused(halts, free, Halt(tier=Tier.STANDARD, since=now, by="fencepost", note=HELD), now)


def _trail(store: Store, name: str) -> tuple[int, int]:
    """The number of the newest entry of the team's trail, and of that with which the team began."""
    first = keys.team_revision(name, 0)
    query = Query(table=first.table, pk=first.pk, first="R#", last="R#~", forward=False)
    newest = 0
    for entry in items(store, query):
        text = str(entry["sk"]).removeprefix("R#")
        newest = max(newest, int(text) if text.isdigit() else 0)
        if entry.get("what") == "create" and text.isdigit():
            return newest, int(text)
    return newest, 1


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()
