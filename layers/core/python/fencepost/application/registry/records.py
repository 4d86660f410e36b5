"""What became of a job's occurrences: records listed, found, and explained.

Every nominal instant is explained by exactly one record: its own, or the range that holds it and gives the reason
(protocol B11, B12). How many occurrences a range stands for is counted when somebody looks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.registry.reading import job_by_uid, schedule_of
from fencepost.application.store import Query, Store, Table
from fencepost.domain.identity import ExecutionId, ExecutionKind, stamp
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Execution
from fencepost.domain.schedule import count_occurrences
from fencepost.domain.states import ExecutionState

MAX_PAGE = 100
LOOK = 1_000
COUNTED = 10_000
LISTED_COUNT = 1_000
UNORDERED = 1_000
"""Runs by hand have no instant in their key; the page sorts at most so many of them."""

_RANGES_BACK = 50
Place: TypeAlias = tuple[int, str]
"""Where a record stands in the order of a list: its instant in epoch milliseconds, then its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records: of which instants (`since` <= instant < `before`), in which state."""

    since: datetime | None = None
    before: datetime | None = None
    state: ExecutionState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """`after`: the place of the last record looked at, None at the end; `stopped_early`: the page was not filled."""

    items: tuple[Execution, ...]
    after: Place | None
    stopped_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How many occurrences a range record stands for; `at_least` where counting stopped."""

    count: int
    at_least: bool


def find_record(store: Store, identity: ExecutionId) -> Execution | None:
    """The record of this id."""
    item = store.get(keys.execution(identity))
    return None if item is None else decode_execution(item)


def list_records(
    store: Store, uid: str, wanted: Wanted, *, after: Place | None = None, limit: int = MAX_PAGE
) -> RecordPage:
    """The records of a job, the newest instant first."""
    found: list[Execution] = []
    for looked, record in enumerate(_newest_first(store, uid, wanted, after), 1):
        if wanted.state is None or record.state is wanted.state:
            found.append(record)
        if len(found) >= limit or looked >= LOOK:
            return RecordPage(items=tuple(found), after=place(record), stopped_early=len(found) < limit)
    return RecordPage(items=tuple(found), after=None)


def place(record: Execution) -> Place:
    """Where a record stands: by its nominal instant, a run by hand by when it was due."""
    return to_ms(record.id.nominal or record.due), str(record.id)


def explain(store: Store, uid: str, instant: datetime) -> Execution | None:
    """The one record that says what became of `instant`; None before it has one."""
    own = find_record(store, ExecutionId.occurrence(uid, instant))
    if own is not None:
        return own
    for kind in (ExecutionKind.OCCURRENCE, ExecutionKind.RANGE):
        query = replace(_of_kind(uid, kind, until=to_ms(instant)), limit=_RANGES_BACK)
        for record in _decoded(store, query):
            if record.until is not None and record.until >= instant:
                return record
    return None


def span(store: Store, record: Execution, limit: int = COUNTED) -> Span | None:
    """How many occurrences a range stands for, by the schedule of its generation; None for a record of one."""
    first, last = record.id.nominal, record.until
    if first is None or last is None:
        return None
    job = job_by_uid(store, record.id.uid)
    schedule = None if job is None else schedule_of(store, job, record.generation)
    if schedule is None:
        return Span(count=1, at_least=True)
    count = count_occurrences(schedule, first, last, limit + 1)
    return Span(count=min(count, limit), at_least=count > limit)


def _newest_first(store: Store, uid: str, wanted: Wanted, after: Place | None) -> Iterator[Execution]:
    streams = [
        _stream(store, uid, ExecutionKind.OCCURRENCE, wanted, after),
        _stream(store, uid, ExecutionKind.RANGE, wanted, after),
        iter(_unordered(store, uid)),
    ]
    merged = heapq.merge(*streams, key=place, reverse=True)
    for record in merged:
        if after is not None and place(record) >= after:
            continue
        if _inside(record, wanted):
            yield record


def _stream(
    store: Store, uid: str, kind: ExecutionKind, wanted: Wanted, after: Place | None
) -> Iterator[Execution]:
    """Records of a kind whose key holds their instant, the latest first, from about `after` on."""
    ends = [to_ms(wanted.before)] if wanted.before is not None else []
    ends += [after[0]] if after is not None else []
    ranges = kind is ExecutionKind.RANGE
    query = _of_kind(uid, kind, since=None if ranges else wanted.since, until=min(ends, default=None))
    for record in _decoded(store, query):
        if ranges and wanted.since is not None and (record.until or record.due) < wanted.since:
            return  # ranges of a kind do not overlap, so none further back reaches here
        yield record


def _unordered(store: Store, uid: str) -> list[Execution]:
    """Runs by hand and backfilled ones, sorted here."""
    found: list[Execution] = []
    for kind in (ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL):
        found.extend(_decoded(store, replace(_of_kind(uid, kind), limit=UNORDERED)))
    return sorted(found, key=place, reverse=True)


def _inside(record: Execution, wanted: Wanted) -> bool:
    first = record.id.nominal or record.due
    last = record.until or first
    return (wanted.since is None or last >= wanted.since) and (wanted.before is None or first < wanted.before)


def _of_kind(
    uid: str, kind: ExecutionKind, *, since: datetime | None = None, until: int | None = None
) -> Query:
    """The records of a kind, from the end; `until` in epoch milliseconds, inclusive."""
    return Query(
        table=Table.EXECUTIONS,
        pk=uid,
        first=f"{kind}#" + ("" if since is None else stamp(since)),
        last=f"{kind}#" + ("" if until is None else f"{until:013d}") + "~",
        forward=False,
    )


def _decoded(store: Store, query: Query) -> Iterator[Execution]:
    """The readable records of a query; one that is not never hides its neighbours."""
    for page in store.pages(query):
        for item in page:
            try:
                yield decode_execution(item)
            except UndecodableError:
                continue
