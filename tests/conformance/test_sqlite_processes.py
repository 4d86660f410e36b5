"""The file on this machine: several processes at once, and a kill at any point."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from fencepost.adapters.sqlite.database import Database, DatabaseVersionError
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError
from fencepost.application.store import Key, OutcomeUnknownError, Put, Query, StoreBusyError, Table, items
from fencepost.runtime.clock import SystemClock
from tests.support.clock import SettableClock
from tests.support.queues import START

ROOT = Path(__file__).resolve().parents[2]


def started(work: str, path: Path, name: str = "-", number: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.crashing", work, str(path), name, str(number)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_share_the_timers_and_none_fires_twice(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    processes = [started("claim", path, name, 500) for name in ("upwards", "downwards")]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    won = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert Counter(won[0] + won[1]) == {f"{number}": 1 for number in range(500)}
    with closing(Database(path)) as database:
        timers = list(
            items(SqliteStore(database, SettableClock(START)), Query(table=Table.TIMERS, pk="timers"))
        )
    by = Counter(timer["by"] for timer in timers)
    assert (by["upwards"], by["downwards"]) == (len(won[0]), len(won[1]))


@pytest.mark.parametrize("lines", [1, 50, 333])
def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "store.sqlite"
    process = started("write", path)
    assert process.stdout is not None
    assert process.stdin is not None
    said = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.wait(timeout=10)
    process.stdout.close()
    process.stdin.close()
    words = [line.split() for line in said if line.endswith("\n")]
    acknowledged = {
        kind: {int(number) for each, number in words if each == kind} for kind in ("item", "message")
    }
    with closing(Database(path)) as database:
        store = SqliteStore(database, SettableClock(START))
        twins = [
            {int(item["sk"]) for item in items(store, Query(table=table, pk="twins"))}
            for table in (Table.JOBS, Table.TIMERS)
        ]
        sent = {int(body) for (body,) in database.read("SELECT body FROM messages")}
    assert twins[0] == twins[1]
    assert acknowledged["item"] <= twins[0] <= acknowledged["item"] | {max(twins[0])}
    assert acknowledged["message"] <= sent <= acknowledged["message"] | {max(sent, default=0)}


def test_two_processes_share_a_queue(tmp_path: Path) -> None:
    path = tmp_path / "queues.sqlite"
    with closing(Database(path)) as database:
        queues = SqliteQueues(database, SystemClock())
        queues.send([Outgoing(queue=QueueName.BULK, body=f"{number}") for number in range(300)])
        processes = [started("consume", path) for _ in range(2)]
        seen = [process.communicate(timeout=60)[0].split() for process in processes]
        assert Counter(seen[0] + seen[1]) == {f"{number}": 1 for number in range(300)}
        assert queues.depth(QueueName.BULK) == 0


def test_what_was_written_is_there_after_opening_anew(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    clock = SettableClock(START)
    with closing(Database(path)) as database:
        SqliteStore(database, clock).write(Put(key=Key(Table.JOBS, "p", "s"), item={"bytes": b"\x00"}))
        SqliteQueues(database, clock).send([Outgoing(queue=QueueName.SCAN, body="later", delay=5)])
    with closing(Database(path)) as database:
        assert SqliteStore(database, clock).get(Key(Table.JOBS, "p", "s")) == {
            "pk": "p",
            "sk": "s",
            "bytes": b"\x00",
        }
        (message,) = SqliteQueues(database, clock).receive(QueueName.SCAN, 1, timedelta(seconds=6))
        assert message.body == "later"


def test_a_file_of_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(DatabaseVersionError, match="99"):
        Database(path)


def test_a_file_held_by_somebody_else_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    clock = SettableClock(START)
    with closing(Database(path, busy_seconds=0.05)) as database, closing(sqlite3.connect(path)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            SqliteStore(database, clock).write(Put(key=Key(Table.JOBS, "p", "s"), item={}))
        with pytest.raises(QueueUnavailableError):
            SqliteQueues(database, clock).send([Outgoing(queue=QueueName.SCAN, body="x")])
        other.execute("ROLLBACK")
        assert SqliteStore(database, clock).get(Key(Table.JOBS, "p", "s")) is None


def test_who_reads_waits_for_no_writer_and_sees_what_was_committed_before(tmp_path: Path) -> None:
    """However many write, a long reader such as an audit gets on: it does not wait for its turn among them."""
    clock, key = SettableClock(START), Key(Table.JOBS, "p", "s")
    with closing(Database(tmp_path / "store.sqlite")) as database, ThreadPoolExecutor(1) as other:
        store = SqliteStore(database, clock)
        for number in range(3):
            store.write(Put(key=key, item={"n": number}))
            with database.transaction() as writing:
                writing.execute("DELETE FROM items")
                found = other.submit(store.get, key).result(timeout=10)
            assert found == {"pk": "p", "sk": "s", "n": number}


def test_a_broken_file_leaves_the_outcome_open(tmp_path: Path) -> None:
    clock = SettableClock(START)
    with closing(Database(tmp_path / "store.sqlite")) as database:
        with database.transaction() as connection:
            connection.execute("DROP TABLE items")
        with pytest.raises(OutcomeUnknownError):
            SqliteStore(database, clock).write(Put(key=Key(Table.JOBS, "p", "s"), item={}))
