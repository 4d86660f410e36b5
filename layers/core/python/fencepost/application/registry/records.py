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
from fencepost.application.backfills.reading import list_backfills
from fencepost.application.codec import NewerShapeError, UndecodableError, decode_execution
from fencepost.application.registry.reading import job_by_uid, schedule_of
from fencepost.application.store import Query, Store, Table
from fencepost.domain.identity import ExecutionId, ExecutionKind, stamp
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Execution
from fencepost.domain.schedule import Schedule, count_occurrences
from fencepost.domain.states import ExecutionState

MAX_PAGE = 100
LOOK = 1_000
COUNTED = 10_000
LISTED_COUNT = 1_000
UNORDERED = 1_000
"""Runs by hand have no instant in their key; the page sorts at most so many of them."""
BACKFILLS = 100
"""How many of a job's backfills a list looks through, the last ones asked for."""

_RANGES_BACK = 50
Place: TypeAlias = tuple[int, str]
"""Where a record stands in the order of a list: its instant in epoch milliseconds, then its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records: of which instants (`since` <= instant < `before`), in which state, of which backfill alone."""

    since: datetime | None = None
    before: datetime | None = None
    state: ExecutionState | None = None
    backfill: str | None = None


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
    schedule = _schedule(store, record)
    if schedule is None:
        return Span(count=1, at_least=True)
    count = count_occurrences(schedule, first, last, limit + 1)
    return Span(count=min(count, limit), at_least=count > limit)


def _schedule(store: Store, record: Execution) -> Schedule | None:
    """That of the record's generation; None where it is not kept, or cannot be read."""
    try:
        job = job_by_uid(store, record.id.uid)
        return None if job is None else schedule_of(store, job, record.generation)
    except NewerShapeError:
        raise
    except UndecodableError:
        return None


def _newest_first(store: Store, uid: str, wanted: Wanted, after: Place | None) -> Iterator[Execution]:
    merged = heapq.merge(*_streams(store, uid, wanted, after), key=place, reverse=True)
    for record in merged:
        if after is not None and place(record) >= after:
            continue
        if _inside(record, wanted):
            yield record


def _streams(store: Store, uid: str, wanted: Wanted, after: Place | None) -> Iterator[Iterator[Execution]]:
    """Each in the order of the list: one for every kind, and one for every backfill."""
    if wanted.backfill is not None:
        yield _stream(store, uid, _prefix(wanted.backfill), wanted, after)
        return
    yield _stream(store, uid, f"{ExecutionKind.OCCURRENCE}#", wanted, after)
    yield _ranges(store, uid, wanted, after)
    yield iter(_unordered(store, uid))
    for backfill in list_backfills(store, uid, limit=BACKFILLS):
        if wanted.since is None or backfill.before > wanted.since:
            yield _stream(store, uid, _prefix(backfill.id), wanted, after)


def _prefix(backfill: str) -> str:
    return f"{ExecutionKind.BACKFILL}#{backfill}-"


def _stream(store: Store, uid: str, prefix: str, wanted: Wanted, after: Place | None) -> Iterator[Execution]:
    """Records whose keys are `prefix` and their instant, the latest first, from about `after` on."""
    since = "" if wanted.since is None else stamp(wanted.since)
    end = _end(wanted, after)
    last = prefix + ("" if end is None else f"{end:013d}") + "~"
    query = Query(table=Table.EXECUTIONS, pk=uid, first=prefix + since, last=last, forward=False)
    yield from _decoded(store, query)


def _ranges(store: Store, uid: str, wanted: Wanted, after: Place | None) -> Iterator[Execution]:
    for record in _decoded(store, _of_kind(uid, ExecutionKind.RANGE, until=_end(wanted, after))):
        if wanted.since is not None and (record.until or record.due) < wanted.since:
            return  # ranges of a kind do not overlap, so none further back reaches here
        yield record


def _end(wanted: Wanted, after: Place | None) -> int | None:
    """The latest instant that may be on the page, in epoch milliseconds."""
    ends = [to_ms(wanted.before)] if wanted.before is not None else []
    return min([*ends, *([after[0]] if after is not None else [])], default=None)


def _unordered(store: Store, uid: str) -> list[Execution]:
    """Runs by hand, sorted here."""
    query = replace(_of_kind(uid, ExecutionKind.RUN_NOW), limit=UNORDERED)
    return sorted(_decoded(store, query), key=place, reverse=True)


def _inside(record: Execution, wanted: Wanted) -> bool:
    first = record.id.nominal or record.due
    last = record.until or first
    return (wanted.since is None or last >= wanted.since) and (wanted.before is None or first < wanted.before)


def _of_kind(uid: str, kind: ExecutionKind, *, until: int | None = None) -> Query:
    """The records of a kind, from the end; `until` in epoch milliseconds, inclusive."""
    return Query(
        table=Table.EXECUTIONS,
        pk=uid,
        first=f"{kind}#",
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
