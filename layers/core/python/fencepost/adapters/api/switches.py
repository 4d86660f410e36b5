"""Pausing and resuming teams, tiers and the stage over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fencepost.adapters.api import render
from fencepost.adapters.api.bodies_upkeep import SwitchOffBody, SwitchOnBody
from fencepost.adapters.api.conditional import precondition, unchanged
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import etag, refusal
from fencepost.adapters.api.reading import checked, read_object
from fencepost.application.registry.documents import pauses
from fencepost.application.switches.codec import StageSwitches
from fencepost.application.switches.flipping import Flip
from fencepost.application.switches.reading import stage_switches
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.policies import JOB_TIERS, Tier
from fencepost.domain.schedule.reading import read_instant
from fencepost.domain.switches import shut
from fencepost.domain.teams import Team


def pause_team(request: Request) -> Answer:
    """Nothing of the team's tiers starts any more; what comes due waits."""
    return _team(request, _off(request))


def resume_team(request: Request) -> Answer:
    """What waited starts, or meets its job's misfire policy where it waited too long."""
    return _team(request, _on(request))


def pause_stage(request: Request) -> Answer:
    """Nothing of anybody starts any more; what comes due waits."""
    return _stage(request, _off(request))


def resume_stage(request: Request) -> Answer:
    """As for a team, for all of them."""
    return _stage(request, _on(request))


def get_stage(request: Request) -> Answer:
    """The stage's switches."""
    return shown(request, stage_switches(request.services.store), cached=True)


def _team(request: Request, flip: Flip) -> Answer:
    outcome = request.services.upkeep.switches.team(request.team, flip)
    if not isinstance(outcome, Team):
        return refusal(outcome)
    body = render.team(outcome, request.services.now())
    return Answer(body=body, headers={"ETag": etag(outcome.revision)})


def _stage(request: Request, flip: Flip) -> Answer:
    outcome = request.services.upkeep.switches.stage(flip)
    return shown(request, outcome) if isinstance(outcome, StageSwitches) else refusal(outcome)


def shown(request: Request, switches: StageSwitches, *, cached: bool = False) -> Answer:
    """The stage's switches as an answer."""
    tag = etag(switches.revision)
    if cached and unchanged(request.headers, tag):
        return Answer(status=304, headers={"ETag": tag})
    now = request.services.now()
    body: dict[str, Any] = {
        "revision": switches.revision,
        "paused": shut(switches.halts, now) >= frozenset(JOB_TIERS),
        "pauses": pauses(switches.halts, now),
    }
    return Answer(body=body, headers={"ETag": tag})


def _off(request: Request) -> Flip:
    body = checked(SwitchOffBody, read_object(request.body))
    until = None if body.until is None else _future(body.until, request.now)
    return _flip(request, body.tiers, note=body.note, until=until)


def _on(request: Request) -> Flip:
    body = checked(SwitchOnBody, read_object(request.body))
    return _flip(request, body.tiers, note=body.note, back=True)


def _flip(request: Request, tiers: list[Any], **facts: Any) -> Flip:
    wanted = precondition(request.headers)
    chosen = frozenset(Tier(tier) for tier in tiers)
    return Flip(caller=request.caller, tiers=chosen, expected=wanted.revision, **facts)


def _future(text: str, now: datetime) -> datetime:
    try:
        until = read_instant(text)
    except ValueError as error:
        raise Faults([Fault(field="until", value=text, rule=str(error))]) from None
    if until <= now:
        raise Faults([Fault(field="until", value=text, rule="must lie in the future")])
    return until
