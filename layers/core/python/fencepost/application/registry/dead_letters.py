"""A team's dead letters: those of its executions that ended DEAD and were not redriven."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.store import Query, Store, Table
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState

MAX_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterPage:
    """`after` is the sort key of the last letter looked at, None at the end."""

    items: tuple[Execution, ...]
    after: str | None


def list_dead_letters(
    store: Store, team: str, *, after: str | None = None, limit: int = MAX_PAGE
) -> DeadLetterPage:
    """The newest dead letters of a team first; a letter whose record is no longer dead is left out."""
    found: list[Execution] = []
    for batch in _letters(store, team, after, limit):
        wanted = {sort_key: keys.execution(_identity(sort_key)) for sort_key in batch}
        items = store.batch_get(list(dict.fromkeys(wanted.values())))
        for sort_key, key in wanted.items():
            record = decode_execution(items[key]) if key in items else None
            if record is not None and record.team == team and record.state is ExecutionState.DEAD:
                found.append(record)
            if len(found) >= limit:
                return DeadLetterPage(items=tuple(found), after=sort_key)
    return DeadLetterPage(items=tuple(found), after=None)


def dead_by(instant: datetime) -> str:
    """The place in a team's list, as `after` takes it, behind which lie those that were dead at `instant`."""
    return f"{to_ms(instant) + 1:013d}"


def _letters(store: Store, team: str, after: str | None, size: int) -> Iterator[list[str]]:
    query = Query(table=Table.EXECUTIONS, pk=f"D#{team}", last=after, forward=False)
    batch: list[str] = []
    for page in store.pages(query):
        for item in page:
            if item["sk"] != after:
                batch.append(str(item["sk"]))
            if len(batch) >= size:
                yield batch
                batch = []
    if batch:
        yield batch


def _identity(sort_key: str) -> ExecutionId:
    return ExecutionId.parse(sort_key.partition("#")[2])
