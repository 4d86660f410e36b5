"""What keeps a team's jobs right: backfills, switches, calendars, time-zone rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from fencepost.client.calls import Call, Caller, path, precondition
from fencepost.client.decoding import Result, decode
from fencepost.client.paging import Listing, pages, walk
from fencepost.client.results import Revision, Team, UnreadableJob
from fencepost.domain.instants import to_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill(Result):
    """Past occurrences on their way again. `released`: executions made so far; `left_out`: instants that needed none;
    `reached`: the last instant looked at; `executions`: how many are in which state, where one backfill was asked for.
    """

    id: str
    team: str
    job: str
    state: str
    since: datetime = field(metadata={"wire": "from"})
    before: datetime = field(metadata={"wire": "to"})
    rate: int
    overlap: str
    force: bool
    asked_at: datetime
    asked_by: str
    released: int
    left_out: int
    reached: datetime | None = None
    note: str | None = None
    ended_at: datetime | None = None
    ended_by: str | None = None
    why: str | None = None
    executions: Mapping[str, Any] | None = None

    @property
    def unfinished(self) -> int:
        """How many of its executions are still on their way."""
        counts = self.executions or {}
        return sum(int(counts.get(state, 0)) for state in ("queued", "waiting", "running", "retry_wait"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Result):
    """The stage's own switches. `paused`: nothing that jobs' tiers carry starts."""

    revision: int
    paused: bool
    pauses: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered(Result):
    """What a share of a recovery came to. `retired`: had not ended in the copy, and has in the ledger that it replaces;
    `brought`: other records of that ledger; `woken`, `planted`: what was given a wake-up or a timer.
    """

    retired: int
    brought: int
    woken: int
    planted: int
    jobs: int
    unfinished: int
    unreadable: tuple[str, ...]
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure(Result):
    """A team on its way out; its name is free when the same call finds no team any more."""

    name: str
    leaving_since: datetime
    jobs_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar(Result):
    """When nothing runs: a version of a calendar, written at `dated`. Lists leave out what it holds."""

    name: str
    version: int
    dated: datetime
    dates: tuple[str, ...] = ()
    instants: tuple[str, ...] = ()
    timezone: str | None = None
    entries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedJob(Result):
    """A job whose next occurrence newer rules moved; `after` None: nothing follows any more."""

    job: str
    before: datetime
    after: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed(Result):
    """What some jobs came to under the rules `tzdata`. `unreadable`: those that stay where they are."""

    tzdata: str
    moved: tuple[MovedJob, ...]
    looked_at: int
    unreadable: tuple[UnreadableJob, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True)
class CalendarHandle:
    """One of a team's exclusion calendars."""

    caller: Caller
    team: str
    name: str

    def put(
        self,
        *,
        dates: Sequence[str] = (),
        instants: Sequence[str] = (),
        timezone: str | None = None,
        note: str | None = None,
        if_revision: int | None = None,
    ) -> Calendar:
        """Declares it in full: local dates (`2026-12-24` or `2026-12-24/2026-12-26`) or instants, in the same form."""
        body = {"dates": list(dates), "instants": list(instants), "timezone": timezone, "note": note}
        headers = precondition(if_revision)
        call = Call(method="PUT", path=self._path(), body=body, headers=headers, keyed=True)
        return decode(Calendar, self.caller.call(call).body)

    def get(self, version: int | None = None) -> Calendar:
        """As it is now, or as it was. Raises NotFoundError."""
        call = Call(method="GET", path=self._path(), query={"version": version})
        return decode(Calendar, self.caller.call(call).body)

    def delete(self) -> Calendar:
        """Refused while a job names it."""
        return decode(Calendar, self.caller.call(Call(method="DELETE", path=self._path(), keyed=True)).body)

    def history(self) -> Iterator[Revision]:
        """Every version, the newest first."""
        return walk(self.caller, self._path("versions"), {"limit": 100}, Revision)

    def _path(self, *more: str) -> str:
        return path("teams", self.team, "calendars", self.name, *more)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What is done for a whole team, or for the stage."""

    caller: Caller
    team: str

    def pause(
        self,
        note: str | None = None,
        *,
        until: datetime | None = None,
        tiers: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Team:
        """Nothing of the team's tiers starts any more; what comes due waits."""
        body = switching(note, until=until, tiers=tiers)
        return decode(Team, self._post(path("teams", self.team, "pause"), body, key))

    def resume(
        self, note: str | None = None, *, tiers: Sequence[str] | None = None, key: str | None = None
    ) -> Team:
        """What waited starts, or meets its job's misfire policy where it waited too long."""
        body = switching(note, tiers=tiers)
        return decode(Team, self._post(path("teams", self.team, "resume"), body, key))

    def delete(self, *, purge: bool = False) -> Departure:
        """Puts the team on its way out, with its jobs where `purge`; asked again, says how far it is. Administrators only;
        refused while there are jobs. Raises NotFoundError once the team is gone.
        """
        query = {"purge": "true"} if purge else {}
        call = Call(method="DELETE", path=path("teams", self.team), query=query, keyed=True)
        return decode(Departure, self.caller.call(call).body)

    def calendar(self, name: str) -> CalendarHandle:
        """One exclusion calendar."""
        return CalendarHandle(self.caller, self.team, name)

    def calendars(self) -> Listing[Calendar, str]:
        """The team's calendars by name. The names of those that nobody can read are in the iterator's `unreadable`."""
        found = pages(self.caller, path("teams", self.team, "calendars"), {"limit": 100})
        return Listing(found, partial(decode, Calendar), str)

    def refresh_zones(self) -> Iterator[Refreshed]:
        """Plants anew what older time-zone rules planted, some jobs a step; stopping early does no harm."""
        cursor: str | None = None
        while True:
            query = {"limit": 100, "cursor": cursor}
            call = Call(method="POST", path=path("teams", self.team, "tz-refresh"), query=query, keyed=True)
            found = decode(Refreshed, self.caller.call(call).body)
            yield found
            cursor = found.next
            if cursor is None:
                return

    def _post(self, where: str, body: object, key: str | None) -> Any:  # noqa: ANN401 - the answer's JSON
        return self.caller.call(Call(method="POST", path=where, body=body, key=key, keyed=True)).body


@dataclass(frozen=True, slots=True)
class StageHandle:
    """The stage's own switches, which administrators turn."""

    caller: Caller

    def get(self) -> Stage:
        """How they are."""
        return decode(Stage, self.caller.call(Call(method="GET", path=path("stage"))).body)

    def teams(self) -> Listing[Team, str]:
        """The teams by name that the caller has business with; all of them, for an administrator. The names of those that
        nobody can read are in the iterator's `unreadable`.
        """
        return Listing(pages(self.caller, path("teams"), {"limit": 100}), partial(decode, Team), str)

    def history(self) -> Iterator[Revision]:
        """Who flipped the switches, the newest first. Administrators only."""
        return walk(self.caller, path("stage", "revisions"), {"limit": 100}, Revision)

    def pause(
        self, note: str | None = None, *, until: datetime | None = None, tiers: Sequence[str] | None = None
    ) -> Stage:
        """Nothing of anybody starts any more; what comes due waits."""
        return self._turn("pause", switching(note, until=until, tiers=tiers))

    def resume(self, note: str | None = None, *, tiers: Sequence[str] | None = None) -> Stage:
        """What waited starts, or meets its job's misfire policy where it waited too long."""
        return self._turn("resume", switching(note, tiers=tiers))

    def recover(self, share: int, shares: int, *, ledger: bool = True) -> Recovered:
        """After a restore: brings one share of the copy up to the ledger that it replaces, and wakes what is unfinished.
        Repeating it changes nothing. Raises ConflictError where the stage is open and the ledger was asked for.
        """
        body = {"share": share, "shares": shares, "ledger": ledger}
        call = Call(method="POST", path=path("stage", "recovery"), body=body, keyed=True)
        return decode(Recovered, self.caller.call(call).body)

    def open(self, note: str | None = None) -> Stage:
        """After a restore: lets the recovered copy fire. Raises ConflictError where it does already."""
        return self._turn("open", {"note": note})

    def _turn(self, how: str, body: object) -> Stage:
        call = Call(method="POST", path=path("stage", how), body=body, keyed=True)
        return decode(Stage, self.caller.call(call).body)


def switching(
    note: str | None, *, until: datetime | None = None, tiers: Sequence[str] | None = None
) -> dict[str, Any]:
    """The body of a pause or a resume; what is left out has the service's default."""
    body: dict[str, Any] = {"note": note}
    if until is not None:
        body["until"] = to_wire(until)
    if tiers:
        body["tiers"] = list(tiers)
    return body
