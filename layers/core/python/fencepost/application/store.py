"""The store port: items under (table, pk, sk), conditional writes, strong reads.

Writes and conditions are values. Named writers (`application.writes`) build them, an adapter renders them; so the
DynamoDB adapter and the in-memory one differ in nothing but how they carry them out, and one conformance suite
holds both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

Value: TypeAlias = Any  # str | int | bool | bytes | None, and lists and mappings of these with text keys
Item: TypeAlias = Mapping[str, Value]


class Table(StrEnum):
    """The stage's tables. Timers and executions are apart, since their load has different shapes."""

    JOBS = "jobs"
    TIMERS = "timers"
    EXECUTIONS = "executions"
    CONTROL = "control"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where an item lies."""

    table: Table
    pk: str
    sk: str


@dataclass(frozen=True, slots=True)
class Absent:
    """No item has this key."""


@dataclass(frozen=True, slots=True)
class Present:
    """An item has this key."""


@dataclass(frozen=True, slots=True)
class Compare:
    """`item[name] <op> value`; false where the item or the attribute is missing. `op` is one of = < <= > >=."""

    name: str
    op: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class OneOf:
    """`item[name]` is one of `values`; false where it is missing."""

    name: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Lacks:
    """The item has no attribute `name` (true where there is no item)."""

    name: str


@dataclass(frozen=True, slots=True)
class All:
    """Every one holds."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one holds."""

    conditions: tuple[Condition, ...]


Condition: TypeAlias = Absent | Present | Compare | OneOf | Lacks | All | Either


def equals(name: str, value: str | int | bool) -> Compare:  # noqa: FBT001 - a value to compare with, not a switch
    """`item[name] = value`."""
    return Compare(name, "=", value)


def every(*conditions: Condition) -> All:
    """All of `conditions`."""
    return All(conditions)


def either(*conditions: Condition) -> Either:
    """At least one of `conditions`."""
    return Either(conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Writes the whole item (without its key attributes), replacing what was there."""

    key: Key
    item: Item
    condition: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Sets, removes and adds attributes. Makes the item where there is none, unless the condition forbids it."""

    key: Key
    set: Item = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] = field(default_factory=dict)
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Deletes the item; fine where there is none, unless the condition forbids it."""

    key: Key
    condition: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Writes nothing; a transaction commits only if the condition holds."""

    key: Key
    condition: Condition


Write: TypeAlias = Put | Update | Delete
Action: TypeAlias = Put | Update | Delete | Check


@dataclass(frozen=True, slots=True)
class Won:
    """The write took effect."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The condition did not hold; `item` is what is there (None: nothing)."""

    item: Item | None


@dataclass(frozen=True, slots=True)
class Committed:
    """All actions of the transaction took effect."""


class Cause(StrEnum):
    """Why one action of a cancelled transaction failed, or NONE."""

    NONE = "none"
    CONDITION = "condition"
    CONFLICT = "conflict"
    THROTTLED = "throttled"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Reason:
    """Per action, in the order of the request. `item`: what was there when a condition failed."""

    cause: Cause
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """No action took effect."""

    reasons: tuple[Reason, ...]

    @property
    def transient(self) -> bool:
        """No condition failed: the same transaction may succeed later."""
        return all(reason.cause in {Cause.NONE, Cause.CONFLICT, Cause.THROTTLED} for reason in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Items of one partition with first <= sk <= last (both inclusive, None: open), by sk."""

    table: Table
    pk: str
    first: str | None = None
    last: str | None = None
    forward: bool = True
    limit: int | None = None
    strong: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Share `number` (from 0) of `of` shares of a table; together they are the whole table.

    Not `strong`: as it was a moment ago, for half the price; for whoever looks again before acting.
    """

    table: Table
    number: int = 0
    of: int = 1
    strong: bool = True


class StoreError(Exception):
    """The store did not do what was asked.

    StoreError
    +-- StoreBusyError          throttled, or in conflict with a transaction: nothing was written; transient
    +-- OutcomeUnknownError     no answer: the write may or may not have taken effect
    +-- InvalidWriteError       the store refuses the request as such; repeating it is useless
    """


class StoreBusyError(StoreError):
    """Throttled, or in conflict with a transaction: nothing was written."""


class OutcomeUnknownError(StoreError):
    """No answer came: the write may or may not have taken effect."""


class InvalidWriteError(StoreError):
    """The store refuses the request as such; repeating it is useless."""


class Store(Protocol):
    """Items come back as plain mappings with `pk` and `sk` among their attributes.

    Obligations of an adapter: single writes and transactions are serializable against each other; `get` is strong;
    `query` and `batch_get` are read-committed (strong, but not of one snapshot). A conflict on a single write is
    tried three times with jitter before StoreBusyError; a conflict is never reported as Lost.
    """

    def get(self, key: Key) -> Item | None:
        """The item, read strongly; None where there is none."""

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """Those of up to any number of items that exist and were processed; a missing key proves nothing."""

    def pages(self, query: Query) -> Iterator[Sequence[Item]]:
        """The items of `query`, page by page, to the end. A page may be empty and not be the last."""

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        """Every item of a table, or of one share of it, page by page, in no order. Its cost grows with the table: for
        the daily second net, audits and recovery, never for a firing."""

    def write(self, write: Write) -> Won | Lost:
        """One conditional write."""

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """All or nothing, 1..100 actions on distinct keys. `token` (<= 36 characters) makes a repeat within ten
        minutes return the first result."""

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """Deletes unconditionally, any number; returns the keys that were *not* processed."""


def items(store: Store, query: Query) -> Iterator[Item]:
    """The items of `query`, one by one, to the end."""
    for page in store.pages(query):
        yield from page
