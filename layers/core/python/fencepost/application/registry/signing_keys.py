"""A team's signing keys: made, listed, dropped.

All keys of a team sign every call, so a new key is told to receivers while the old one still works. For the length of
the overlap after a key was made none is dropped: rolling twice in a row would leave receivers without any key that
they know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from fencepost.application import keys
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.results import Conflict, Missing, NotAllowed, Refusal
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.registry.team_writes import team_update
from fencepost.application.store import Cancelled, Put
from fencepost.domain.instants import floor_ms, to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Caller, SigningKey, Team

TRIES = 10
SCHEMES = ("v1", "v1a")
MOST = 2
"""Keys of one scheme at a time: the one that receivers know, and the one that they will know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A fresh key. `secret` is what a receiver verifies with, told once; None where it has a public half instead.
    `sealed` is what is stored.
    """

    secret: str | None
    sealed: str
    public: str | None = None


class KeyMaker(Protocol):
    """Draws keys and seals them. It may raise KeyUnavailableError."""

    def make(self, scheme: str, team: str) -> MadeKey: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """Who changes the keys of which team, and why."""

    caller: Caller
    team: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysDone:
    """The keys as they are now; `made` and its `secret` where this call made one."""

    team: Team
    made: SigningKey | None = None
    secret: str | None = None


_Change: TypeAlias = tuple[SigningKey, ...] | Refusal


def make_key(
    ports: RegistryPorts, maker: KeyMaker, request: KeyRequest, scheme: str, *, rotate: bool = False
) -> KeysDone | Refusal:
    """A further key of `scheme`. `rotate`: the older one of two gives way to it, unless it is in its overlap."""
    fresh = maker.make(scheme, request.team)
    key = SigningKey(
        id=ports.entropy.token(),
        scheme=scheme,
        secret=fresh.sealed,
        created_at=floor_ms(ports.clock.now()),
        public=fresh.public,
    )

    def change(known: Sequence[SigningKey]) -> _Change:
        same = [each for each in known if each.scheme == scheme]
        if len(same) < MOST:
            return (*known, key)
        if not rotate:
            return NotAllowed(f"{MOST} keys of scheme {scheme} are valid already: rotate, or drop one first")
        rule = kept_until(known, key.created_at, ports.limits)
        return NotAllowed(rule) if rule else (*(each for each in known if each is not same[0]), key)

    done = _write(ports, request, "rotate_key" if rotate else "make_key", change)
    return replace(done, made=key, secret=fresh.secret) if isinstance(done, KeysDone) else done


def drop_key(
    ports: RegistryPorts, request: KeyRequest, key_id: str, *, compromised: bool = False
) -> KeysDone | Refusal:
    """Ends a key. Refused inside the overlap and for the last key; `compromised` ends it whatever follows."""

    def change(known: Sequence[SigningKey]) -> _Change:
        left = tuple(key for key in known if key.id != key_id)
        if len(left) == len(known):
            return Missing("key", key_id)
        rule = None if compromised else kept_until(known, ports.clock.now(), ports.limits)
        if rule is None and not left and not compromised:
            rule = "it is the team's last key, and nothing would be signed: make another one first"
        return NotAllowed(rule) if rule else left

    return _write(ports, request, "drop_compromised_key" if compromised else "drop_key", change)


def overlap_end(known: Sequence[SigningKey], limits: Limits) -> datetime | None:
    """Until when all of a team's keys stay valid; None without keys."""
    newest = max((key.created_at for key in known), default=None)
    return None if newest is None else newest + limits.key_overlap


def kept_until(known: Sequence[SigningKey], now: datetime, limits: Limits) -> str | None:
    """Why no key may be dropped at `now`, if so."""
    until = overlap_end(known, limits)
    if until is None or now >= until:
        return None
    return f"receivers learn the newest key until {to_wire(until)}; no key is dropped before"


def described(known: Sequence[SigningKey]) -> list[dict[str, Any]]:
    """Keys as they are shown and audited: never with a secret."""
    return [
        {
            "id": key.id,
            "scheme": key.scheme,
            "created_at": to_wire(key.created_at),
            "public": key.public,
        }
        for key in known
    ]


def _write(
    ports: RegistryPorts,
    request: KeyRequest,
    what: str,
    change: Callable[[Sequence[SigningKey]], _Change],
) -> KeysDone | Refusal:
    for _ in range(TRIES):
        team = find_team(ports.store, request.team)
        if team is None:
            return Missing("team", request.team)
        wanted = change(team.signing_keys)
        if not isinstance(wanted, tuple):
            return wanted
        after = replace(team, signing_keys=wanted, revision=team.revision + 1)
        if not _lost(ports, request, what, team, after):
            return KeysDone(team=after)
        ports.clock.sleep(ports.entropy.fraction() * ports.limits.early_send)
    return Conflict(revision=None)


def _lost(ports: RegistryPorts, request: KeyRequest, what: str, before: Team, after: Team) -> bool:
    """Whether somebody else changed the team meanwhile."""
    entry = Entry(
        revision=after.revision,
        what=what,
        actor=request.caller.principal,
        source=request.caller.source,
        at=floor_ms(ports.clock.now()),
        note=request.note,
        before={"keys": described(before.signing_keys)},
        after={"keys": described(after.signing_keys)},
    )
    outcome = ports.store.transact(
        [
            team_update(before, after),
            Put(key=keys.team_revision(after.name, after.revision), item=encode_entry(entry)),
        ]
    )
    return isinstance(outcome, Cancelled)
