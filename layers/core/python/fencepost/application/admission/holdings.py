"""What a slot's item says, and what may be tried on a slot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from fencepost.application.codec import VERSION, UndecodableError, decoding
from fencepost.application.store import Compare, Condition, Item, equals, every
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


def decode_holding(item: Item) -> Holding:
    """Reads a stored slot; one that cannot be understood is held by nobody known, for ever."""
    number = int(item["sk"])
    try:
        return decoding("slot", item, lambda raw: _read_holding(raw, number))
    except UndecodableError:
        return Holding(number=number, execution="", fence=RESERVED, until=FOR_EVER)


def _read_holding(item: Item, number: int) -> Holding:
    holder = str(ExecutionId.parse(item["x"]))
    return Holding(number=number, execution=holder, fence=item["f"], until=from_ms(item["until"]))
