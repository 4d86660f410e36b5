"""The routes of exclusion calendars."""

from __future__ import annotations

from fencepost.adapters.api import answers, answers_team, bodies, calendars
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.paths import TEAM
from fencepost.adapters.api.queries import PAGED, Parameter, number
from fencepost.adapters.api.route import Route

CALENDARS = TEAM + "/calendars"
CALENDAR = CALENDARS + "/{calendar}"
VERSION = Parameter(
    name="version",
    read=number(1, 999_999_999),
    schema={"type": "integer", "minimum": 1},
    says="The calendar as it was in this version; a skipped firing's note names it.",
)

CALENDAR_ROUTES = (
    Route(
        name="listCalendars",
        method="GET",
        path=CALENDARS,
        says="A team's exclusion calendars by name.",
        role=Role.READER,
        handle=calendars.browse,
        gives={200: answers_team.CalendarList},
        query=PAGED,
    ),
    Route(
        name="putCalendar",
        method="PUT",
        path=CALENDAR,
        says="Declare a calendar in full; its version grows. It counts for firings that are claimed from then on: those "
        "due within the next minutes may be on their way already.",
        role=Role.OWNER,
        handle=calendars.put,
        takes=bodies.CalendarBody,
        gives={200: answers_team.Calendar, 201: answers_team.Calendar},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="getCalendar",
        method="GET",
        path=CALENDAR,
        says="Read a calendar, as it is now or as it was in a version.",
        role=Role.READER,
        handle=calendars.get,
        gives={200: answers_team.Calendar, 304: None},
        query=(VERSION,),
        conditional=True,
    ),
    Route(
        name="deleteCalendar",
        method="DELETE",
        path=CALENDAR,
        says="Delete a calendar that no job names; 409 names some that do. Its versions stay readable.",
        role=Role.OWNER,
        handle=calendars.delete,
        gives={200: answers_team.Calendar},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="listCalendarVersions",
        method="GET",
        path=CALENDAR + "/versions",
        says="Who changed the calendar, when, from what to what; the newest first. A revision is a version.",
        role=Role.READER,
        handle=calendars.history,
        gives={200: answers.RevisionList},
        query=PAGED,
    ),
)
