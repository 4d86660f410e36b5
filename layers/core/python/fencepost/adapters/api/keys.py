"""Signing keys over HTTP: secrets go out once, when they are made, and never again."""

from __future__ import annotations

from typing import Any

from fencepost.adapters.api.bodies import KeyBody
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import missing, refusal, unavailable
from fencepost.adapters.api.reading import checked, read_object
from fencepost.application.ports import KeyUnavailableError
from fencepost.application.registry import signing_keys
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.results import Refusal
from fencepost.application.registry.signing_keys import KeyRequest, KeysDone
from fencepost.domain.instants import optional_wire
from fencepost.domain.model import Team


def browse(request: Request) -> Answer:
    """The keys, without their secrets."""
    team = find_team(request.services.store, request.team)
    return missing("team", request.team) if team is None else Answer(body=_keys(request, team))


def make(request: Request) -> Answer:
    """One more key."""
    return _made(request, rotate=False)


def rotate(request: Request) -> Answer:
    """A new key in the place of the older of two."""
    return _made(request, rotate=True)


def drop(request: Request) -> Answer:
    """A key ends."""
    compromised = request.query.get("compromised") is True
    outcome = signing_keys.drop_key(
        request.services.registry, _asked(request, None), request.path["key"], compromised=compromised
    )
    return _answer(request, outcome, 200)


def _made(request: Request, *, rotate: bool) -> Answer:
    body = checked(KeyBody, read_object(request.body))
    ports, maker = request.services.registry, request.services.keys
    try:
        outcome = signing_keys.make_key(ports, maker, _asked(request, body.note), body.scheme, rotate=rotate)
    except KeyUnavailableError:
        return unavailable("nothing was changed: the key service does not answer")
    return _answer(request, outcome, 201)


def _asked(request: Request, note: str | None) -> KeyRequest:
    return KeyRequest(caller=request.caller, team=request.team, note=note)


def _answer(request: Request, outcome: KeysDone | Refusal, status: int) -> Answer:
    if not isinstance(outcome, KeysDone):
        return refusal(outcome)
    body = _keys(request, outcome.team)
    if outcome.made is not None:
        [shown] = signing_keys.described([outcome.made])
        body |= {"made": shown, "secret": outcome.secret}
    return Answer(status=status, body=body)


def _keys(request: Request, team: Team) -> dict[str, Any]:
    until = signing_keys.overlap_end(team.signing_keys, request.services.registry.limits)
    return {"items": signing_keys.described(team.signing_keys), "overlap_until": optional_wire(until)}
