"""Ends pauses that are over, and tells of switches that are.

Runs every minute; a run that is missed or repeated does no harm.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.errands.telling import notice_put
from fencepost.application.registry.agenda import CLOSED, KEPT, just_before, still_open, whose_switch
from fencepost.application.registry.jobs import JobRequest
from fencepost.application.registry.lifecycle import Swept, resume
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_team, job_by_uid
from fencepost.application.registry.results import Conflict, OverLimit
from fencepost.application.store import (
    Committed,
    Compare,
    Condition,
    Delete,
    Item,
    Key,
    Lacks,
    Present,
    Put,
    Query,
    StoreBusyError,
    StoreError,
    Table,
    Update,
    either,
    items,
)
from fencepost.application.switches.flipping import ended_by_itself
from fencepost.domain.instants import MINUTE, floor_minute, from_ms, to_ms
from fencepost.domain.model import Caller
from fencepost.domain.states import JobState

KEEPER = Caller(principal="fencepost", source="agenda")
NOTE = "the pause expired"
SETTLED = timedelta(minutes=3)
"""A minute's agenda is read again for so long: a slow writer may still note something there."""
MOST_MINUTES = 360
"""How many minutes one run makes up for; after a longer outage the next runs go on."""
FIRST_LOOK = timedelta(hours=1)
NOT_NOW = (StoreError, LookupError, ValueError, TypeError, ArithmeticError)
AGAIN = MINUTE
TRIES = 3
"""How often a job is looked at that others change meanwhile, before its pause waits for the next minute."""
SET_ASIDE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """One per process."""

    ports: RegistryPorts

    def run(self, now: datetime) -> int:
        """Resumes every job whose pause has ended; how many. As of the end of the pause: what fell due since is the
        misfire policy's, not the pause's. Tells teams of their switches that have ended. One that cannot be resumed now
        holds up no other, and is tried again; where not even that can be noted, the failure is raised once all others
        are seen to.
        """
        cursor = self.ports.store.get(keys.agenda_cursor()) or {}
        self._close(floor_minute(now - SETTLED), cursor)
        minute, ended = _begin(cursor, now), 0
        unsettled, trouble = now, None
        for _ in range(MOST_MINUTES):
            if minute > now:
                break
            query = Query(table=Table.CONTROL, pk=keys.agenda_partition(minute))
            for item in list(items(self.ports.store, query)):
                try:
                    ended += self._entry(item, now)
                except NOT_NOW as error:
                    if not self._put_aside(item, now, error):
                        unsettled, trouble = min(unsettled, minute), error
            minute += MINUTE
        self._done(min(minute - MINUTE, unsettled - MINUTE, floor_minute(now - SETTLED)))
        if trouble is not None:
            raise trouble
        return ended

    def _put_aside(self, item: Item, now: datetime, error: Exception) -> bool:
        """Into a later minute with the reason: the next one, or after an hour where what is stored cannot be understood.
        False: the store does not even do that, and the minute is read again.
        """
        later = floor_minute(now + (AGAIN if isinstance(error, StoreError) else SET_ASIDE))
        facts = {"expires": to_ms(later + KEPT) // 1000, **item, "why": str(error)[:200]}
        key = Key(Table.CONTROL, keys.agenda_partition(later), item["sk"])
        moved = Put(key=key, item={name: facts[name] for name in facts if name not in {"pk", "sk"}})
        old = Delete(key=Key(Table.CONTROL, item["pk"], item["sk"]))
        try:
            return isinstance(self.ports.store.transact((moved, old, still_open(later))), Committed)
        except StoreError:
            return False

    def _entry(self, item: Item, now: datetime) -> bool:
        until = from_ms(item["until"])
        if until > now:
            return False
        team = whose_switch(str(item["sk"]))
        if team is not None:
            self._told(team, until, Key(Table.CONTROL, item["pk"], item["sk"]))
            return False
        over = self._ended(str(item["sk"]).partition("#")[0], until)
        self.ports.store.write(Delete(key=Key(Table.CONTROL, item["pk"], item["sk"])))
        return over

    def _told(self, name: str, until: datetime, entry: Key) -> None:
        """A switch ends by the clock alone; its team is told by whoever takes the entry away, and by nobody else."""
        team = find_team(self.ports.store, name)
        notice = None if team is None else ended_by_itself(team, until)
        told = () if notice is None else (notice_put(notice),)
        self.ports.store.transact((Delete(key=entry, condition=Present()), *told))

    def _ended(self, uid: str, until: datetime) -> bool:
        """Whether the pause stood and was ended. Whoever changed the job meanwhile may have left it paused."""
        for _ in range(TRIES):
            job = job_by_uid(self.ports.store, uid)
            if job is None or job.state is not JobState.PAUSED or job.paused_until != until:
                return False
            request = JobRequest(
                caller=KEEPER, team=job.team, name=job.name, uid=uid, expected=job.revision, note=NOTE
            )
            begins = max(just_before(until), job.ended_until or job.created_at)
            match resume(self.ports, request, effective=begins):
                case Conflict():
                    continue
                case OverLimit(limit, _, maximum):  # tried again until somebody makes room
                    raise ValueError(f"the team's {limit} of {maximum} would be exceeded")
                case outcome:
                    return isinstance(outcome, Swept)
        raise StoreBusyError(f"{uid}: others keep changing it")

    def _close(self, minute: datetime, cursor: Item) -> None:
        """Before it is read for the last time: nothing is noted in it, or before it, from here on."""
        closed = cursor.get(CLOSED)
        further: Condition = either(Lacks(CLOSED), Compare(CLOSED, "<", to_ms(minute)))
        if closed is not None and not isinstance(closed, int):  # nobody can read it
            further = Present()
        self.ports.store.write(
            Update(key=keys.agenda_cursor(), set={CLOSED: to_ms(minute)}, condition=further)
        )

    def _done(self, minute: datetime) -> None:
        done = {"v": VERSION, "m": to_ms(minute)}
        self.ports.store.write(Update(key=keys.agenda_cursor(), set=done, condition=Present()))


def _begin(cursor: Item, now: datetime) -> datetime:
    """After the last minute that is done; an hour ago, before there is one and where nobody can read which."""
    with suppress(LookupError, ValueError, TypeError, ArithmeticError):
        return from_ms(cursor["m"]) + MINUTE
    return floor_minute(now - FIRST_LOOK)
