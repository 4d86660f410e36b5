"""Pauses and switches that end by themselves: noted under the minute of their end, by the write that makes them.

A minute that is near may be done by the time the write arrives, however it stood still: so it names the minutes that are
closed, as a timer names its watermark.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.store import Absent, Action, Check, Compare, Lacks, Put, either
from fencepost.domain.instants import floor_minute, to_ms
from fencepost.domain.model import Job
from fencepost.domain.states import JobState

CLOSED = "closed"
"""The cursor's attribute: epoch milliseconds of the last minute in which nothing may be noted any more."""
NEAR = timedelta(minutes=10)
"""No request stands still for longer. What lies farther ahead needs no check, and does not meet others at the cursor."""
KEPT = timedelta(days=30)
"""An entry that nobody needed any more goes by itself."""
_TEAM = "team/"
"""No uid begins so."""


def agenda_entry(before: Job | None, after: Job, now: datetime) -> tuple[Action, ...]:
    """The note that a write leaves, where it pauses a job until an instant."""
    until = after.paused_until
    if until is None or after.state is not JobState.PAUSED or (before and before.paused_until == until):
        return ()
    return _entry(after.uid, after.revision, until, now)


def switch_entry(team: str, until: datetime, now: datetime) -> tuple[Action, ...]:
    """The note that a team's switch leaves which ends at `until`: one for all that end then."""
    return _entry(f"{_TEAM}{team}", to_ms(until), until, now)


def whose_switch(sort_key: str) -> str | None:
    """The team of which an entry is about a switch; None for an entry about a job."""
    whose = sort_key.partition("#")[0]
    return whose.removeprefix(_TEAM) if whose.startswith(_TEAM) else None


def still_open(minute: datetime) -> Check:
    """The agenda of `minute` is read once more at least."""
    before = Compare(CLOSED, "<", to_ms(minute))
    return Check(key=keys.agenda_cursor(), condition=either(Absent(), Lacks(CLOSED), before))


def _entry(whose: str, number: int, until: datetime, now: datetime) -> tuple[Action, ...]:
    """What is over by now is noted in this minute."""
    minute = floor_minute(max(until, now))
    item = {"v": VERSION, "until": to_ms(until), "expires": to_ms(until + KEPT) // 1000}
    put = Put(key=keys.agenda(minute, whose, number), item=item)
    return (put, still_open(minute)) if minute - now <= NEAR else (put,)


def just_before(instant: datetime) -> datetime:
    """The last millisecond before `instant`: an occurrence at the very end of a pause fires."""
    return instant - timedelta(milliseconds=1)
