"""Finding backfills, and counting what became of their executions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.backfills.codec import decode_backfill
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.store import Query, Store, Table, items
from fencepost.domain.backfill import Backfill
from fencepost.domain.identity import ExecutionKind, stamp
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState

COUNTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The executions of a backfill by state; `at_least` where counting stopped."""

    by_state: Counter[ExecutionState]
    at_least: bool


def find_backfill(store: Store, uid: str, identity: str) -> Backfill | None:
    """The backfill of a job that has this id."""
    item = store.get(keys.backfill(uid, identity))
    return None if item is None else decode_backfill(item)


def list_backfills(store: Store, uid: str, *, after: str | None = None, limit: int = 100) -> list[Backfill]:
    """A job's backfills, the last one asked for first, from before `after` on."""
    where = keys.backfill(uid, "")
    last = where.sk + ("~" if after is None else after)
    query = Query(table=where.table, pk=where.pk, first=where.sk, last=last, forward=False)
    found: list[Backfill] = []
    for item in items(store, query):
        if item["sk"] == where.sk + (after or "~"):
            continue
        try:
            found.append(decode_backfill(item))
        except UndecodableError:
            continue
        if len(found) == limit:
            break
    return found


def executions(
    store: Store, backfill: Backfill, first: datetime | None = None, last: datetime | None = None
) -> Iterator[Execution]:
    """The readable records of a backfill by instant: all of them, or those of first..last."""
    prefix = f"{ExecutionKind.BACKFILL}#{backfill.id}-"
    query = Query(
        table=Table.EXECUTIONS,
        pk=backfill.uid,
        first=prefix + ("" if first is None else stamp(first)),
        last=prefix + ("~" if last is None else stamp(last)),
    )
    for item in items(store, query):
        try:
            yield decode_execution(item)
        except UndecodableError:
            continue


def count(store: Store, backfill: Backfill) -> Counts:
    """What became of the executions so far."""
    found: Counter[ExecutionState] = Counter()
    for looked, record in enumerate(executions(store, backfill)):
        if looked == COUNTED:
            return Counts(by_state=found, at_least=True)
        found[record.state] += 1
    return Counts(by_state=found, at_least=False)
