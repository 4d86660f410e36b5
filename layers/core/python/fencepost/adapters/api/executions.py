"""Executions and dead letters over HTTP: reading what became of firings."""

from __future__ import annotations

from fencepost.adapters.api import render
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import missing
from fencepost.application.registry.dead_letters import list_dead_letters
from fencepost.application.registry.locate import locate_uid
from fencepost.application.registry.records import (
    COUNTED,
    LISTED_COUNT,
    Wanted,
    explain,
    find_record,
    list_records,
    span,
)
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState


def get(request: Request) -> Answer:
    """One record."""
    record = find(request)
    return missing("execution", request.path["id"]) if record is None else one(request, record)


def of_job(request: Request) -> Answer:
    """A job's records, the newest instant first; with `at`, the one that explains this instant."""
    store, query = request.services.store, request.query
    uid = locate_uid(store, request.team, request.job)
    if uid is None:
        return missing("job", request.job)
    if "at" in query:
        found = explain(store, uid, query["at"])  # type: ignore[arg-type]  # read by its parameter
        return page(
            request, [] if found is None else [_shown(request, found, COUNTED)], None, stopped_early=False
        )
    state = query.get("state")
    wanted = Wanted(
        since=query.get("since"),  # type: ignore[arg-type]  # read by its parameter
        before=query.get("before"),  # type: ignore[arg-type]  # read by its parameter
        state=None if state is None else ExecutionState(str(state)),
        backfill=query.get("backfill"),  # type: ignore[arg-type]  # read by its parameter
    )
    after = position(request)
    records = list_records(
        store, uid, wanted, after=None if after is None else (after[0], after[1]), limit=limit(request)
    )
    items = [_shown(request, record, LISTED_COUNT) for record in records.items]
    return page(request, items, records.after, stopped_early=records.stopped_early)


def dead_letters(request: Request) -> Answer:
    """A team's dead executions, the newest death first."""
    found = list_dead_letters(
        request.services.store, request.team, after=position(request), limit=limit(request)
    )
    return page(request, [_shown(request, record, LISTED_COUNT) for record in found.items], found.after)


def find(request: Request) -> Execution | None:
    """The record of the path's id, if it is this team's."""
    try:
        identity = ExecutionId.parse(request.path["id"])
    except ValueError:
        return None
    record = find_record(request.services.store, identity)
    return record if record is not None and record.team == request.team else None


def one(request: Request, record: Execution, status: int = 200) -> Answer:
    """The answer that shows one record."""
    return Answer(status=status, body=_shown(request, record, COUNTED))


def _shown(request: Request, record: Execution, count: int) -> dict[str, object]:
    return render.execution(record, span(request.services.store, record, count))
