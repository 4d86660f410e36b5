"""Backfills over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from fencepost.adapters.api.bodies_upkeep import BackfillBody
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import conflict, missing, refusal
from fencepost.adapters.api.reading import read_object, shaped
from fencepost.application.backfills.asking import Wish
from fencepost.application.backfills.codec import errand_of
from fencepost.application.backfills.reading import Counts, count, find_backfill, list_backfills
from fencepost.application.registry.locate import locate
from fencepost.application.registry.reading import find_team
from fencepost.application.store import StoreError
from fencepost.domain.backfill import Backfill
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import optional_wire, to_wire
from fencepost.domain.model import Job, Overlap
from fencepost.domain.schedule.reading import read_instant
from fencepost.domain.states import ExecutionState, JobState


def ask(request: Request) -> Answer:
    """Writes the backfill down; it goes on by itself. The same Idempotency-Key names the same one."""
    body, first, before = _read(read_object(request.body))
    job = _job(request)
    if job is None:
        return missing("job", request.job)
    if job.state is JobState.DELETED:
        return conflict("job-deleted", "the job was deleted, and nothing of it begins any more")
    wish = Wish(
        caller=request.caller,
        key=request.key or request.services.registry.entropy.token(),
        first=first,
        before=before,
        rate=body.rate,
        overlap=None if body.overlap is None else Overlap(body.overlap),
        force=body.force,
        note=body.note,
    )
    asked = request.services.upkeep.backfills.ask(job, wish, request.now)
    if not isinstance(asked, Backfill):
        return refusal(asked)
    request.services.upkeep.first_step(errand_of(asked), request.services.now())
    return _shown(request, asked, status=202)


def get(request: Request) -> Answer:
    """One backfill, with what became of its executions."""
    found = _find(request)
    if found is None:
        return missing("backfill", request.path["backfill"])
    counts = count(request.services.store, found)
    return Answer(body={**document(found), "executions": _counts(counts)})


def browse(request: Request) -> Answer:
    """A job's backfills."""
    job = _job(request)
    if job is None:
        return missing("job", request.job)
    wanted = limit(request)
    found = list_backfills(request.services.store, job.uid, after=position(request), limit=wanted)
    after = found[-1].id if len(found) == wanted else None
    return page(request, [document(each) for each in found], after)


def cancel(request: Request) -> Answer:
    """Nothing of it begins any more; what has begun goes on."""
    found, team = _find(request), find_team(request.services.store, request.team)
    if found is None or team is None:
        return missing("backfill", request.path["backfill"])
    upkeep = request.services.upkeep
    off = upkeep.backfills.call_off(found.uid, found.id, request.caller, team, request.now)
    if not isinstance(off, Backfill):
        return refusal(off)
    upkeep.first_step(errand_of(off), request.services.now())
    return _shown(request, off)


def document(backfill: Backfill) -> dict[str, Any]:
    """The shape of the API."""
    return {
        "id": backfill.id,
        "team": backfill.team,
        "job": backfill.job,
        "uid": backfill.uid,
        "state": backfill.state.value,
        "from": to_wire(backfill.first),
        "to": to_wire(backfill.before),
        "rate": backfill.rate,
        "overlap": backfill.overlap.value,
        "force": backfill.force,
        "note": backfill.note,
        "asked_at": to_wire(backfill.asked_at),
        "asked_by": backfill.asked_by,
        "reached": None if backfill.cursor < backfill.first else to_wire(backfill.cursor),
        "released": backfill.released,
        "left_out": backfill.left_out,
        "ended_at": optional_wire(backfill.ended_at),
        "ended_by": backfill.ended_by,
        "why": backfill.why,
    }


def _shown(request: Request, backfill: Backfill, status: int = 200) -> Answer:
    """As it is now: a step may have been taken since. What was done is done, whether it can be read again or not."""
    latest = None
    with suppress(StoreError):
        latest = find_backfill(request.services.store, backfill.uid, backfill.id)
    return Answer(status=status, body=document(latest or backfill))


def _job(request: Request) -> Job | None:
    return locate(request.services.store, request.team, request.job)


def _find(request: Request) -> Backfill | None:
    job = _job(request)
    return None if job is None else find_backfill(request.services.store, job.uid, request.path["backfill"])


def _counts(counts: Counts) -> dict[str, Any]:
    by_state = {state.value.lower(): counts.by_state[state] for state in ExecutionState}
    return {**by_state, "at_least": counts.at_least}


def _read(raw: Mapping[str, object]) -> tuple[BackfillBody, datetime, datetime]:
    """The body and its two instants. Raises Faults with all that is wrong with it."""
    faults: list[Fault] = []
    body = shaped(BackfillBody, raw, faults, domain=frozenset())
    found: dict[str, datetime] = {}
    for name in ("from", "to"):
        text = raw.get(name)
        if not isinstance(text, str):
            continue  # told with the shape
        try:
            found[name] = read_instant(text)
        except ValueError as error:
            faults.append(Fault(field=name, value=text, rule=str(error)))
    if body is None or faults:
        raise Faults(faults)
    return body, found["from"], found["to"]
