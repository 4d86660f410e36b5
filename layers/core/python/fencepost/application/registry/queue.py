"""Who of a team waits: for a slot, for a switch, or for an earlier firing of the same job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission.marks import BACKLOG, OVERLAP
from fencepost.application.store import Query, Store, Table, items
from fencepost.domain.instants import from_ms
from fencepost.domain.model import Tier

COUNTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Those who wait for the same: the tier they travel in (None: for their job's earlier firings), whether a switch
    holds them, how many there are (`at_least`: counting stopped), and when the first of them was due.
    """

    tier: Tier | None
    held: bool
    count: int
    at_least: bool
    oldest: datetime


def waiting_lines(store: Store, team: str) -> tuple[Line, ...]:
    """The lines in which somebody waits now; each lane is counted up to a bound."""
    found: dict[tuple[Tier | None, bool], Line] = {}
    for line in _lanes(store, team):
        where = (line.tier, line.held)
        found[where] = _joined(found[where], line) if where in found else line
    return tuple(found.values())


def _lanes(store: Store, team: str) -> Iterator[Line]:
    for kind in (BACKLOG, OVERLAP):
        first = keys.mark(team, kind)
        for mark in items(
            store, Query(table=Table.CONTROL, pk=first.pk, first=first.sk, last=f"{first.sk}~")
        ):
            line = _lane(store, str(mark["sk"]).partition("|")[2])
            if line is not None:
                yield line


def _lane(store: Store, lane: str) -> Line | None:
    entries = list(items(store, Query(table=Table.CONTROL, pk=lane, limit=COUNTED)))
    if not entries:
        return None
    return Line(
        tier=keys.tier_of_lane(lane) if lane.startswith(BACKLOG) else None,
        held=keys.is_held_lane(lane),
        count=len(entries),
        at_least=len(entries) == COUNTED,
        oldest=from_ms(int(str(entries[0]["sk"]).partition("#")[0])),
    )


def _joined(one: Line, other: Line) -> Line:
    return Line(
        tier=one.tier,
        held=one.held,
        count=one.count + other.count,
        at_least=one.at_least or other.at_least,
        oldest=min(one.oldest, other.oldest),
    )
