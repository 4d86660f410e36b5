"""A full disk: what the service would only note is dropped, and what it did is not undone by that."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import PortCall, seamed
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.application import keys
from fencepost.application.planting import WATERMARK
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError
from fencepost.application.store import Key, OutcomeUnknownError, Put, StoreBusyError, Table
from fencepost.domain.instants import to_ms
from fencepost.domain.outcome import Accepted
from fencepost.domain.targets import SnsTarget
from fencepost.local.calls import CallLog
from fencepost.local.files import DataDir, Journal, LogFile
from fencepost.local.live import Tail
from fencepost.local.options import LocalOptions, StoreKind
from fencepost.local.stage import LocalStage
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.function import instrumented
from fencepost.runtime.observability import Metric
from functions.api.handler import build
from tests.support.api import Front
from tests.support.clock import SettableClock
from tests.support.deliveries import delivery

FULL = Path("/dev/full")
TOPIC = SnsTarget(topic_arn="arn:aws:sns:us-east-1:000000000000:topic")


@pytest.fixture
def stage(tmp_path):
    if not FULL.exists():
        pytest.skip("no device that is always full here")
    data = DataDir.open(tmp_path)
    data.service_log.symlink_to(FULL)
    data.calls.symlink_to(FULL)
    stage = LocalStage.open(LocalOptions(data_dir=tmp_path, store=StoreKind.MEMORY), data)
    yield stage
    stage.close()


@pytest.fixture
def clock():
    return SettableClock("2026-03-01T12:00:00Z")


@pytest.fixture
def sqlite(tmp_path, clock):
    """A stage whose every shard is proven empty until now."""
    data = DataDir.open(tmp_path / "sqlite")
    options = LocalOptions(data_dir=data.path, store=StoreKind.SQLITE)
    stage = replace(LocalStage.open(options, data), clock=clock)
    for shard in range(stage.settings.limits.shards):
        mark = {"v": 1, WATERMARK: to_ms(clock.now())}
        stage.store.write(Put(key=keys.watermark(shard), item=mark))
    yield stage
    stage.close()


def health(stage):
    """What the service says of itself to anybody."""
    front = Front(stage=stage, memory=MemoryStore(stage.clock), handler=build(stage, stage.refusals.trouble))
    body = front.get("/v1/health").body
    return body["status"], body["trouble"]


def limited(stage, pages):
    """Lets the file grow to so many pages; to what it has, where it has more."""
    with stage._ground._database.transaction() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages}")


LARGE = Put(key=Key(Table.CONTROL, "X#test", "large"), item={"v": 1, "text": "x" * 200_000})
FULL_SAID = "a write was refused at 12:00:00Z: database or disk is full"


def test_health_tells_that_the_store_refuses_writes_until_they_go_through_again(sqlite, clock):
    build(sqlite)  # draws what it needs while there is room
    assert health(sqlite) == ("ok", None)
    limited(sqlite, 1)

    with pytest.raises(OutcomeUnknownError):
        sqlite.store.write(LARGE)

    assert health(sqlite) == ("failing", FULL_SAID)
    limited(sqlite, 1_000_000)
    sqlite.store.write(LARGE)
    clock.advance(minutes=2, seconds=1)
    assert health(sqlite) == ("ok", None)


def test_health_tells_that_the_queues_refuse_messages(sqlite):
    build(sqlite)
    limited(sqlite, 1)

    with pytest.raises(QueueUnavailableError):
        sqlite.queues.send([Outgoing(queue=QueueName.SCAN, body="x" * 200_000)])

    assert health(sqlite) == ("failing", FULL_SAID)


def test_a_disk_without_room_is_told_before_anything_is_refused(sqlite, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Room(free=4096))

    assert health(sqlite) == (
        "failing",
        "the disk is full: 4,096 bytes are left where the store lies",
    )


def test_waiting_for_another_process_is_no_trouble(sqlite):
    database = Database(sqlite.data.database, busy_seconds=0.01)
    store = seamed(SqliteStore(database, sqlite.clock), "store", sqlite.refusals)
    queues = seamed(SqliteQueues(database, sqlite.clock), "queues", sqlite.refusals)
    with sqlite._ground._database.transaction():
        with pytest.raises(StoreBusyError):
            store.write(LARGE)
        with pytest.raises(QueueUnavailableError):
            queues.send([Outgoing(queue=QueueName.SCAN, body="x")])
    database.close()

    assert health(sqlite) == ("ok", None)


@dataclass
class Room:
    """What is left on a disk."""

    free: int


def test_lines_of_the_service_are_dropped_without_a_word(stage, capfd):
    for number in range(100):
        stage.log("something happened", number=number, why="x" * 1_000)

    assert capfd.readouterr() == ("", "")


def test_metrics_that_cannot_be_written_take_no_answer_back(stage, capfd):
    def handler(event, context):
        stage.observed.telemetry.add(Metric.TICK_RAN)
        return event

    assert instrumented(handler, stage.observed)({"done": 1}, None) == {"done": 1}
    assert capfd.readouterr() == ("", "")


def test_a_call_that_cannot_be_noted_still_has_its_outcome(stage):
    outcome = Accepted(status=202)
    journal = Journal(stage.data.calls)
    log = CallLog(journal.write, SystemClock().now)

    assert (
        log(PortCall(port="targets", method="deliver", args=(delivery(TOPIC),)), lambda: outcome) is outcome
    )
    journal.close()


def test_a_line_that_was_torn_does_not_end_the_live_view(tmp_path):
    file, seen, came = tmp_path / "calls.jsonl", [], threading.Event()

    def take(entry):
        seen.append(entry)
        came.set()

    tail = Tail({file: take})
    file.write_text('{"n": 1, "tor{"n": 2}\n{"n": 3}\n')
    tail.start()
    assert came.wait(10)
    tail.stop()

    assert seen == [{"n": 3}]


def test_where_there_is_room_a_line_is_there_at_once(tmp_path):
    log = LogFile(tmp_path / "service.jsonl")
    print(json.dumps({"n": 1}), file=log, flush=True)
    again = LogFile(tmp_path / "service.jsonl")
    print(json.dumps({"n": 2}), file=again, flush=True)

    assert (tmp_path / "service.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'
    log.close()
    again.close()
