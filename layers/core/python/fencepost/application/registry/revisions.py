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
from fencepost.application.store import Item, Key, Query, Store
from fencepost.domain.instants import from_ms, to_ms, to_wire
from fencepost.domain.teams import Team

_NEWEST = 9_999_999_999
LOOK = 1_000
"""How many entries one page looks at before it says that it stopped early."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which entries: made from `since` on and before `before`, by whom (None: everybody)."""

    since: datetime | None = None
    before: datetime | None = None
    actor: str | None = None

    def admits(self, entry: Entry) -> bool:
        """Whether the entry is among them."""
        late_enough = self.since is None or entry.at >= self.since
        early_enough = self.before is None or entry.at < self.before
        return late_enough and early_enough and self.actor in {None, entry.actor}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """`after`: the last revision looked at, None at the end; `stopped_early`: the page was not filled."""

    items: tuple[Entry, ...]
    after: int | None
    stopped_early: bool = False


ALL = Asked()


def of_job(store: Store, uid: str, *, older_than: int | None, limit: int) -> list[Entry]:
    """The newest `limit` changes of a job (older than a revision, if given), deleted ones too."""
    return list(job_page(store, uid, older_than=older_than, limit=limit).items)


def of_calendar(store: Store, team: str, name: str, *, older_than: int | None, limit: int) -> list[Entry]:
    """The newest `limit` changes of a calendar, deletes among them; a change's number is its version."""
    first = keys.calendar_version(team, name, 0)
    return list(_page(store, first, older_than, limit, ALL).items)


def job_page(store: Store, uid: str, *, older_than: int | None, limit: int, asked: Asked = ALL) -> EntryPage:
    """The newest `limit` changes of a job that are asked for, from before `older_than` on."""
    return _page(store, keys.job_revision(uid, 0), older_than, limit, asked)


def team_page(
    store: Store, team: Team, *, older_than: int | None, limit: int, asked: Asked = ALL
) -> EntryPage:
    """Those of a team; not those of another one that had its name before."""
    return _page(store, keys.team_revision(team.name, team.born), older_than, limit, asked)


def stage_page(store: Store, *, older_than: int | None, limit: int, asked: Asked = ALL) -> EntryPage:
    """Those of the stage's switches."""
    return _page(store, keys.stage_revision(0), older_than, limit, asked)


def _page(store: Store, first: Key, older_than: int | None, limit: int, asked: Asked) -> EntryPage:
    found: list[Entry] = []
    for looked, entry in enumerate(_newest(store, first, older_than), 1):
        if asked.since is not None and entry.at < asked.since:
            break  # none further back is younger
        if asked.admits(entry):
            found.append(entry)
        if len(found) >= limit or looked >= LOOK:
            early = len(found) < limit
            return EntryPage(items=tuple(found), after=entry.revision, stopped_early=early)
    return EntryPage(items=tuple(found), after=None)


def _newest(store: Store, first: Key, older_than: int | None) -> Iterator[Entry]:
    last = f"R#{_NEWEST if older_than is None else older_than - 1:010d}"
    query = Query(table=first.table, pk=first.pk, first=first.sk, last=last, forward=False)
    for page in store.pages(query):
        for item in page:
            yield decode_entry(item)
