"""From the wire form to a schedule. Every fault of an input is told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypedDict

from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import aware, to_wire
from fencepost.domain.schedule.calendars import Calendar, ever_runs
from fencepost.domain.schedule.canonical import fixed_text
from fencepost.domain.schedule.fields import parse_cron
from fencepost.domain.schedule.model import (
    LONGEST_EVERY,
    SHORTEST_EVERY,
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
)
from fencepost.domain.schedule.occurrences import next_occurrence
from fencepost.domain.schedule.reading import LATEST, Reader
from fencepost.domain.schedule.refusals import CronRefusedError
from fencepost.domain.schedule.suggestions import alternative, similar_zones
from fencepost.domain.schedule.wire import schedule_to_wire
from fencepost.domain.schedule.zones import zone_names

MAX_FIRINGS = 1_000_000_000
MAX_JITTER_SECONDS = 86_400
MAX_CALENDARS = 8

_KINDS = ("cron", "every", "at", "in")
_COMMON = frozenset({"start_at", "end_at", "max_firings", "jitter_seconds", "exclude"})
_OWN = {
    "cron": frozenset({"cron", "timezone", "dst"}),
    "every": frozenset({"every", "anchor"}),
    "at": frozenset({"at"}),
    "in": frozenset({"in"}),
}
_SECOND = timedelta(seconds=1)
_CALENDAR_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class _BoundsRead(TypedDict):
    start_at: datetime | None
    end_at: datetime | None
    max_firings: int | None
    jitter_seconds: int
    exclude: tuple[str, ...]


def parse_schedule(
    raw: Mapping[str, object],
    *,
    now: datetime,
    field: str = "schedule",
    previous: Schedule | None = None,
    calendars: Mapping[str, Calendar] | None = None,
) -> Schedule:
    """The schedule that `raw` describes, as of `now`. Raises Faults with every fault.

    ``in`` becomes ``at``, a missing ``anchor`` becomes `now`. `previous` is the job's schedule so far: its anchor is
    kept where none is given, and a schedule equal to it is not asked whether it still fires. With `calendars`, the
    team's, a name that is not among them is refused, and so is a schedule whose every occurrence they exclude.
    """
    now = aware(now)
    reader = Reader(raw, field)
    schedule = _read(reader, now, previous)
    if schedule is not None and not reader.faults and schedule != previous:
        _check_fires(reader, schedule, now)
        _check_calendars(reader, schedule, now, calendars)
    if schedule is None or reader.faults:
        raise Faults(reader.faults)
    return schedule


def decode_schedule(wire: Mapping[str, object]) -> Schedule:
    """The schedule that `schedule_to_wire` wrote, whatever the time is now. Raises Faults."""
    reader = Reader(wire, "schedule")
    schedule = _read(reader, None, None)
    if schedule is None or reader.faults:
        raise Faults(reader.faults)
    return schedule


def _read(reader: Reader, now: datetime | None, previous: Schedule | None) -> Schedule | None:
    """The schedule, or None after a fault. Without `now`, only stored forms are understood."""
    kinds = [kind for kind in _KINDS if kind in reader.raw and not (kind == "in" and now is None)]
    if len(kinds) != 1:
        reader.fault(
            "", f"must hold exactly one of {', '.join(_KINDS)}; this holds {' and '.join(kinds) or 'none'}"
        )
        return None
    reader.refuse_unknown(_OWN[kinds[0]] | _COMMON)
    bounds = _read_bounds(reader)
    match kinds[0]:
        case "cron":
            return _read_cron(reader, bounds)
        case "every":
            return _read_every(reader, bounds, now, previous)
        case "at":
            return _read_at(reader, bounds)
        case _:
            return None if now is None else _read_in(reader, bounds, now)


def _read_bounds(reader: Reader) -> _BoundsRead:
    start, end = reader.instant("start_at"), reader.instant("end_at")
    if start is not None and end is not None and end < start:
        reader.fault("end_at", "must not lie before start_at")
    return {
        "start_at": start,
        "end_at": end,
        "max_firings": reader.integer("max_firings", 1, MAX_FIRINGS),
        "jitter_seconds": reader.integer("jitter_seconds", 0, MAX_JITTER_SECONDS) or 0,
        "exclude": _read_exclude(reader),
    }


def _read_exclude(reader: Reader) -> tuple[str, ...]:
    value = reader.raw.get("exclude")
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        reader.fault("exclude", "must be a list of calendars' names")
        return ()
    names = tuple(name for name in value if _CALENDAR_NAME.fullmatch(name))
    if len(value) > MAX_CALENDARS or len(names) < len(value):
        reader.fault(
            "exclude", f"must be at most {MAX_CALENDARS} names of lower-case letters, digits and hyphens"
        )
    return names


def _read_cron(reader: Reader, bounds: _BoundsRead) -> CronSchedule | None:
    text, zone, dst = reader.text("cron"), _read_zone(reader), _read_dst(reader)
    if text is None:
        return None
    try:
        fields = parse_cron(text)
    except CronRefusedError as refused:
        meant = alternative(text)
        for problem in refused.problems:
            reader.fault("cron", problem.rule, meant)
        return None
    if fields.wild and dst not in (None, DstPolicy()):
        rule = (
            "has no use here: minute or hour begins with a star, so every real minute that matches is a run; "
            "written without the star, the expression obeys it"
        )
        reader.fault("dst", rule, fixed_text(fields))
    return CronSchedule(cron=text, timezone=zone or "UTC", dst=dst or DstPolicy(), **bounds)


def _read_zone(reader: Reader) -> str | None:
    zone = reader.text("timezone")
    if zone is None or zone in zone_names():
        return zone
    rule = "is not a time zone of the IANA database"
    reader.fault("timezone", rule, similar_zones(zone))
    return None


def _read_dst(reader: Reader) -> DstPolicy | None:
    value = reader.raw.get("dst")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        reader.fault("dst", "must be an object with gap and overlap")
        return None
    inner = Reader(value, f"{reader.path}.dst", reader.faults)
    inner.refuse_unknown(frozenset({"gap", "overlap"}))
    gap, overlap = inner.one_of("gap", tuple(Gap)), inner.one_of("overlap", tuple(DstOverlap))
    return DstPolicy(gap=Gap(gap or Gap.AFTER), overlap=DstOverlap(overlap or DstOverlap.FIRST))


def _read_every(
    reader: Reader, bounds: _BoundsRead, now: datetime | None, previous: Schedule | None
) -> IntervalSchedule | None:
    every, anchor = reader.duration("every"), reader.instant("anchor")
    if every is not None and not SHORTEST_EVERY <= every <= LONGEST_EVERY:
        reader.fault(
            "every", "must be from 5 seconds to 3,660 days", "PT5S" if every < SHORTEST_EVERY else None
        )
        every = None
    if anchor is not None and anchor.microsecond:
        reader.fault("anchor", "must be a whole second", to_wire(anchor.replace(microsecond=0)))
    if anchor is None and isinstance(previous, IntervalSchedule):
        anchor = previous.anchor
    if anchor is None and now is not None:
        anchor = now.replace(microsecond=0)
    if anchor is None and "anchor" not in reader.raw:
        reader.fault("anchor", "is missing")
    if every is None or anchor is None:
        return None
    return IntervalSchedule(every=every, anchor=anchor, **bounds)


def _read_at(reader: Reader, bounds: _BoundsRead) -> OneOffSchedule | None:
    at = reader.instant("at")
    if at is None:
        if reader.raw.get("at") is None:
            reader.fault("at", "must be an instant as in RFC 3339, e.g. 2026-12-24T18:00:00Z")
        return None
    if at.microsecond:
        reader.fault("at", "must be a whole second", to_wire(at.replace(microsecond=0)))
        return None
    return OneOffSchedule(at=at, **bounds)


def _read_in(reader: Reader, bounds: _BoundsRead, now: datetime) -> OneOffSchedule | None:
    delay = reader.duration("in")
    if delay is None:
        return None
    if not _SECOND <= delay < LATEST - now:
        reader.fault("in", "must be at least a second, and end before the year 2200")
        return None
    at = now + delay
    # Rounded up: a firing is never early.
    return OneOffSchedule(
        at=at.replace(microsecond=0) + (_SECOND if at.microsecond else timedelta(0)), **bounds
    )


def _check_fires(reader: Reader, schedule: Schedule, now: datetime) -> None:
    """A fault if no occurrence follows `now`."""
    if next_occurrence(schedule, now) is not None:
        return
    if isinstance(schedule, OneOffSchedule) and schedule.at <= now:
        reader.fault("at", "lies in the past")
        return
    if schedule.end_at is not None and schedule.end_at <= now:
        reader.fault("end_at", "lies in the past, so this never fires")
        return
    rule = "never fires: nothing is due between now (or start_at) and end_at"
    if schedule.end_at is None:
        rule = "never fires: its zone skips every time of day that it names"
    reader.faults.append(Fault(field=reader.path, value=schedule_to_wire(schedule), rule=rule))


def _check_calendars(
    reader: Reader, schedule: Schedule, now: datetime, calendars: Mapping[str, Calendar] | None
) -> None:
    """A fault per unknown calendar, or one if the calendars leave nothing to run."""
    if calendars is None or reader.faults:
        return
    for name in schedule.exclude:
        if name not in calendars:
            near = difflib.get_close_matches(name, list(calendars)[:1000], n=1)
            reader.fault("exclude", f"names the calendar {name}, which the team does not have", *near)
    if not reader.faults and not ever_runs(schedule, now, calendars):
        reader.fault("exclude", "never fires: the calendars exclude every occurrence")
