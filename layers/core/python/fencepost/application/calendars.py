"""A team's exclusion calendars as they are stored and read. What may be done to them is in `registry.calendars`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import VERSION, UndecodableError, decoding
from fencepost.application.memory import Memory
from fencepost.application.ports import Clock
from fencepost.application.store import (
    Compare,
    Condition,
    Item,
    Lacks,
    Present,
    Query,
    Store,
    Table,
    either,
    every,
    items,
)
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.schedule import Calendar
from fencepost.domain.schedule.calendars import calendar_to_wire, parse_calendar

BEYOND = 1_000_000_000
"""No calendar has ever so many versions."""
REMEMBERED = timedelta(seconds=5)
CLOSING = timedelta(seconds=60)
"""How long a delete may take to find out whether some job names the calendar; after that its mark means nothing."""


def encode_calendar(calendar: Calendar) -> dict[str, Any]:
    """The stored form of what is valid now."""
    return {
        "v": VERSION,
        "version": calendar.version,
        "dated": to_ms(calendar.dated),
        "entries": calendar_to_wire(calendar),
    }


def encode_gone(version: int, at: datetime) -> dict[str, Any]:
    """What a deleted calendar leaves behind."""
    return {"v": VERSION, "version": version, "dated": to_ms(at), "gone": True}


def decode_calendar(item: Item) -> Calendar | None:
    """Reads a stored calendar; None for a deleted one. Raises UndecodableError."""
    return decoding("calendar", item, _read)


def _read(item: Item) -> Calendar | None:
    version = item["version"]
    if type(version) is not int or not 0 < version < BEYOND:
        raise ValueError(f"its version is {version!r}"[:80])
    if item.get("gone"):
        return None
    name = str(item["sk"]).removeprefix("C#")
    return parse_calendar(item["entries"], name=name, version=version, dated=from_ms(item["dated"]))


def usable(now: datetime) -> Condition:
    """A job may begin to name the calendar: it is there, and nobody is about to delete it."""
    unmarked = either(Lacks("closing"), Compare("closing", "<", to_ms(now - CLOSING)))
    return every(Present(), Lacks("gone"), unmarked)


class TeamCalendars(Mapping[str, Calendar]):
    """The calendars of one team, each read when it is first asked for. Raises StoreError then.

    One that cannot be understood is as if it were not there: a firing is not lost to it.
    """

    def __init__(self, store: Store, team: str) -> None:
        self._store = store
        self._team = team
        self._seen: dict[str, Calendar | None] = {}

    def __getitem__(self, name: str) -> Calendar:
        if name not in self._seen:
            self._seen[name] = self._read(name)
        found = self._seen[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        every_one = keys.calendar(self._team, "")
        query = Query(table=Table.JOBS, pk=every_one.pk, first=every_one.sk, last=every_one.sk + "~")
        for item in items(self._store, query):
            if not item.get("gone"):
                yield str(item["sk"]).removeprefix("C#")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _read(self, name: str) -> Calendar | None:
        item = self._store.get(keys.calendar(self._team, name))
        try:
            return None if item is None else decode_calendar(item)
        except UndecodableError:
            return None


class RememberedCalendars:
    """Every team's calendars, as they were at most five seconds ago. One per process, for those that claim."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: Memory[TeamCalendars] = Memory(REMEMBERED)

    def __call__(self, team: str) -> Mapping[str, Calendar]:
        """The team's calendars."""
        now = self._clock.now()
        known = self._known.recall(team, now)
        return self._known.keep(team, TeamCalendars(self._store, team), now) if known is None else known
