"""A process that writes to a file until it is killed, and says on its output what was acknowledged."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path

from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import Absent, Committed, Key, Put, Table
from fencepost.runtime.clock import SystemClock


def claim(path: Path, claimer: str, items: int) -> None:
    """Waits for a line, then tries to claim each of `items`, first or last first; prints the numbers won."""
    with closing(Database(path)) as database:
        store = SqliteStore(database, SystemClock())
        sys.stdin.readline()
        for number in range(items) if claimer == "upwards" else range(items - 1, -1, -1):
            execution = Put(
                key=Key(Table.EXECUTIONS, f"{number}", "execution"), item={"by": claimer}, condition=Absent()
            )
            timer = Put(key=Key(Table.TIMERS, "timers", f"{number:06}-{claimer}"), item={"by": claimer})
            if store.transact([execution, timer]) == Committed():
                print(number, flush=True)


def write(path: Path, _: str, __: int) -> None:
    """Writes for ever: an item and its twin in one transaction, and a message; prints what was acknowledged."""
    with closing(Database(path)) as database:
        store = SqliteStore(database, SystemClock())
        queues = SqliteQueues(database, SystemClock())
        for number in count():
            twins = [
                Put(key=Key(table, "twins", f"{number:06}"), item={}) for table in (Table.JOBS, Table.TIMERS)
            ]
            if store.transact(twins, f"t-{number}") == Committed():
                print("item", number, flush=True)
            if all(queues.send([Outgoing(queue=QueueName.BULK, body=f"{number}")])):
                print("message", number, flush=True)


def consume(path: Path, _: str, __: int) -> None:
    """Receives and acknowledges until nothing is left; prints each message that it had in hand."""
    with closing(Database(path)) as database:
        queues = SqliteQueues(database, SystemClock())
        while messages := queues.receive(QueueName.BULK, 10, timedelta(milliseconds=200)):
            for message in messages:
                print(message.body, flush=True)
            queues.delete(messages)


if __name__ == "__main__":
    work = {"claim": claim, "write": write, "consume": consume}[sys.argv[1]]
    work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
