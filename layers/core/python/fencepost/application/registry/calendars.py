"""What may be done to a team's exclusion calendars: declared anew, which makes a version; deleted, while no job names them.

A job that names a calendar leaves an item beside it, in the transaction that declares the job, under the condition
that nobody is about to delete the calendar. A delete marks the calendar first and looks for such items afterwards: so
either the job sees the mark, or the delete sees the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.calendars import (
    CLOSING,
    decode_calendar,
    encode_calendar,
    encode_gone,
    usable,
)
from fencepost.application.codec import NewerShapeError, UndecodableError, differing
from fencepost.application.registry.job_changes import Change
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.results import Conflict, Missing, NotAllowed, OverLimit, Refusal
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.registry.unreadable import MendableError, as_read
from fencepost.application.store import (
    Absent,
    Action,
    Cancelled,
    Check,
    Compare,
    Condition,
    Delete,
    Item,
    Lacks,
    Lost,
    Put,
    Query,
    Store,
    Table,
    Update,
    either,
    equals,
    every,
    items,
)
from fencepost.domain.instants import floor_ms, from_ms, to_ms
from fencepost.domain.model import Caller, Job
from fencepost.domain.schedule import Calendar
from fencepost.domain.schedule.calendars import calendar_to_wire, parse_calendar
from fencepost.domain.states import JobState

TRIES = 10
MOST = 100
NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRequest:
    """Who wants to change which calendar. `expected` is the version that the caller saw."""

    caller: Caller
    team: str
    name: str
    expected: int | None = None
    absent: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarDone:
    """The calendar as it is now, or as it was before it was deleted."""

    calendar: Calendar
    created: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """What is stored: the last version, the calendar unless it is deleted, and the condition that it still is so. `why`:
    nobody can read it, and the calendar is a blank one.
    """

    version: int
    calendar: Calendar | None
    same: Condition
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPage:
    """Calendars by name; `after` is the last name that was shown, None at the end. `unreadable`: names of those that
    nobody can read.
    """

    items: tuple[Calendar, ...]
    unreadable: tuple[str, ...]
    after: str | None


_Outcome: TypeAlias = CalendarDone | Refusal


def find_calendar(store: Store, team: str, name: str) -> Calendar | None:
    """The calendar as it is now. Raises MendableError."""
    found = _found(store, team, name)
    if found.why is not None:
        raise MendableError(f"calendar {name} of team {team} is there and cannot be read: {found.why}")
    return found.calendar


def list_calendars(store: Store, team: str, *, after: str | None, limit: int) -> CalendarPage:
    """The first `limit` calendars whose names follow `after`. Raises NewerShapeError."""
    first = keys.calendar(team, after or "")
    query = Query(table=Table.JOBS, pk=first.pk, first=first.sk, last=keys.calendar(team, "~").sk)
    found, unread = list[Calendar](), list[str]()
    for item in items(store, query):
        try:
            calendar = None if item["sk"] == first.sk else decode_calendar(item)
        except NewerShapeError:
            raise
        except UndecodableError:
            unread.append(str(item["sk"]).removeprefix("C#"))
            continue
        found += [] if calendar is None else [calendar]
        if len(found) == limit:
            break
    last = found[-1].name if len(found) == limit else None
    return CalendarPage(items=tuple(found), unreadable=tuple(unread), after=last)


def put_calendar(ports: RegistryPorts, request: CalendarRequest, raw: Mapping[str, object]) -> _Outcome:
    """Declares the calendar in full; the same again changes nothing. Raises Faults."""
    for _ in range(TRIES):
        now, found = floor_ms(ports.clock.now()), _found(ports.store, request.team, request.name)
        lost = _mismatch(request, found)
        if lost is not None:
            return lost
        wanted = parse_calendar(raw, name=request.name, version=found.version + 1, dated=now, field="")
        same = found.calendar is not None and calendar_to_wire(found.calendar) == calendar_to_wire(wanted)
        if found.calendar is not None and same and found.why is None:
            return CalendarDone(calendar=found.calendar)
        over = _over(ports.store, request) if found.calendar is None else None
        if over is not None:
            return over
        if _written(ports.store, request, found, wanted, now, found.same):
            return CalendarDone(calendar=wanted, created=found.calendar is None)
        ports.clock.sleep(ports.entropy.fraction() * ports.limits.early_send)
    return Conflict(revision=None)


def drop_calendar(ports: RegistryPorts, request: CalendarRequest) -> _Outcome:
    """Deletes the calendar, unless a job names it."""
    for _ in range(TRIES):
        now, found = floor_ms(ports.clock.now()), _found(ports.store, request.team, request.name)
        lost = _mismatch(request, found)
        if lost is not None:
            return lost
        if found.calendar is None:
            return Missing("calendar", request.name)
        outcome = _dropped(ports, request, found, found.calendar, now)
        if outcome is not None:
            return outcome
        ports.clock.sleep(ports.entropy.fraction() * ports.limits.early_send)
    return Conflict(revision=None)


def naming(change: Change, now: datetime) -> tuple[Action, ...]:
    """What the write of a job does beside the calendars that it begins or ceases to name."""
    job = change.job
    before = _names(None if change.before is None else change.before.job)
    after = _names(job)
    found: list[Action] = []
    for name in sorted(after - before):
        found.append(Check(key=keys.calendar(job.team, name), condition=usable(now)))
        found.append(Put(key=keys.calendar_use(job.team, name, job.uid), item={"v": 1, "job": job.name}))
    ceased = (Delete(key=keys.calendar_use(job.team, name, job.uid)) for name in sorted(before - after))
    return (*found, *ceased)


def _names(job: Job | None) -> frozenset[str]:
    return frozenset() if job is None or job.state is JobState.DELETED else frozenset(job.schedule.exclude)


def _found(store: Store, team: str, name: str) -> _Found:
    item = store.get(keys.calendar(team, name))
    if item is None:
        return _Found(0, None, Absent())
    try:
        calendar, version = decode_calendar(item), item["version"]
        return _Found(version, calendar, equals("version", version))
    except NewerShapeError:
        raise
    except UndecodableError as error:
        return _unread(store, team, name, item, str(error))


def _unread(store: Store, team: str, name: str, item: Item, why: str) -> _Found:
    """What can be done with a calendar that nobody can read: its next version follows the last that is on record."""
    first = keys.calendar_version(team, name, 0)
    query = Query(table=first.table, pk=first.pk, first="R#", last="R#~", forward=False, limit=1)
    numbers = [int(str(entry["sk"]).removeprefix("R#")) for entry in items(store, query)]
    blank = Calendar(name=name, version=max([1, *numbers]), dated=from_ms(0))
    return _Found(blank.version, blank, as_read(item, encode_calendar(blank)), why)


def _mismatch(request: CalendarRequest, found: _Found) -> Conflict | None:
    version = None if found.calendar is None else found.calendar.version
    if request.absent and version is not None:
        return Conflict(revision=version, expected=0)
    if request.expected is not None and request.expected != version:
        return Conflict(revision=version, expected=request.expected)
    return None


def _over(store: Store, request: CalendarRequest) -> OverLimit | None:
    page = list_calendars(store, request.team, after=None, limit=MOST)
    present = len(page.items) + len(page.unreadable)
    return OverLimit("calendars", present + 1, MOST) if present >= MOST else None


def _dropped(
    ports: RegistryPorts, request: CalendarRequest, found: _Found, calendar: Calendar, now: datetime
) -> _Outcome | None:
    """None where somebody else wrote meanwhile, or it took too long to look."""
    key, mark = keys.calendar(request.team, request.name), to_ms(now)
    free = either(Lacks("closing"), Compare("closing", "<", to_ms(now - CLOSING)))
    same = found.same
    marked = ports.store.write(Update(key=key, set={"closing": mark}, condition=every(same, free)))
    if isinstance(marked, Lost):
        return None
    ours = every(same, equals("closing", mark))
    users = _users(ports.store, request)
    if users:
        ports.store.write(Update(key=key, remove=("closing",), condition=ours))
        more = ", ..." if len(users) > NAMED else ""
        return NotAllowed(f"jobs name it: {', '.join(users[:NAMED])}{more}")
    if ports.clock.now() - now > CLOSING / 2:
        return None
    done = _written(ports.store, request, found, None, now, ours)
    return CalendarDone(calendar=calendar) if done else None


def _users(store: Store, request: CalendarRequest) -> list[str]:
    """The names of some jobs that name the calendar."""
    first = keys.calendar_use(request.team, request.name, "")
    query = Query(table=Table.JOBS, pk=first.pk, first=first.sk, last=first.sk + "~", limit=NAMED + 1)
    return sorted(str(item["job"]) for item in items(store, query))


def _item(request: CalendarRequest, found: _Found, item: Item, unchanged: Condition) -> Action:
    """The next version in the place of the last; whoever was about to delete that is no longer."""
    key = keys.calendar(request.team, request.name)
    if found.calendar is None or found.why is not None:
        return Put(key=key, item=item, condition=unchanged)
    changed, gone = differing(encode_calendar(found.calendar), item)
    return Update(key=key, set=changed, remove=(*gone, "closing"), condition=unchanged)


def _written(
    store: Store,
    request: CalendarRequest,
    found: _Found,
    wanted: Calendar | None,
    now: datetime,
    unchanged: Condition,
) -> bool:
    """The next version together with its entry in the trail, or nothing."""
    version = found.version + 1
    changed = "create" if found.calendar is None else "edit"
    entry = Entry(
        revision=version,
        what="delete" if wanted is None else changed,
        actor=request.caller.principal,
        source=request.caller.source,
        at=now,
        note=request.note,
        before=_before(found),
        after=None if wanted is None else calendar_to_wire(wanted),
    )
    item = encode_gone(version, now) if wanted is None else encode_calendar(wanted)
    key = keys.calendar_version(request.team, request.name, version)
    noted = Put(key=key, item=encode_entry(entry), condition=Absent() if found.why is not None else None)
    outcome = store.transact([_item(request, found, item, unchanged), noted])
    return not isinstance(outcome, Cancelled)


def _before(found: _Found) -> Mapping[str, object] | None:
    if found.why is not None:
        return {"unreadable": found.why}
    return None if found.calendar is None else calendar_to_wire(found.calendar)
