"""How a request to the registry may end, besides well. Values, since callers decide what to make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such `what` (team, job, execution)."""

    what: str
    name: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else changed it: `revision` is the current one (None: it is gone, or was never there), of the job `uid`.

    `expected` is what the caller had named; None where it named nothing and the write lost too many races.
    """

    revision: int | None
    expected: int | None = None
    uid: str | None = None


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """What is asked for does not go together with the present state; `rule` says why."""

    rule: str


@dataclass(frozen=True, slots=True)
class BeingDeleted:
    """The team `name` is on its way out; until that is done nobody can use the name."""

    name: str


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A limit of the team would be exceeded."""

    limit: str
    value: int
    maximum: int


Refusal: TypeAlias = Missing | Conflict | NotAllowed | BeingDeleted | OverLimit
