"""A job's lock that nobody can read, written anew by what the job's records say: without it every firing of the job would
be undeliverable, for good.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.application import keys
from fencepost.application.admission.context import Context
from fencepost.application.codec import VERSION, UndecodableError, compact, decode_execution, ms
from fencepost.application.store import (
    Condition,
    Item,
    Lacks,
    Lost,
    Present,
    Put,
    Query,
    StoreBusyError,
    Table,
    equals,
    every,
    items,
)
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.states import ExecutionState

KINDS = (ExecutionKind.OCCURRENCE, ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL)
LOOK = 2_000
"""How many of the newest records of each kind are looked at: whoever holds a lock has many that it kept out behind it."""


def mended(context: Context, uid: str, item: Item) -> Item:
    """The lock's item as it is now: held by the one execution that has begun and is not over, under a fence that none of the
    job's exceeds. Raises StoreError.
    """
    found = list(_records(context, uid))
    holder = max(
        filter(_holds, found), key=lambda record: record.state is ExecutionState.RUNNING, default=None
    )
    given = item.get("f")
    fences = [record.fence for record in found] + [given if isinstance(given, int) else 0]
    until = None if holder is None else holder.lease_until or context.clock.now()
    lock = compact(
        {"v": VERSION, "x": None if holder is None else str(holder.id), "f": max(fences), "until": ms(until)}
    )
    key = keys.overlap_lock(uid)
    if isinstance(context.store.write(Put(key=key, item=lock, condition=_as_read(item))), Lost):
        raise StoreBusyError(f"the lock of job {uid} was written anew by others")
    return {**lock, "pk": key.pk, "sk": key.sk}


def _holds(record: Execution) -> bool:
    return record.overlap is not Overlap.ALLOW and record.fence > 0 and not record.final


def _likely(record: Execution, uid: str) -> tuple[bool, bool]:
    """Who runs holds it; else who does not wait for it."""
    return record.state is ExecutionState.RUNNING, record.lane != keys.overlap_lane(uid)


def _records(context: Context, uid: str) -> Iterator[Execution]:
    for kind in KINDS:
        prefix = f"{kind}#"
        query = Query(
            table=Table.EXECUTIONS, pk=uid, first=prefix, last=f"{prefix}~", forward=False, limit=LOOK
        )
        for item in items(context.store, query):
            try:
                yield decode_execution(item)
            except UndecodableError:
                continue


def _as_read(item: Item) -> Condition:
    names = ("x", "f", "until")
    same = [Lacks(name) if item.get(name) is None else equals(name, item[name]) for name in names]
    return every(Present(), *same)
