"""What became of jobs' newest occurrences, for many jobs at once: one query each, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.store import Query, Store, Table, items
from fencepost.domain.identity import ExecutionKind, stamp
from fencepost.domain.model import Execution

MAX_JOBS = 50
MAX_EACH = 50


def newest_outcomes(
    store: Store, team: str, uids: Sequence[str], each: int, until: datetime
) -> Mapping[str, tuple[Execution, ...]]:
    """The records of the newest `each` occurrences up to `until`, the newest first: what is claimed ahead is no outcome
    yet. Another team's job has none here.
    """
    return {uid: _of_job(store, team, uid, each, until) for uid in dict.fromkeys(uids)}


def _of_job(store: Store, team: str, uid: str, each: int, until: datetime) -> tuple[Execution, ...]:
    prefix = f"{ExecutionKind.OCCURRENCE}#"
    query = Query(
        table=Table.EXECUTIONS,
        pk=uid,
        first=prefix,
        last=prefix + stamp(until),
        forward=False,
        limit=each,
        strong=False,
    )
    found = []
    for item in items(store, query):
        try:
            record = decode_execution(item)
        except UndecodableError:
            continue
        if record.team == team:
            found.append(record)
    return tuple(found)
