"""Standard queues in a file: what was accepted survives a kill, and several processes may receive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from fencepost.adapters.queue_settings import (
    BATCH_ENTRIES,
    QUEUE_SETTINGS,
    QueueSettings,
    acceptable,
    check_visibility,
)
from fencepost.adapters.sqlite.database import Database, DatabaseBusyError, Row
from fencepost.application.ports import Clock, Outgoing, QueueName, QueueUnavailableError, Received

_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND = timedelta(milliseconds=1)
_POLL = timedelta(milliseconds=50)

_INSERT = "INSERT INTO messages (queue, body, team, sent_at, visible_at, receives) VALUES (?, ?, ?, ?, ?, 0)"
_VISIBLE = """SELECT id, body, sent_at, receives FROM messages WHERE queue = ? AND visible_at <= ?
              ORDER BY visible_at, id LIMIT ?"""
_HIDE = "UPDATE messages SET receives = ?, visible_at = ? WHERE id = ?"
_BURY = "UPDATE messages SET queue = ?, visible_at = ? WHERE id = ?"
_DELETE = "DELETE FROM messages WHERE id = ?"
_DELETE_HELD = "DELETE FROM messages WHERE id = ? AND queue = ? AND receives = ?"
_RELEASE = "UPDATE messages SET visible_at = ? WHERE receives > 0 AND visible_at > ?"
_RESURFACE = "UPDATE messages SET visible_at = ? WHERE id = ? AND queue = ? AND receives = ?"


class SqliteQueues:
    """`Queues` and `QueueConsumer` over a `Database`: any number of threads and processes.

    The message that became visible first comes first. A receipt is void once its message was received again.
    """

    def __init__(
        self, database: Database, clock: Clock, settings: Mapping[QueueName, QueueSettings] = QUEUE_SETTINGS
    ) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        now = self._now_ms()
        accepted = [acceptable(message) for message in messages]
        rows = [
            (each.queue, each.body, each.group, now, now + each.delay * 1000)
            for each, fine in zip(messages, accepted, strict=True)
            if fine
        ]
        if rows:
            with _translated(), self._database.transaction() as connection:
                connection.executemany(_INSERT, rows)
        return accepted

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`; nothing happens when the message is no longer in this hand."""
        check_visibility(seconds)
        with _translated(), self._database.transaction() as connection:
            connection.execute(_RESURFACE, (self._now_ms() + seconds * 1000, *_held(message)))

    def receive(self, queue: QueueName, limit: int, wait: timedelta) -> Sequence[Received]:
        """See `QueueConsumer.receive`."""
        for _ in range(wait // _POLL):
            received = self._take(queue, min(limit, BATCH_ENTRIES))
            if received:
                return received
            self._clock.sleep(_POLL)
        return self._take(queue, min(limit, BATCH_ENTRIES))

    def delete(self, messages: Sequence[Received]) -> None:
        """See `QueueConsumer.delete`; a void receipt deletes nothing."""
        with _translated(), self._database.transaction() as connection:
            connection.executemany(_DELETE_HELD, [_held(message) for message in messages])

    def release_held(self) -> None:
        """Lets every message surface that somebody received and did not delete: for whoever knows that all receivers
        are gone. Their receipts stay good until the message is received again."""
        now = self._now_ms()
        with _translated(), self._database.transaction() as connection:
            connection.execute(_RELEASE, (now, now))

    def depth(self, queue: QueueName) -> int:
        """How many messages the queue holds, hidden and delayed ones included."""
        with _translated():
            rows = self._database.read("SELECT count(*) FROM messages WHERE queue = ?", (queue,))
        return int(rows[0][0])

    def _take(self, queue: QueueName, limit: int) -> list[Received]:
        now = self._now_ms()
        with _translated():
            if not self._database.read(_VISIBLE, (queue, now, 1)):
                return []  # most polls find nothing, and need no turn at writing
            with self._database.transaction() as connection:
                received: list[Received] = []
                while len(received) < limit:
                    rows = connection.execute(_VISIBLE, (queue, now, limit - len(received))).fetchall()
                    if not rows:
                        break
                    each = (self._judge(connection, queue, row, now) for row in rows)
                    received += [message for message in each if message is not None]
                return received

    def _judge(self, connection: sqlite3.Connection, queue: QueueName, row: Row, now: int) -> Received | None:
        """Hands one visible message out, unless it is too old (it goes) or was received too often (it moves)."""
        message_id, body, sent_at, receives = row
        settings = self._settings[queue]
        if now - sent_at >= settings.retention // _MILLISECOND:
            connection.execute(_DELETE, (message_id,))
            return None
        if settings.dead is not None and receives >= (settings.max_receives or 0):
            connection.execute(_BURY, (settings.dead, now, message_id))
            return None
        hidden_until = now + settings.visibility // _MILLISECOND
        connection.execute(_HIDE, (receives + 1, hidden_until, message_id))
        return Received(
            queue=queue,
            body=body,
            receipt=f"m-{message_id}/{receives + 1}",
            receive_count=receives + 1,
            message_id=f"m-{message_id}",
        )

    def _now_ms(self) -> int:
        return (self._clock.now() - _EPOCH) // _MILLISECOND


def _held(message: Received) -> tuple[int, QueueName, int]:
    """What names the message in this very hand: its id, its queue, and the count that its receipt carries."""
    number, _, receives = message.receipt.removeprefix("m-").partition("/")
    return int(number), message.queue, int(receives)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (DatabaseBusyError, sqlite3.Error) as error:
        raise QueueUnavailableError(str(error)) from error
