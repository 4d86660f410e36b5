"""A whole crontab file, read line by line: each job's schedule, or why it has none here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from fencepost.domain.faults import Fault, Faults
from fencepost.domain.schedule.model import Schedule
from fencepost.domain.schedule.parsing import parse_schedule
from fencepost.domain.schedule.suggestions import similar_zones
from fencepost.domain.schedule.zones import zone_names

MAX_LINES = 10_000
MAX_LINE = 4_096

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)", re.ASCII)
_ENTRY = re.compile(r"(@every[ \t]+\S+|@\w+|\S+(?:[ \t]+\S+){4})[ \t]+(.*)", re.ASCII | re.IGNORECASE)
_REBOOT = "@reboot asks for the start of one machine, and nothing here belongs to one"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrontabLine:
    """One job of the file: `number` counts lines from 1; either `schedule` or `faults` says what became of it."""

    number: int
    text: str
    command: str
    schedule: Schedule | None
    faults: tuple[Fault, ...] = ()


def parse_crontab(text: str, *, now: datetime, timezone: str = "UTC") -> list[CrontabLine]:
    """The jobs of a crontab, comments and other variables left out. Raises Faults if the file is too large.

    ``CRON_TZ`` and ``TZ`` set the zone of the lines below them; before the first, it is `timezone`. A line of a
    system crontab, with a user before the command, is read as if the user were part of the command.
    """
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise Faults(
            [Fault(field="crontab", value=len(lines), rule=f"must have at most {MAX_LINES:,} lines")]
        )
    found: list[CrontabLine] = []
    for number, line in enumerate(lines, start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        assignment = _ASSIGNMENT.fullmatch(bare[:MAX_LINE])
        if assignment is None:
            found.append(_entry(number, bare, timezone, now))
        elif assignment.group(1) in ("CRON_TZ", "TZ"):
            timezone = _unquoted(assignment.group(2))
            found += _zone_faults(number, bare, timezone)
    return found


def _entry(number: int, line: str, timezone: str, now: datetime) -> CrontabLine:
    where = f"line {number}"
    parts = _ENTRY.fullmatch(line) if len(line) <= MAX_LINE else None
    if parts is None:
        rule = (
            "must be five fields and a command"
            if len(line) <= MAX_LINE
            else f"is longer than {MAX_LINE:,} characters"
        )
        return _refused(number, line, "", Fault(field=where, value=line, rule=rule))
    expression, command = parts.groups()
    if expression.lower() == "@reboot":
        return _refused(number, line, command, Fault(field=where, value=expression, rule=_REBOOT))
    try:
        schedule = parse_schedule({"cron": expression, "timezone": timezone}, now=now, field=where)
    except Faults as refused:
        return _refused(number, line, command, *refused.faults)
    return CrontabLine(number=number, text=line, command=command, schedule=schedule)


def _zone_faults(number: int, line: str, timezone: str) -> list[CrontabLine]:
    """A zone that does not exist is told at its own line too, once, before the jobs below it."""
    if timezone in zone_names():
        return []
    rule = "is not a time zone of the IANA database"
    fault = Fault(field=f"line {number}", value=timezone, rule=rule, suggestion=similar_zones(timezone))
    return [_refused(number, line, "", fault)]


def _refused(number: int, line: str, command: str, *faults: Fault) -> CrontabLine:
    return CrontabLine(number=number, text=line[:MAX_LINE], command=command, schedule=None, faults=faults)


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
