"""Exclusion calendars over HTTP."""

from __future__ import annotations

from typing import Any

from fencepost.adapters.api.access import NAME_RULE
from fencepost.adapters.api.bodies import CalendarBody
from fencepost.adapters.api.conditional import precondition, unchanged
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import etag, missing, refusal
from fencepost.adapters.api.reading import read_object, shaped
from fencepost.application.registry import revisions
from fencepost.application.registry.calendars import (
    CalendarDone,
    CalendarRequest,
    drop_calendar,
    find_calendar,
    list_calendars,
    put_calendar,
)
from fencepost.application.registry.results import Refusal
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.identity import NAME_PATTERN
from fencepost.domain.instants import to_wire
from fencepost.domain.schedule import Calendar
from fencepost.domain.schedule.calendars import calendar_to_wire, parse_calendar

_ENTRIES = ("dates", "instants", "timezone")


def put(request: Request) -> Answer:
    """Declares the calendar in full."""
    name, raw = request.path["calendar"], read_object(request.body)
    if not NAME_PATTERN.fullmatch(name):
        raise Faults([Fault(field="calendar", value=name, rule=NAME_RULE)])
    faults: list[Fault] = []
    body = shaped(CalendarBody, raw, faults, domain=set(_ENTRIES))
    entries = {key: value for key, value in raw.items() if key in _ENTRIES and value is not None}
    try:
        parse_calendar(entries, name=name, version=1, dated=request.now, field="")
    except Faults as found:
        faults.extend(found.faults)
    if faults or body is None:
        raise Faults([_bare(fault) for fault in faults])
    return _answer(request, put_calendar(request.services.registry, _asked(request, body.note), entries))


def get(request: Request) -> Answer:
    """The calendar as it is now, or one of its versions."""
    name, version = request.path["calendar"], request.query.get("version")
    if isinstance(version, int):
        calendar = _version(request, name, version)
    else:
        calendar = find_calendar(request.services.store, request.team, name)
    if calendar is None:
        return missing("calendar", name if version is None else f"{name} of version {version}")
    tag = etag(calendar.version)
    if unchanged(request.headers, tag):
        return Answer(status=304, headers={"ETag": tag})
    return _shown(request, calendar)


def browse(request: Request) -> Answer:
    """A team's calendars by name."""
    after = position(request)
    found = list_calendars(request.services.store, request.team, after=after, limit=limit(request))
    shown = [_summary(calendar) for calendar in found.items]
    return page(request, shown, found.after, unreadable=list(found.unreadable))


def delete(request: Request) -> Answer:
    """The calendar is no more, unless a job names it."""
    return _answer(request, drop_calendar(request.services.registry, _asked(request, None)))


def history(request: Request) -> Answer:
    """Every version of the calendar, the newest first, deleted ones too."""
    wanted, name = limit(request), request.path["calendar"]
    found = revisions.of_calendar(
        request.services.store, request.team, name, older_than=position(request), limit=wanted
    )
    if not found and request.query.get("cursor") is None:
        return missing("calendar", name)
    after = found[-1].revision if len(found) == wanted else None
    return page(request, [revisions.entry_to_wire(entry) for entry in found], after)


def _version(request: Request, name: str, version: int) -> Calendar | None:
    found = revisions.of_calendar(request.services.store, request.team, name, older_than=version + 1, limit=1)
    if not found or found[0].revision != version or found[0].after is None:
        return None
    return parse_calendar(found[0].after, name=name, version=version, dated=found[0].at)


def _asked(request: Request, note: str | None) -> CalendarRequest:
    wanted = precondition(request.headers)
    return CalendarRequest(
        caller=request.caller,
        team=request.team,
        name=request.path["calendar"],
        expected=wanted.revision,
        absent=wanted.absent,
        note=note,
    )


def _answer(request: Request, outcome: CalendarDone | Refusal) -> Answer:
    if not isinstance(outcome, CalendarDone):
        return refusal(outcome)
    return _shown(request, outcome.calendar, 201 if outcome.created else 200)


def _shown(request: Request, calendar: Calendar, status: int = 200) -> Answer:
    wire = calendar_to_wire(calendar)
    body: dict[str, Any] = {
        "team": request.team,
        "name": calendar.name,
        "version": calendar.version,
        "dated": to_wire(calendar.dated),
        "dates": wire.get("dates", []),
        "instants": wire.get("instants", []),
        "timezone": calendar.timezone,
    }
    return Answer(status=status, body=body, headers={"ETag": etag(calendar.version)})


def _summary(calendar: Calendar) -> dict[str, Any]:
    return {
        "name": calendar.name,
        "version": calendar.version,
        "dated": to_wire(calendar.dated),
        "entries": len(calendar.dates) + len(calendar.spans),
    }


def _bare(fault: Fault) -> Fault:
    """The reader names fields under a path, which is empty here."""
    return Fault(
        field=fault.field.lstrip(".") or "dates",
        value=fault.value,
        rule=fault.rule,
        suggestion=fault.suggestion,
    )
