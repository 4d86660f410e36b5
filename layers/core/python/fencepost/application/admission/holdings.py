"""What a slot's item says, and what may be tried on a slot."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fencepost.application.codec import VERSION, NewerShapeError, UndecodableError, decoding, is_newer
from fencepost.application.store import (
    Compare,
    Condition,
    Item,
    Key,
    Lacks,
    OutcomeUnknownError,
    Present,
    Query,
    Store,
    StoreBusyError,
    Table,
    Update,
    equals,
    every,
    items,
)
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Team, Tier

RESERVED = 0  # the fence of a slot that waits for the execution it names
FOR_EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Slot `number` belongs to `execution` under `fence`; nobody else looks at it before `until`."""

    number: int
    execution: str
    fence: int
    until: datetime

    @property
    def owned(self) -> Condition:
        """The slot is this execution's, under this fence."""
        return held_by(self.execution, self.fence)

    @property
    def unchanged(self) -> Condition:
        """Nobody has touched the slot since it was read."""
        if not self.execution:
            return equals("strange", to_ms(self.until - _patience()))
        return every(self.owned, equals("until", to_ms(self.until)))

    @property
    def renewing(self) -> Condition:
        """The slot is this execution's already, and does not last longer."""
        return every(equals("x", self.execution), Compare("until", "<=", to_ms(self.until)))

    def after(self, seen: Holding) -> Holding:
        """This holding in the place of `seen`, of the same execution; it never ends earlier."""
        return replace(self, number=seen.number, until=max(self.until, seen.until))


def held_by(execution: str, fence: int) -> Condition:
    """The slot is the execution's, under that fence."""
    return every(equals("x", execution), equals("f", fence))


@dataclass(frozen=True, slots=True)
class Vacancy:
    """A slot that may be taken, as long as `condition` holds."""

    number: int
    condition: Condition


def capacity(team: Team) -> int:
    """How many slots may be taken: none while nothing of the team may start."""
    return 0 if team.shut.issuperset(Tier) else team.max_concurrency


def encode_holding(holding: Holding) -> dict[str, Any]:
    """The stored form; the number is in the key."""
    return {"v": VERSION, "x": holding.execution, "f": holding.fence, "until": to_ms(holding.until)}


def read_lane(store: Store, lane: str, now: datetime) -> list[Holding]:
    """The slots of a lane that have an item. Of one that cannot be understood it is noted when it was first seen."""
    found = list(items(store, Query(table=Table.CONTROL, pk=lane)))
    for item in found:
        holding = decode_holding(item)
        if not holding.execution and holding.until == FOR_EVER and not is_newer(item):
            note = Update(
                key=Key(Table.CONTROL, lane, item["sk"]),
                set={"strange": to_ms(now)},
                condition=every(Present(), Lacks("strange")),
            )
            with suppress(StoreBusyError, OutcomeUnknownError):
                store.write(note)
    return [decode_holding(item) for item in found]


def decode_holding(item: Item) -> Holding:
    """Reads a stored slot; one that cannot be understood is held by nobody known, until whoever ran in it when it was
    first seen cannot do so any more; one of a later version for ever.
    """
    number = int(item["sk"])
    try:
        return decoding("slot", item, lambda raw: _read_holding(raw, number))
    except NewerShapeError:
        until = FOR_EVER
    except UndecodableError:
        until = _held_strangely(item.get("strange"))
    return Holding(number=number, execution="", fence=RESERVED, until=until)


def _held_strangely(since: object) -> datetime:
    """A holder that finds its slot written over gets no longer lease, and none lasts longer than an hour."""
    return from_ms(since) + _patience() if isinstance(since, int) else FOR_EVER


def _patience() -> timedelta:
    return timedelta(hours=2)


def _read_holding(item: Item, number: int) -> Holding:
    holder = str(ExecutionId.parse(item["x"]))
    return Holding(number=number, execution=holder, fence=item["f"], until=from_ms(item["until"]))
