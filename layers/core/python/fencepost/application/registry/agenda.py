"""Pauses and switches that end by themselves: noted under the minute of their end, by the write that makes them."""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.store import Action, Put
from fencepost.domain.instants import floor_minute, to_ms
from fencepost.domain.model import Job
from fencepost.domain.states import JobState

KEPT = timedelta(days=30)
"""An entry that nobody needed any more goes by itself."""
_TEAM = "team/"
"""No uid begins so."""


def agenda_entry(before: Job | None, after: Job) -> tuple[Action, ...]:
    """The note that a write leaves, where it pauses a job until an instant."""
    until = after.paused_until
    if until is None or after.state is not JobState.PAUSED or (before and before.paused_until == until):
        return ()
    return (_entry(after.uid, after.revision, until),)


def switch_entry(team: str, until: datetime) -> Put:
    """The note that a team's switch leaves which ends at `until`: one for all that end then."""
    return _entry(f"{_TEAM}{team}", to_ms(until), until)


def whose_switch(sort_key: str) -> str | None:
    """The team of which an entry is about a switch; None for an entry about a job."""
    whose = sort_key.partition("#")[0]
    return whose.removeprefix(_TEAM) if whose.startswith(_TEAM) else None


def _entry(whose: str, number: int, until: datetime) -> Put:
    item = {"v": VERSION, "until": to_ms(until), "expires": to_ms(until + KEPT) // 1000}
    return Put(key=keys.agenda(floor_minute(until), whose, number), item=item)


def just_before(instant: datetime) -> datetime:
    """The last millisecond before `instant`: an occurrence at the very end of a pause fires."""
    return instant - timedelta(milliseconds=1)
