"""A team's dead letters: those of its executions that ended DEAD and were not redriven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.store import Item, Query, Store, Table
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
    """The newest dead letters of a team first; a letter whose record is no longer dead, or cannot be read, is left out."""
    found: list[Execution] = []
    for batch in _letters(store, team, after, limit):
        wanted = {sort_key: keys.execution(identity) for sort_key, identity in _named(batch)}
        items = store.batch_get(list(dict.fromkeys(wanted.values())))
        for sort_key, key in wanted.items():
            record = _dead(items.get(key) or store.get(key), team)  # a batch read proves no absence
            if record is not None:
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


def _named(sort_keys: Sequence[str]) -> Iterator[tuple[str, ExecutionId]]:
    for sort_key in sort_keys:
        with suppress(ValueError):  # its neighbours are shown all the same
            yield sort_key, ExecutionId.parse(sort_key.partition("#")[2])


def _dead(item: Item | None, team: str) -> Execution | None:
    try:
        record = None if item is None else decode_execution(item)
    except UndecodableError:
        return None
    ours = record is not None and record.team == team and record.state is ExecutionState.DEAD
    return record if ours else None
