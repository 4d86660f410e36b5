"""The audit trail: who changed a team or a job, when, from what to what. Written with the change, never rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import VERSION, compact, decoding
from fencepost.application.registry.documents import canonical
from fencepost.application.store import Item, Query, Store, Table
from fencepost.domain.instants import from_ms, to_ms, to_wire

_NEWEST = 9_999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change. `before` is None for the first; documents are in the shape of the API."""

    revision: int
    what: str
    actor: str
    source: str
    at: datetime
    note: str | None
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None


def encode_entry(entry: Entry) -> dict[str, Any]:
    """The stored form; documents as JSON text, which keeps fractions and costs one attribute each."""
    return compact(
        {
            "v": VERSION,
            "what": entry.what,
            "by": entry.actor,
            "via": entry.source,
            "at": to_ms(entry.at),
            "note": entry.note,
            "before": None if entry.before is None else canonical(entry.before),
            "after": None if entry.after is None else canonical(entry.after),
        }
    )


def decode_entry(item: Item) -> Entry:
    """Reads a stored entry. Raises UndecodableError."""
    return decoding("revision", item, _read)


def _read(item: Item) -> Entry:
    before, after = item.get("before"), item.get("after")
    return Entry(
        revision=int(str(item["sk"]).removeprefix("R#")),
        what=item["what"],
        actor=item["by"],
        source=item["via"],
        at=from_ms(item["at"]),
        note=item.get("note"),
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
    )


def entry_to_wire(entry: Entry) -> dict[str, Any]:
    """The shape of the API."""
    return {
        "revision": entry.revision,
        "what": entry.what,
        "actor": entry.actor,
        "source": entry.source,
        "at": to_wire(entry.at),
        "note": entry.note,
        "before": entry.before,
        "after": entry.after,
    }


def of_job(store: Store, uid: str, *, older_than: int | None, limit: int) -> list[Entry]:
    """The newest `limit` changes of a job (older than a revision, if given), deleted ones too."""
    pk = keys.job(uid).pk
    return list(_newest(store, pk, keys.job_revision(uid, 0).sk, older_than, limit))


def of_team(store: Store, name: str, *, older_than: int | None, limit: int) -> list[Entry]:
    """The newest `limit` changes of a team."""
    pk = keys.team(name).pk
    return list(_newest(store, pk, keys.team_revision(name, 0).sk, older_than, limit))


def of_calendar(store: Store, team: str, name: str, *, older_than: int | None, limit: int) -> list[Entry]:
    """The newest `limit` changes of a calendar, deletes among them; a change's number is its version."""
    first = keys.calendar_version(team, name, 0)
    return list(_newest(store, first.pk, first.sk, older_than, limit))


def _newest(store: Store, pk: str, first: str, older_than: int | None, limit: int) -> Iterator[Entry]:
    last = f"R#{_NEWEST if older_than is None else older_than - 1:010d}"
    query = Query(table=Table.JOBS, pk=pk, first=first, last=last, forward=False, limit=limit)
    for page in store.pages(query):
        for item in page:
            yield decode_entry(item)
