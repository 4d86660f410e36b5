"""What an errand is, where it lies, and who takes its next step.

An errand is the durable wake-up of work that no execution stands for: a backfill that goes on for hours, a team that is
purged, the history of a deleted job that has to expire, a notice that must not be lost. It is put in the transaction
that makes the work necessary. While it lies there, the tick asks for one step of it each minute. Any number of steps may
run at once or be repeated; what a step does it makes safe by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import VERSION, NewerShapeError, UndecodableError
from fencepost.application.store import Delete, Item, Key, Put, Query, Store, Table


class ErrandKind(StrEnum):
    """What is to be done."""

    BACKFILL = "backfill"
    FORGET = "forget"
    PURGE = "purge"
    TELL = "tell"


PASSING = frozenset({ErrandKind.FORGET, ErrandKind.TELL})
"""Done in a step or two, so that a minute's share of them is enough: the rest moves up."""
SHARE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """`subject` tells it from others of its kind; `team` is whom it is run for."""

    kind: ErrandKind
    subject: str
    team: str

    @property
    def key(self) -> Key:
        """Errands of a kind share a partition, which lists them."""
        return keys.errand(self.kind, self.subject)

    def put(self, **facts: Any) -> Put:
        """Written with what makes the errand necessary; `facts` are what its steps need to know."""
        return Put(key=self.key, item={"v": VERSION, "team": self.team, **facts})

    def done(self) -> Delete:
        """Written with, or after, the last of its work."""
        return Delete(key=self.key)

    def __str__(self) -> str:
        return f"{self.kind}#{self.team}#{self.subject}"

    @classmethod
    def parse(cls, text: str) -> Errand:
        """Reads `str`. Raises UndecodableError; NewerShapeError for a kind that only a later version may know."""
        try:
            kind, team, subject = text.split("#", 2)
        except ValueError as error:
            raise UndecodableError(f"not an errand: {text[:120]!r}") from error
        if kind not in set(ErrandKind):
            raise NewerShapeError(f"errand {text[:120]!r} is of a kind that this service does not know")
        return cls(kind=ErrandKind(kind), subject=subject, team=team)


def waiting(store: Store) -> Iterator[Errand]:
    """The errands that want a step now: all of the long ones, and a minute's share of the passing ones."""
    for kind in ErrandKind:
        limit = SHARE if kind in PASSING else None
        query = Query(table=Table.CONTROL, pk=keys.errand(kind, "").pk, limit=limit)
        for page in store.pages(query):
            yield from (_read(kind, item) for item in page)


def _read(kind: ErrandKind, item: Item) -> Errand:
    return Errand(kind=kind, subject=str(item["sk"]), team=str(item.get("team", "")))
