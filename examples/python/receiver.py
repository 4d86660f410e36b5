"""A target: proves each call, refuses what comes too late, and books every firing once.

The fence and the booking lie in one database and change in one transaction. That is the point: a worker that was paused
between the check and the write cannot write any more once a later attempt has been here.

    FENCEPOST_SECRET=whsec_... python receiver.py
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer

from fencepost.client import ReceivedCall, Receiver, UnsignedCallError

SCHEMA = """
CREATE TABLE IF NOT EXISTS firings (execution TEXT PRIMARY KEY, fence INTEGER NOT NULL, job TEXT, due TEXT, done INTEGER)
"""
# One statement decides and remembers: it changes a row only for a fence that is not smaller than the one there.
TAKE = """
INSERT INTO firings (execution, fence, job, due, done) VALUES (?, ?, ?, ?, 0)
ON CONFLICT (execution) DO UPDATE SET fence = excluded.fence WHERE excluded.fence >= firings.fence
"""


class Books:
    """Where the work's results lie."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute(SCHEMA)

    def book(self, call: ReceivedCall) -> bool:
        """Does the work of a call; False for one that comes after a later attempt. Doing it twice changes nothing."""
        with self._database:
            taken = self._database.execute(
                TAKE, (call.execution_id, call.fence, call.job, call.due.isoformat())
            )
            if taken.rowcount == 0:
                return False
            # ... the work itself, in the same transaction ...
            self._database.execute("UPDATE firings SET done = 1 WHERE execution = ?", (call.execution_id,))
        return True

    def done(self) -> list[str]:
        """What was booked."""
        return [str(row[0]) for row in self._database.execute("SELECT execution FROM firings WHERE done = 1")]


def answer(receiver: Receiver, books: Books, headers: Mapping[str, str], body: bytes) -> int:
    """The status for one call: 2xx ends it, 410 asks never to be called for it again, anything else is tried again."""
    try:
        call = receiver.accept(headers, body)
    except UnsignedCallError:
        return 401
    return 200 if books.book(call) else 409


def serve(port: int, secret: str, path: str) -> HTTPServer:
    """The server, not yet running."""
    receiver, books = Receiver(secrets=[secret]), Books(path)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(answer(receiver, books, dict(self.headers), body))
            self.send_header("Content-Length", "0")
            self.end_headers()

    return HTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(8000, os.environ["FENCEPOST_SECRET"], "books.sqlite").serve_forever()
