"""The store in a file: the algebra evaluated over rows, inside one transaction of the database."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from fencepost.adapters.algebra import after, holds, judge
from fencepost.adapters.refusals import check_action, check_key, check_transaction
from fencepost.adapters.sqlite.codec import decode, encode
from fencepost.adapters.sqlite.database import Database, DatabaseBusyError
from fencepost.application.ports import Clock
from fencepost.application.store import (
    Action,
    Cancelled,
    Check,
    Committed,
    InvalidWriteError,
    Item,
    Key,
    Lost,
    OutcomeUnknownError,
    Query,
    Share,
    StoreBusyError,
    Won,
    Write,
)
from fencepost.domain.identity import hashed

TOKEN_LIFE = timedelta(minutes=10)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND = timedelta(milliseconds=1)


class SqliteStore:
    """`Store` over a `Database`, for one machine: any number of threads and processes, thousands of writes a second."""

    def __init__(self, database: Database, clock: Clock, *, page_size: int = 200) -> None:
        self._database = database
        self._clock = clock
        self._page_size = page_size

    def get(self, key: Key) -> Item | None:
        """See `Store.get`."""
        check_key(key)
        with _translated():
            rows = self._database.read(_SELECT, (key.table, key.pk, key.sk))
        return decode(rows[0][0]) if rows else None

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See `Store.batch_get`; all are processed."""
        found = ((key, self.get(key)) for key in dict.fromkeys(keys))
        return {key: item for key, item in found if item is not None}

    def pages(self, query: Query) -> Iterator[Sequence[Item]]:
        """See `Store.pages`. Each page sees the store as it is when the page is asked for."""
        left = query.limit
        cursor: str | None = None
        while left is None or left > 0:
            size = self._page_size if left is None else min(self._page_size, left)
            sql, values = _page_select(query, cursor, size)
            with _translated():
                page = [decode(body) for (body,) in self._database.read(sql, values)]
            yield page
            if len(page) < size:
                return
            cursor = page[-1]["sk"]
            left = None if left is None else left - size

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        """See `Store.scan`: a page is what a partition holds when its turn comes."""
        with _translated():
            owned = self._database.read(_PARTITIONS, (share.table,))
        for (pk,) in owned:
            if hashed(pk, share.of) == share.number:
                yield from self.pages(Query(table=share.table, pk=pk))

    def write(self, write: Write) -> Won | Lost:
        """See `Store.write`."""
        check_action(write)
        with _translated(), self._database.transaction() as rows:
            old = _read(rows, write.key)
            if not holds(write.condition, old):
                return Lost(old)
            _set(rows, write.key, after(write, old))
        return Won()

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """See `Store.transact`. Only a committed transaction is remembered: a cancelled one had no effect."""
        check_transaction(actions, token)
        with _translated(), self._database.transaction() as rows:
            if token is not None and self._replayed(rows, token, actions):
                return Committed()
            news = judge(actions, [_read(rows, action.key) for action in actions])
            if isinstance(news, Cancelled):
                return news
            for action, new in zip(actions, news, strict=True):
                if not isinstance(action, Check):
                    _set(rows, action.key, new)
            if token is not None:
                rows.execute("INSERT INTO tokens VALUES (?, ?, ?)", (token, _digest(actions), self._now_ms()))
        return Committed()

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """See `Store.batch_delete`; all are processed."""
        for key in keys:
            check_key(key)
        with _translated(), self._database.transaction() as rows:
            for key in keys:
                _set(rows, key, None)
        return ()

    def _replayed(self, rows: sqlite3.Connection, token: str, actions: Sequence[Action]) -> bool:
        rows.execute("DELETE FROM tokens WHERE at <= ?", (self._now_ms() - TOKEN_LIFE // _MILLISECOND,))
        known = rows.execute("SELECT digest FROM tokens WHERE token = ?", (token,)).fetchone()
        if known is not None and known[0] != _digest(actions):
            raise InvalidWriteError("the token was used for another transaction")
        return known is not None

    def _now_ms(self) -> int:
        return (self._clock.now() - _EPOCH) // _MILLISECOND


_PARTITIONS = "SELECT DISTINCT pk FROM items WHERE tbl = ? ORDER BY pk"
_SELECT = "SELECT body FROM items WHERE tbl = ? AND pk = ? AND sk = ?"


def _read(rows: sqlite3.Connection, key: Key) -> Item | None:
    row = rows.execute(_SELECT, (key.table, key.pk, key.sk)).fetchone()
    return None if row is None else decode(row[0])


def _set(rows: sqlite3.Connection, key: Key, item: Item | None) -> None:
    where = (key.table, key.pk, key.sk)
    if item is None:
        rows.execute("DELETE FROM items WHERE tbl = ? AND pk = ? AND sk = ?", where)
    else:
        rows.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", (*where, encode(item)))


def _page_select(query: Query, cursor: str | None, size: int) -> tuple[str, list[object]]:
    """The statement for one page, its text made of constants only."""
    parts = ["SELECT body FROM items WHERE tbl = ? AND pk = ?"]
    values: list[object] = [query.table, query.pk]
    if query.first is not None:
        parts.append("AND sk >= ?")
        values.append(query.first)
    if query.last is not None:
        parts.append("AND sk <= ?")
        values.append(query.last)
    if cursor is not None:
        parts.append("AND sk > ?" if query.forward else "AND sk < ?")
        values.append(cursor)
    parts.append("ORDER BY sk LIMIT ?" if query.forward else "ORDER BY sk DESC LIMIT ?")
    values.append(size)
    return " ".join(parts), values


def _digest(actions: Sequence[Action]) -> str:
    return hashlib.sha256(repr(tuple(actions)).encode()).hexdigest()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except DatabaseBusyError as error:
        raise StoreBusyError(str(error)) from error
    except sqlite3.Error as error:
        raise OutcomeUnknownError(str(error)) from error
