"""Recovering and opening a stage that stands on restored tables, over HTTP."""

from __future__ import annotations

from datetime import timedelta

from fencepost.adapters.api import switches
from fencepost.adapters.api.bodies_upkeep import OpeningBody, RecoveryBody
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import refusal
from fencepost.adapters.api.reading import checked, read_object
from fencepost.application.registry.results import NotAllowed
from fencepost.application.switches.codec import StageSwitches

LONGEST = timedelta(seconds=15)
"""How long a share may take: the gateway waits 29 seconds, and the last job of it may take a few."""


def recover(request: Request) -> Answer:
    """One share. The replaced ledger is looked at only while the copy has fired nothing."""
    body = checked(RecoveryBody, read_object(request.body))
    recovery, opening = request.services.upkeep.recovery, request.services.upkeep.opening
    if recovery is None:
        return refusal(NotAllowed("the stage does not stand on restored tables"))
    if body.ledger and recovery.replaced is not None and opening.waits() is None:
        says = "the stage is open, so its own ledger is the newer one; with ledger false it wakes what is unfinished"
        return refusal(NotAllowed(says))
    found = recovery.run(body.share, body.shares, request.now + LONGEST, ledger=body.ledger)
    swept = found.swept
    return Answer(
        body={
            "retired": found.retired,
            "brought": found.brought,
            "woken": swept.forgotten_executions + swept.unmarked_lanes,
            "planted": swept.timerless_jobs,
            "jobs": swept.jobs_seen,
            "unfinished": swept.executions_seen,
            "unreadable": swept.unreadable,
            "finished": found.finished,
        }
    )


def open_stage(request: Request) -> Answer:
    """What is due from now on fires."""
    body = checked(OpeningBody, read_object(request.body))
    outcome = request.services.upkeep.opening.open(request.caller, body.note)
    return switches.shown(request, outcome) if isinstance(outcome, StageSwitches) else refusal(outcome)
