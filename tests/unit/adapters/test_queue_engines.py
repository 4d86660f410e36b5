"""What the queues on one machine do beyond the port: retention, their look inside, the stage's settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.application.ports import Outgoing, QueueName, dead_queue, tier_queue
from fencepost.domain.model import Tier
from tests.support.clock import SettableClock

NOW = timedelta(0)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock("2026-03-02T10:00:00.000Z")


@pytest.fixture(params=["memory", "sqlite"])
def queues(request, clock, tmp_path) -> Iterator[MemoryQueues | SqliteQueues]:
    if request.param == "memory":
        yield MemoryQueues(clock)
        return
    with closing(Database(tmp_path / "queues.sqlite")) as database:
        yield SqliteQueues(database, clock)


def test_every_queue_has_settings_and_every_tier_its_dead_letters() -> None:
    assert set(QUEUE_SETTINGS) == set(QueueName)
    for tier in Tier:
        settings = QUEUE_SETTINGS[tier_queue(tier)]
        assert (settings.max_receives, settings.dead) == (6, dead_queue(tier))
        assert settings.visibility == timedelta(seconds=300)
        assert QUEUE_SETTINGS[dead_queue(tier)].dead is None
        assert QUEUE_SETTINGS[dead_queue(tier)].retention == timedelta(days=14)


def test_a_tier_gives_a_message_six_times_and_then_buries_it(queues, clock) -> None:
    queues.send([Outgoing(queue=QueueName.CRITICAL, body="x")])
    for number in range(6):
        (message,) = queues.receive(QueueName.CRITICAL, 10, NOW)
        assert message.receive_count == number + 1
        assert list(queues.receive(QueueName.CRITICAL, 10, timedelta(seconds=299))) == []
        clock.advance(seconds=1)
    assert list(queues.receive(QueueName.CRITICAL, 10, NOW)) == []
    (message,) = queues.receive(QueueName.DEAD_CRITICAL, 10, NOW)
    assert message.body == "x"


def test_a_message_that_nobody_wanted_in_time_is_gone(queues, clock) -> None:
    queues.send([Outgoing(queue=QueueName.SCAN, body="old")])
    clock.advance(minutes=10)
    queues.send([Outgoing(queue=QueueName.SCAN, body="young")])
    clock.advance(minutes=5)
    assert [each.body for each in queues.receive(QueueName.SCAN, 10, NOW)] == ["young"]
    assert queues.depth(QueueName.SCAN) == 1


def test_a_reader_waits_no_longer_than_it_must(queues, clock) -> None:
    queues.send([Outgoing(queue=QueueName.BULK, body="x", delay=3)])
    start = clock.now()
    assert len(queues.receive(QueueName.BULK, 10, timedelta(seconds=20))) == 1
    assert timedelta(seconds=3) <= clock.now() - start < timedelta(seconds=4)
    start = clock.now()
    assert list(queues.receive(QueueName.BULK, 10, timedelta(seconds=20))) == []
    assert clock.now() - start == timedelta(seconds=20)


def test_the_memory_queues_show_what_they_hold(clock) -> None:
    queues = MemoryQueues(clock)
    assert queues.next_visible() is None
    queues.send(
        [
            Outgoing(queue=QueueName.BULK, body="late", delay=60, group="payments"),
            Outgoing(queue=QueueName.BULK, body="soon", delay=10),
            Outgoing(queue=QueueName.CRITICAL, body="later", delay=30),
        ]
    )
    assert [each.body for each in queues.waiting(QueueName.BULK)] == ["soon", "late"]
    assert queues.waiting(QueueName.BULK)[1].group == "payments"
    assert queues.next_visible() == clock.now() + timedelta(seconds=10)
    clock.advance(seconds=10)
    (message,) = queues.receive(QueueName.BULK, 1, NOW)
    assert queues.next_visible() == clock.now() + timedelta(seconds=20)
    queues.delete([message])
    assert (queues.depth(QueueName.BULK), queues.depth(QueueName.CRITICAL)) == (1, 1)
