"""The records of a job, a bounded page at a time, as an audit wants them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.store import Query, Store, Table, items
from fencepost.domain.auditing.findings import Finding, FindingKind
from fencepost.domain.auditing.shelf import Page, first_of
from fencepost.domain.identity import ExecutionKind, stamp
from fencepost.domain.instants import from_ms
from fencepost.domain.model import Execution

CARRIED = 50
"""How many records before a page are looked through for a range that reaches into it."""
BY_HAND = 1_000
"""How many runs by hand, and how many backfilled ones, an audit of a job looks at."""
_TICK = timedelta(milliseconds=1)
_OF_SCHEDULE = (ExecutionKind.OCCURRENCE, ExecutionKind.RANGE)


@dataclass(slots=True)
class Read:
    """A page; `after`: where the next one begins, None at the end. `unreadable`: items that this release cannot read."""

    page: Page
    after: datetime | None
    unreadable: list[Finding] = field(default_factory=list)


def read_page(store: Store, uid: str, since: datetime, before: datetime, limit: int) -> Read:
    """The first `limit` records of occurrences in [since, before), with what reaches in from before.

    They are read as they were a moment ago, for half the price: what is younger than ten minutes is not judged.
    """
    unreadable: list[Finding] = []
    streams = [
        _decoded(store, _weak(_of_kind(uid, kind, since, before - _TICK)), unreadable)
        for kind in _OF_SCHEDULE
    ]
    found = list(islice(heapq.merge(*streams, key=first_of), limit))
    full = len(found) == limit
    after = first_of(found[-1]) + _TICK if full else None
    carried = [
        record
        for kind in _OF_SCHEDULE
        for record in _decoded(store, _weak(_back(_of_kind(uid, kind, None, since - _TICK))), [])
    ]
    page = Page(since=since, before=after or before, records=found, carried=carried)
    return Read(page=page, after=after, unreadable=unreadable)


def read_by_hand(store: Store, uid: str, since: datetime, before: datetime) -> Iterator[Execution]:
    """Runs by hand and backfilled ones that were due, or asked for, in the window."""
    for kind in (ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL):
        query = replace(_of_kind(uid, kind, None, None), forward=False, limit=BY_HAND)
        for record in _decoded(store, query, []):
            if since <= record.due < before or since <= record.claimed_at < before:
                yield record


def goes_on(store: Store, uid: str, generation: int, after: datetime) -> bool:
    """Whether a later occurrence has a record of this generation: then no timer of it lies further back."""
    query = replace(_of_kind(uid, ExecutionKind.OCCURRENCE, after + _TICK, None), limit=CARRIED)
    return any(record.planted_generation == generation for record in _decoded(store, query, []))


def _weak(query: Query) -> Query:
    return replace(query, strong=False)


def _back(query: Query) -> Query:
    return replace(query, forward=False, limit=CARRIED)


def _of_kind(uid: str, kind: ExecutionKind, first: datetime | None, last: datetime | None) -> Query:
    """The records of a kind whose instants lie in [first, last]."""
    begin = "" if first is None else stamp(first)
    end = "~" if last is None else f"{stamp(last)}~"
    return Query(table=Table.EXECUTIONS, pk=uid, first=f"{kind}#{begin}", last=f"{kind}#{end}")


def _decoded(store: Store, query: Query, unreadable: list[Finding]) -> Iterator[Execution]:
    for item in items(store, query):
        try:
            yield decode_execution(item)
        except UndecodableError as error:
            digits = str(item["sk"])[-13:]
            at = from_ms(int(digits)) if digits.isdigit() else from_ms(0)
            unreadable.append(Finding(kind=FindingKind.UNREADABLE, at=at, says=str(error)))
