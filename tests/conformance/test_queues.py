"""Queues: at least once, delays, visibility, dead letters; on a settable clock, and in real time on the engine.

A test never sleeps: it waits as a reader does, by `receive(..., wait)`, which moves a settable clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from fencepost.application.ports import Outgoing, QueueName, Received
from tests.support.queues import (
    MAX_RECEIVES,
    ConsumedQueues,
    engine_queues,
    memory_queues,
    moto_queues,
    sqlite_queues,
    wire_queues,
)

NOW = timedelta(0)
SOON = timedelta(seconds=4)
QUEUE = QueueName.STANDARD


ENGINES = [pytest.param(name, marks=pytest.mark.engine) for name in ("engine", "wire")]


@pytest.fixture(params=["memory", "sqlite", "moto", *ENGINES])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def queues(kind: str, request: pytest.FixtureRequest, tmp_path) -> Iterator[ConsumedQueues]:
    match kind:
        case "memory":
            yield memory_queues()
        case "sqlite":
            with sqlite_queues(tmp_path / "queues.sqlite") as opened:
                yield opened
        case "moto":
            with moto_queues() as opened:
                yield opened
        case "wire":
            yield wire_queues(request.getfixturevalue("engine"))
        case _:
            yield engine_queues(request.getfixturevalue("engine"))


def outgoing(body: str, **options) -> Outgoing:
    return Outgoing(**({"queue": QUEUE, "body": body} | options))


def bodies(messages: Sequence[Received]) -> list[str]:
    return [message.body for message in messages]


def drained(queues: ConsumedQueues, queue: QueueName) -> list[str]:
    """Everything that is visible now, acknowledged."""
    seen: list[str] = []
    while batch := queues.receive(queue, 10, NOW):
        queues.delete(batch)
        seen += bodies(batch)
    return seen


def test_what_was_sent_is_received_and_gone_when_deleted(queues: ConsumedQueues) -> None:
    assert list(queues.send([outgoing("hello", group="payments")])) == [True]
    (message,) = queues.receive(QUEUE, 10, NOW)
    assert (message.queue, message.body, message.receive_count) == (QUEUE, "hello", 1)
    queues.delete([message])
    assert list(queues.receive(QUEUE, 10, SOON)) == []


def test_an_empty_queue_gives_nothing(queues: ConsumedQueues) -> None:
    assert list(queues.receive(QUEUE, 10, NOW)) == []
    assert list(queues.send([])) == []
    queues.delete([])


def test_many_messages_go_to_their_queues(queues: ConsumedQueues) -> None:
    sent = [
        outgoing(f"{number}", queue=QueueName.BULK if number % 3 else QueueName.CRITICAL)
        for number in range(25)
    ]
    assert list(queues.send(sent)) == [True] * 25
    for queue in (QueueName.BULK, QueueName.CRITICAL):
        expected = sorted(message.body for message in sent if message.queue is queue)
        assert sorted(drained(queues, queue)) == expected
    assert drained(queues, QUEUE) == []


def test_a_receive_takes_no_more_than_asked(queues: ConsumedQueues) -> None:
    queues.send([outgoing(str(number)) for number in range(12)])
    first = queues.receive(QUEUE, 3, NOW)
    assert len(first) == 3
    second = queues.receive(QUEUE, 10, NOW)
    assert len(second) <= 9
    assert set(bodies(first)).isdisjoint(bodies(second))


def test_a_delayed_message_surfaces_later(queues: ConsumedQueues) -> None:
    queues.send([outgoing("later", delay=1), outgoing("at once")])
    assert drained(queues, QUEUE) == ["at once"]
    assert bodies(queues.receive(QUEUE, 10, SOON)) == ["later"]


def test_a_message_in_hand_is_hidden_and_comes_back(queues: ConsumedQueues) -> None:
    queues.send([outgoing("again")])
    (first,) = queues.receive(QUEUE, 10, NOW)
    assert list(queues.receive(QUEUE, 10, NOW)) == []
    (second,) = queues.receive(QUEUE, 10, SOON)
    assert (second.body, second.receive_count) == ("again", 2)
    assert second.receipt != first.receipt


def test_a_message_can_be_put_back_at_once_or_held_longer(queues: ConsumedQueues) -> None:
    queues.send([outgoing("back")])
    (message,) = queues.receive(QUEUE, 10, NOW)
    queues.set_visibility(message, 0)
    (message,) = queues.receive(QUEUE, 10, NOW)
    queues.set_visibility(message, 600)
    assert list(queues.receive(QUEUE, 10, SOON)) == []


def test_a_message_no_longer_in_hand_cannot_be_held(queues: ConsumedQueues) -> None:
    queues.send([outgoing("done")])
    (message,) = queues.receive(QUEUE, 10, NOW)
    queues.delete([message])
    queues.set_visibility(message, 0)
    assert list(queues.receive(QUEUE, 10, NOW)) == []


def test_an_old_receipt_does_not_take_the_message_from_its_new_hand(kind: str, tmp_path) -> None:
    if kind in {"engine", "wire"}:
        pytest.skip("SQS promises no more than that the newest receipt works")
    with sqlite_queues(tmp_path / "queues.sqlite") as in_file:
        queues = memory_queues() if kind == "memory" else in_file
        queues.send([outgoing("mine")])
        (old,) = queues.receive(QUEUE, 10, NOW)
        (new,) = queues.receive(QUEUE, 10, SOON)
        queues.delete([old])
        queues.set_visibility(old, 600)
        queues.set_visibility(new, 0)
        assert drained(queues, QueueName.DEAD_STANDARD) == []
        assert list(queues.receive(QUEUE, 10, NOW)) == []
        assert drained(queues, QueueName.DEAD_STANDARD) == ["mine"]


def test_a_message_received_too_often_is_a_dead_letter(queues: ConsumedQueues) -> None:
    queues.send([outgoing("poison", group="payments")])
    for number in range(MAX_RECEIVES):
        (message,) = queues.receive(QUEUE, 10, NOW)
        assert message.receive_count == number + 1
        queues.set_visibility(message, 0)
    assert list(queues.receive(QUEUE, 10, NOW)) == []
    assert bodies(queues.receive(QueueName.DEAD_STANDARD, 10, SOON)) == ["poison"]


def test_a_dead_letter_comes_back_for_ever(queues: ConsumedQueues) -> None:
    queues.send([outgoing("stubborn", queue=QueueName.DEAD_BULK)])
    for number in range(MAX_RECEIVES + 2):
        (message,) = queues.receive(QueueName.DEAD_BULK, 10, NOW)
        assert message.receive_count == number + 1
        queues.set_visibility(message, 0)


def test_a_message_that_no_queue_takes_does_not_stop_the_others(queues: ConsumedQueues) -> None:
    sent = [
        outgoing("fine"),
        outgoing("too late", delay=901),
        outgoing("never", delay=-1),
        outgoing(""),
        outgoing("x" * (1024 * 1024 + 1)),
        outgoing("grouped", group="g" * 129),
        outgoing("fine too", group="g" * 128),
    ]
    assert list(queues.send(sent)) == [True, False, False, False, False, False, True]
    assert sorted(drained(queues, QUEUE)) == ["fine", "fine too"]


def test_large_messages_are_spread_over_requests(queues: ConsumedQueues) -> None:
    sent = [outgoing(str(number) * (400 * 1024)) for number in range(5)]
    sent.append(outgoing("y" * (1024 * 1024)))
    assert list(queues.send(sent)) == [True] * 6
    assert sorted(drained(queues, QUEUE)) == sorted(message.body for message in sent)


@pytest.mark.parametrize("seconds", [-1, 43_201])
def test_visibility_has_bounds(queues: ConsumedQueues, seconds: int) -> None:
    queues.send([outgoing("x")])
    (message,) = queues.receive(QUEUE, 10, NOW)
    with pytest.raises(ValueError, match="visibility"):
        queues.set_visibility(message, seconds)


def test_a_deletion_may_name_messages_of_several_queues(queues: ConsumedQueues) -> None:
    queues.send(
        [outgoing(str(number), queue=name) for name in (QUEUE, QueueName.BULK) for number in range(10)]
    )
    held = [*queues.receive(QUEUE, 10, NOW), *queues.receive(QueueName.BULK, 10, NOW)]
    queues.delete(held)
    left = 20 - len(held)
    assert len(drained(queues, QUEUE) + drained(queues, QueueName.BULK)) == left


def test_the_first_to_surface_is_the_first_received(kind: str, tmp_path) -> None:
    if kind in {"engine", "wire"}:
        pytest.skip("SQS promises no order")
    with sqlite_queues(tmp_path / "queues.sqlite") as in_file:
        queues = memory_queues() if kind == "memory" else in_file
        queues.send([outgoing("c", delay=2), outgoing("a"), outgoing("b"), outgoing("d", delay=2)])
        seen = drained(queues, QUEUE)
        (late,) = queues.receive(QUEUE, 1, SOON)
        assert [*seen, late.body, *drained(queues, QUEUE)] == ["a", "b", "c", "d"]
