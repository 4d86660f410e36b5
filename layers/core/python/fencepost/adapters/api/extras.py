"""Previews and health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.adapters.api import render
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.models import PreviewBody
from fencepost.adapters.api.reading import read_object, shaped
from fencepost.adapters.api.translate import misfire, misfire_faults
from fencepost.application.calendars import TeamCalendars
from fencepost.application.registry.documents import misfire_document
from fencepost.application.registry.drafts import read_schedule
from fencepost.application.registry.health import health as health_of
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import to_wire
from fencepost.domain.schedule import Calendar, schedule_to_wire, tzdata_age, tzdata_version
from fencepost.domain.schedule.preview import preview as preview_of
from fencepost.domain.schedule.reading import read_instant


def preview(request: Request) -> Answer:
    """What a schedule would do, from an instant on; and the misfire policy with its defaults."""
    return _preview(request, None)


def preview_for_team(request: Request) -> Answer:
    """The same with the team's calendars: they must be there, and what they exclude is marked."""
    return _preview(request, TeamCalendars(request.services.store, request.team))


def _preview(request: Request, calendars: TeamCalendars | None) -> Answer:
    raw = read_object(request.body)
    faults: list[Fault] = []
    body = shaped(PreviewBody, raw, faults, domain={"schedule"})
    after = request.now
    if body is not None and body.after is not None:
        try:
            after = read_instant(body.after)
        except ValueError as error:
            faults.append(Fault(field="after", value=body.after, rule=str(error)))
    schedule = read_schedule(
        raw.get("schedule"), now=after, previous=None, faults=faults, calendars=calendars
    )
    if body is not None:
        faults.extend(misfire_faults(body.misfire))
    if faults or body is None or schedule is None:
        raise Faults(dict.fromkeys(faults))
    known: Mapping[str, Calendar] = {} if calendars is None else calendars
    answer: dict[str, Any] = {
        "schedule": schedule_to_wire(schedule),
        "misfire": misfire_document(misfire(body.misfire)),
        "occurrences": render.occurrences(preview_of(schedule, after, body.count, known)),
    }
    return Answer(body=answer | render.in_words(schedule))


FAILING = "failing"
"""The store refuses writes: nothing fires, whatever was proven until now."""


def health(request: Request) -> Answer:
    """How far the proof passes are, whether the store takes what is written, and by which time-zone rules this process
    decides.
    """
    found = health_of(request.services.store, request.now, request.services.registry.limits)
    age, rules = found.watermark_age, tzdata_age(request.now)
    trouble = request.services.trouble()
    return Answer(
        body={
            "status": found.status.value if trouble is None else FAILING,
            "trouble": trouble,
            "tzdata": tzdata_version(),
            "tzdata_age_days": None if rules is None else rules.days,
            "shards": request.services.registry.limits.shards,
            "watermark_age_seconds": None if age is None else int(age.total_seconds()),
            "now": to_wire(request.now),
        }
    )
