"""Pollers, ticker and broom: what AWS does around the functions, done here."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.application import keys
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError
from fencepost.application.store import Key, Put, Table
from fencepost.domain.instants import to_ms
from fencepost.local import broom
from fencepost.local.poller import Feed, Poller, to_event
from fencepost.local.stage import Reclocked
from fencepost.local.ticker import Ticker, Wake, following
from fencepost.runtime.clock import StoppableClock, StoppedError, SystemClock
from fencepost.runtime.events import received
from tests.support.functions import QUEUES, WorldStage, event
from tests.support.world import World

PATIENCE = 10


@pytest.fixture
def stage():
    return WorldStage(World())


@pytest.fixture
def mail():
    return MemoryQueues(SystemClock())


def feed(build, environments=1, batch=10):
    return Feed(queue=QueueName.STANDARD, build=lambda _: build, environments=environments, batch=batch)


def send(mail, count):
    mail.send([Outgoing(queue=QueueName.STANDARD, body=f"{number}") for number in range(count)])


def test_what_a_function_did_not_refuse_is_deleted(stage, mail):
    seen = threading.Semaphore(0)

    def handler(event, context):
        refused = [each for each in event["Records"] if each["body"] == "1"]
        for each in event["Records"]:
            mail.set_visibility(received({"Records": [each]}, QUEUES)[0], 900)
            seen.release()
        return {"batchItemFailures": [{"itemIdentifier": each["messageId"]} for each in refused]}

    send(mail, 3)
    poller = Poller(stage, mail, feed(handler))
    poller.start()
    for _ in range(3):
        assert seen.acquire(timeout=PATIENCE)
    poller.stop()
    poller.drain()
    assert [each.body for each in mail.waiting(QueueName.STANDARD)] == ["1"]


def test_a_function_that_raises_keeps_its_batch_and_the_poller_goes_on(stage, mail):
    calls = threading.Semaphore(0)

    def handler(event, context):
        calls.release()
        if event["Records"][0]["body"] == "0":
            raise RuntimeError("boom")
        return {"batchItemFailures": []}

    send(mail, 2)
    poller = Poller(stage, mail, feed(handler, batch=1))
    poller.start()
    assert all(calls.acquire(timeout=PATIENCE) for _ in range(2))
    poller.stop()
    poller.drain()
    assert [each.body for each in mail.waiting(QueueName.STANDARD)] == ["0"]
    assert any(line.get("message") == "batch kept" for line in stage.lines())


def test_no_more_events_are_under_way_than_there_are_environments(stage, mail):
    two = threading.Barrier(2, timeout=PATIENCE)
    inside, most, lock = [0], [0], threading.Lock()
    done = threading.Semaphore(0)

    def handler(event, context):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        two.wait()
        with lock:
            inside[0] -= 1
        done.release()
        return {"batchItemFailures": []}

    send(mail, 6)
    poller = Poller(stage, mail, feed(handler, environments=2, batch=1))
    poller.start()
    assert all(done.acquire(timeout=PATIENCE) for _ in range(6))
    poller.stop()
    poller.drain()
    assert most[0] == 2


def test_stopping_waits_for_what_is_under_way(stage, mail):
    entered, leave = threading.Event(), threading.Event()
    left = []

    def handler(event, context):
        entered.set()
        assert leave.wait(PATIENCE)
        left.append(1)
        return {"batchItemFailures": []}

    send(mail, 1)
    poller = Poller(stage, mail, feed(handler))
    poller.start()
    assert entered.wait(PATIENCE)
    poller.stop()
    leave.set()
    poller.drain()
    assert left == [1]
    assert mail.depth(QueueName.STANDARD) == 0


def test_a_queue_that_does_not_answer_is_asked_again(stage, mail):
    asked, delivered = [], threading.Event()

    class Shaky:
        delete = mail.delete

        def receive(self, *parameters):
            asked.append(1)
            if len(asked) == 1:
                raise QueueUnavailableError("busy")
            return mail.receive(*parameters)

    def handler(event, context):
        delivered.set()
        return {"batchItemFailures": []}

    send(mail, 1)
    poller = Poller(stage, Shaky(), feed(handler))
    poller.start()
    assert delivered.wait(PATIENCE)
    poller.stop()
    poller.drain()
    assert any(line.get("message") == "nothing received" for line in stage.lines())


def test_the_event_has_the_shape_that_aws_sends(stage):
    theirs = event("sqs_deliver")
    ours = to_event(received(theirs, QUEUES), stage.settings)
    for mine, original in zip(ours["Records"], theirs["Records"], strict=True):
        assert set(mine) == set(original)
        assert set(mine["attributes"]) <= set(original["attributes"])
        same = ("messageId", "receiptHandle", "body", "md5OfBody", "messageAttributes", "eventSource")
        assert {name: mine[name] for name in same} == {name: original[name] for name in same}
    assert received(ours, QUEUES) == received(theirs, QUEUES)


def wake(handler, name="tick"):
    return Wake(name=name, handler=handler, first=timedelta(0), every=timedelta(hours=1))


def test_a_ticker_wakes_at_once_and_names_the_minute(stage):
    came, events = threading.Event(), []

    def handler(event, context):
        events.append(event)
        came.set()

    ticker = Ticker(Reclocked(stage, SystemClock()), (wake(handler),))
    ticker.start()
    assert came.wait(PATIENCE)
    ticker.stop()
    ticker.drain()
    assert len(events) == 1
    assert set(events[0]) == set(event("schedule_tick"))
    assert events[0]["time"].endswith(":00.000Z")


def test_a_function_that_fails_does_not_keep_the_ticker_from_waking_others(stage):
    came = threading.Event()

    def broken(event, context):
        raise RuntimeError("boom")

    ticker = Ticker(Reclocked(stage, SystemClock()), (wake(broken, "broken"), wake(lambda *_: came.set())))
    ticker.start()
    assert came.wait(PATIENCE)
    ticker.stop()
    ticker.drain()
    assert any(line.get("message") == "wake-up failed" for line in stage.lines())


instants = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the zone is given beside


@given(instants, st.sampled_from([timedelta(minutes=1), timedelta(hours=1), timedelta(hours=24)]))
def test_the_next_wake_is_later_and_on_a_whole_number(now, every):
    then = following(now, every)
    assert now < then <= now + every
    midnight = then.replace(hour=0, minute=0, second=0, microsecond=0)
    assert (then - midnight) % every == timedelta(0)


def test_the_broom_deletes_what_has_expired_and_nothing_else():
    world = World()
    now = to_ms(world.clock.now()) // 1000
    for name, expires in {"past": now - 1, "due": now, "later": now + 1, "never": None}.items():
        item = {"v": 1} if expires is None else {"v": 1, "expires": expires}
        world.memory.write(Put(key=Key(Table.CONTROL, "X#test", name), item=item))
    timer = Key(Table.TIMERS, "20200101T0000#0000", "odd")
    world.memory.write(Put(key=timer, item={"v": 1, "expires": 1}))
    handler = broom.build(WorldStage(world))
    assert handler({}, None) == {"deleted": 2}
    assert handler({}, None) == {"deleted": 0}
    left = {each["sk"] for each in world.memory.everything(Table.CONTROL)}
    assert {"later", "never"} <= left
    assert left.isdisjoint({"past", "due"})
    assert world.memory.get(timer) is not None, "a timer never expires"
    assert world.memory.get(keys.team("payments")) is not None


def test_nobody_sleeps_on_a_clock_that_was_stopped():
    stopping = threading.Event()
    clock = StoppableClock(stopping)
    clock.sleep(timedelta(milliseconds=1))
    clock.sleep(timedelta(seconds=-1))
    stopping.set()
    with pytest.raises(StoppedError):
        clock.sleep(timedelta(hours=1))
