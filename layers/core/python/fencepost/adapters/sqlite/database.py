"""One SQLite file in write-ahead mode, shared by the threads of a process and by several processes."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_VERSION = 1
_BUSY_SECONDS = 5.0
_OPENINGS = 50
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS items (
        tbl TEXT NOT NULL, pk TEXT NOT NULL, sk TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (tbl, pk, sk)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, digest TEXT NOT NULL, at INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS tokens_by_age ON tokens (at)",
    """CREATE TABLE IF NOT EXISTS messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, body TEXT NOT NULL, team TEXT,
        sent_at INTEGER NOT NULL, visible_at INTEGER NOT NULL, receives INTEGER NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS messages_by_turn ON messages (queue, visible_at, id)",
    f"PRAGMA user_version = {_VERSION}",
)

Row = tuple[Any, ...]


class DatabaseBusyError(Exception):
    """Another process held the file for too long: nothing was read or written."""


class DatabaseVersionError(Exception):
    """The file was written by another version of the service."""


class Database:
    """The file, opened once per process: open it anew after a fork.

    A commit that returned survives the death of this process (power failure is not covered: the log is not flushed
    to the disk on every commit). One connection writes, under one lock: threads take turns, other processes are waited
    for. Whoever reads shares it while nobody else does, since its pages are at hand; otherwise they have another one for
    as long as that takes, and wait for no writer.
    """

    def __init__(self, path: Path, *, busy_seconds: float = _BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._connection = self._connect()
        self._readers: deque[sqlite3.Connection] = deque()
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """No call may follow."""
        while self._readers:
            self._readers.pop().close()
        with self._lock:
            self._connection.close()

    def read(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of one statement, as of one instant: everything is in them whose commit had returned before."""
        with self._reader() as reader, _busy():
            return reader.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside happens at once or not at all, and nothing of another process in between."""
        with self._lock, _busy():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """The one that writes, if it is free; else the one that was used last, or one more."""
        if self._lock.acquire(blocking=False):
            try:
                yield self._connection
            finally:
                self._lock.release()
            return
        try:
            reader = self._readers.pop()
        except IndexError:
            reader = self._connect()
        try:
            yield reader
        finally:
            self._readers.append(reader)

    def _prepare(self) -> None:
        self._enter_write_ahead_mode()
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self.transaction() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in {0, _VERSION}:
                raise DatabaseVersionError(f"the file has version {version}, this service wants {_VERSION}")
            for statement in _SCHEMA:
                connection.execute(statement)

    def _enter_write_ahead_mode(self) -> None:
        """SQLite does not wait for others in this one statement, so we let it wait in one where it does."""
        for _ in range(_OPENINGS):
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not _held_by_others(error):
                    raise
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.execute("ROLLBACK")
            else:
                return
        raise DatabaseBusyError("the file could not be brought into write-ahead mode")


@contextmanager
def _busy() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if _held_by_others(error):
            raise DatabaseBusyError(str(error)) from error
        raise


def _held_by_others(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
