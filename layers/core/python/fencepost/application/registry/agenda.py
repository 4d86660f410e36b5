"""Pauses that end by themselves: noted under the minute of their end, by the write that pauses."""

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


def agenda_entry(before: Job | None, after: Job) -> tuple[Action, ...]:
    """The note that a write leaves, where it pauses a job until an instant."""
    until = after.paused_until
    if until is None or after.state is not JobState.PAUSED or (before and before.paused_until == until):
        return ()
    key = keys.agenda(floor_minute(until), after.uid, after.revision)
    item = {"v": VERSION, "until": to_ms(until), "expires": to_ms(until + KEPT) // 1000}
    return (Put(key=key, item=item),)


def just_before(instant: datetime) -> datetime:
    """The last millisecond before `instant`: an occurrence at the very end of a pause fires."""
    return instant - timedelta(milliseconds=1)
