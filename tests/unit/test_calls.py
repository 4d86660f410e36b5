"""The counter of calls and units: it must notice one read too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.sqs import SqsQueues
from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import (
    Absent,
    Action,
    Check,
    Delete,
    Key,
    Present,
    Put,
    Query,
    Table,
    Update,
    items,
)
from fencepost.runtime.entropy import SystemEntropy
from tests.support.calls import AwsCalls, Usage
from tests.support.clock import SettableClock
from tests.support.scripted import Failure, Script
from tests.support.units import item_bytes, read_units, sqs_requests, units_read, write_units


def key(sk: str = "s") -> Key:
    return Key(Table.JOBS, "p", sk)


class World:
    def __init__(self, client, calls: AwsCalls, names) -> None:
        self.client = client
        self.calls = calls
        self.store = DynamoDbStore(
            client, names, clock=SettableClock("2026-03-02T10:00:00.000Z"), entropy=SystemEntropy()
        )

    def used(self, act) -> Usage:
        before = self.calls.total()
        act()
        return self.calls.total() - before


@pytest.fixture
def world() -> Iterator[World]:
    with mock_aws():
        peek, client = (
            boto3.client("dynamodb", config=client_config(Patience(), validate=True)) for _ in range(2)
        )
        names = create_tables(peek, "t-")
        calls = AwsCalls(peek)
        calls.attach(client)
        yield World(client, calls, names)


def put(size: int, sk: str = "s") -> Put:
    """An item of exactly `size` bytes."""
    return Put(key=key(sk), item={"b": "x" * (size - len("pkpsk") - len(sk) - 1)})


def test_a_write_is_charged_by_the_larger_of_before_and_after(world: World) -> None:
    store = world.store
    assert world.used(lambda: store.write(put(1024))) == Usage(calls=1, write_units=1)
    assert world.used(lambda: store.write(put(1025))) == Usage(calls=1, write_units=2)
    assert world.used(lambda: store.write(put(10))) == Usage(calls=1, write_units=2)
    assert world.used(lambda: store.write(put(5000))) == Usage(calls=1, write_units=5)
    small = Update(key=key(), set={"c": 1}, condition=Present())
    assert world.used(lambda: store.write(small)) == Usage(calls=1, write_units=5)
    assert world.used(lambda: store.write(Delete(key=key()))) == Usage(calls=1, write_units=5)
    assert world.used(lambda: store.write(Delete(key=key()))) == Usage(calls=1, write_units=1)


def test_a_lost_race_costs_what_a_win_costs(world: World) -> None:
    world.store.write(put(3000))
    taken = Put(key=key(), item={}, condition=Absent())
    assert world.used(lambda: world.store.write(taken)) == Usage(calls=1, write_units=3)


def test_a_transaction_costs_double_for_every_item_even_when_cancelled(world: World) -> None:
    store = world.store
    store.write(put(2000, "old"))
    actions: list[Action] = [
        Put(key=key("new"), item={}, condition=Absent()),
        Update(key=key("old"), set={"c": 1}, condition=Present()),
        Check(key=key("nobody"), condition=Absent()),
    ]
    assert world.used(lambda: store.transact(actions)) == Usage(calls=1, write_units=2 + 4 + 2)
    assert world.used(lambda: store.transact(actions)) == Usage(calls=1, write_units=2 + 4 + 2)
    big: list[Action] = [put(3000, "big"), Check(key=key("new"), condition=Absent())]
    assert world.used(lambda: store.transact(big)) == Usage(calls=1, write_units=6 + 2)


def test_batched_deletions_cost_a_unit_each(world: World) -> None:
    for number in range(30):
        world.store.write(put(50, f"{number:02}"))
    used = world.used(lambda: world.store.batch_delete([key(f"{number:02}") for number in range(30)]))
    assert used == Usage(calls=2, write_units=30)


def test_reads_are_charged_by_four_kilobytes_a_page_as_a_whole(world: World) -> None:
    store = world.store
    for number in range(10):
        store.write(put(1000, f"{number:02}"))
    assert world.used(lambda: store.get(key("00"))) == Usage(calls=1, read_units=1)
    assert world.used(lambda: store.get(key("nobody"))) == Usage(calls=1, read_units=1)
    everything = Query(table=Table.JOBS, pk="p")
    assert world.used(lambda: list(items(store, everything))) == Usage(calls=1, read_units=3)
    stale = Query(table=Table.JOBS, pk="p", strong=False)
    assert world.used(lambda: list(items(store, stale))) == Usage(calls=1, read_units=1.5)
    asked = [key(f"{number:02}") for number in range(12)]
    assert world.used(lambda: store.batch_get(asked)) == Usage(calls=1, read_units=12)


def test_a_planted_extra_read_is_noticed(world: World) -> None:
    """The same work with one GetItem that the adapter does not speak of: the counts differ by just that."""
    world.store.write(put(100))
    honest = world.used(lambda: world.store.write(Update(key=key(), set={"c": 1}, condition=Present())))

    def careless() -> None:
        world.store.write(Update(key=key(), set={"c": 2}, condition=Present()))
        world.client.get_item(TableName="t-jobs", Key={"pk": {"S": "p"}, "sk": {"S": "s"}})

    assert world.used(careless) - honest == Usage(calls=1, read_units=0.5)
    assert world.calls.of("dynamodb.GetItem") == Usage(calls=1, read_units=0.5)


def test_every_repeat_is_a_call_and_only_an_answered_one_is_charged() -> None:
    throttled = Failure("ProvisionedThroughputExceededException")
    script = Script(throttled, throttled, {"Item": {"pk": {"S": "p"}, "sk": {"S": "s"}}})
    client = script.dynamodb()
    calls = AwsCalls()
    calls.attach(client)
    names = {table: table.value for table in Table}
    clock = SettableClock("2026-03-02T10:00:00.000Z")
    assert DynamoDbStore(client, names, clock=clock, entropy=SystemEntropy()).get(key()) is not None
    assert calls.total() == Usage(calls=3, read_units=1)


def test_a_write_cannot_be_charged_blindly(world: World) -> None:
    world.calls._peek = None
    with pytest.raises(AssertionError, match="peek"):
        world.store.write(put(10))


def test_sqs_is_billed_by_64_kilobytes() -> None:
    body = "x" * (30 * 1024)
    accepted = {"Successful": [{"Id": f"{n}", "MessageId": "m", "MD5OfMessageBody": "d"} for n in range(3)]}
    received = {
        "Messages": [
            {
                "MessageId": "m",
                "ReceiptHandle": "r",
                "Body": body,
                "Attributes": {"ApproximateReceiveCount": "1"},
            }
        ]
    }
    script = Script(accepted, received, {})
    client = script.sqs()
    calls = AwsCalls()
    calls.attach(client)
    queues = SqsQueues(client, {name: f"https://queues.example/{name}" for name in QueueName})
    queues.send([Outgoing(queue=QueueName.BULK, body=body)] * 3)
    assert calls.of("sqs.SendMessageBatch") == Usage(calls=1, sqs_requests=2)
    held = queues.receive(QueueName.BULK, 10, SettableClock("2026-03-02T10:00:00.000Z").now().resolution)
    queues.delete(held)
    assert calls.total() == Usage(calls=3, sqs_requests=4)


def test_a_session_counts_all_of_its_clients() -> None:
    with mock_aws():
        session = boto3.Session(region_name="us-east-1")
        calls = AwsCalls()
        calls.attach(session)
        session.client("sqs").list_queues()
        session.client("dynamodb").list_tables()
    assert calls.total().calls == 2
    assert set(calls.by_operation()) == {"sqs.ListQueues", "dynamodb.ListTables"}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "é"}, 2),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "-7"}, 3),
        ({"N": "1000"}, 2),
        ({"N": "1234"}, 3),
        ({"N": "12345"}, 4),
        ({"B": b"abc"}, 3),
        ({"B": "YWJj"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + 1 + 2 + 1 + 1),
        ({"M": {"ab": {"S": "c"}}}, 3 + 1 + 2 + 1),
    ],
)
def test_sizes_follow_the_documented_rules(value: dict[str, Any], size: int) -> None:
    assert item_bytes({"name": value}) == 4 + size
    assert item_bytes(None) == 0


def test_units_are_rounded_up() -> None:
    assert [write_units(size) for size in (0, 1, 1024, 1025)] == [1, 1, 1, 2]
    assert write_units(1025, transaction=True) == 4
    assert [read_units(size, strong=True) for size in (0, 4096, 4097)] == [1, 1, 2]
    assert read_units(4097, strong=False) == 1
    assert [sqs_requests(size) for size in (0, 65536, 65537)] == [1, 1, 2]


def test_what_hides_its_cost_is_refused() -> None:
    with pytest.raises(AssertionError, match="FilterExpression"):
        units_read("Query", {"FilterExpression": "a = :b"}, {"Items": []})


@pytest.mark.engine
def test_the_engine_charges_the_same(engine) -> None:
    """The engine counts by itself: both must agree on random items, however they are written or read."""
    import random

    rng = random.Random(7)
    peek, client = engine.dynamodb(attempts=1), engine.dynamodb(attempts=1)
    names = create_tables(peek, engine.prefix())
    calls = AwsCalls(peek)
    calls.attach(client)
    charged: list[float] = []

    def ask(params: dict[str, Any], **_: object) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def note(parsed: dict[str, Any], **_: object) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        tables = consumed if isinstance(consumed, list) else [consumed]
        charged.extend(each["CapacityUnits"] for each in tables)

    client.meta.events.register("provide-client-params.dynamodb.*", ask)
    client.meta.events.register("after-call.dynamodb.*", note)
    world = World(client, calls, names)
    store = world.store

    def value() -> Any:
        kinds = [
            lambda: "é" * rng.randrange(900),
            lambda: rng.randrange(-(10**12), 10**12),
            lambda: rng.randbytes(rng.randrange(1500)),
            lambda: [None, True, {"deep": "x" * rng.randrange(300)}],
        ]
        return rng.choice(kinds)()

    compared = 0
    for number in range(120):
        target = key(f"{rng.randrange(6)}")
        steps = [
            lambda k=target: store.write(Put(key=k, item={"a": value(), "b": value()})),
            lambda k=target: store.write(Update(key=k, set={"c": value()}, condition=Present())),
            lambda k=target: store.write(Delete(key=k)),
            lambda k=target: store.transact(
                [Put(key=k, item={"a": value()}), Check(key=key("z"), condition=Absent())]
            ),
            lambda k=target: store.get(k),
            lambda: list(items(store, Query(table=Table.JOBS, pk="p"))),
            lambda: store.batch_get([key(f"{each}") for each in range(6)]),
            lambda k=target: store.batch_delete([k]),
        ]
        charged.clear()
        used = world.used(steps[number % len(steps)])
        if charged:  # it says nothing of what a failed condition cost
            assert used.write_units + used.read_units == sum(charged), number % len(steps)
            compared += 1
    assert compared > 80
