"""Where a story happens: in memory, or on the real adapters over the local engine, both on a settable clock.

The clock stands in years to come: an engine deletes what has expired by its own clock.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.adapters.seam import seamed
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.sqs_setup import create_queues
from fencepost.adapters.wire.service import DYNAMODB, SQS
from fencepost.application.ports import Outgoing, QueueName, Received
from fencepost.application.store import Item, Key, Put, Share, Store, Table
from fencepost.runtime.entropy import SystemEntropy
from tests.crash.danger import Danger, Dangerous
from tests.support.clock import SettableClock
from tests.support.engine import Engine

START = "2035-03-01T12:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A stage as it stood at an instant: what lies in its tables and queues."""

    now: datetime
    items: Mapping[Table, Sequence[Item]]
    messages: Mapping[QueueName, Sequence[tuple[str, str | None, datetime]]]


class Ground:
    """`store` and `mail` are what processes get, behind `danger`; `plain` is for whoever looks on."""

    def __init__(
        self, clock: SettableClock, plain: Store, store: Store, mail: Any, book: MemoryQueues
    ) -> None:
        self.clock = clock
        self.plain = plain
        self.store = store
        self.mail = mail
        self.book = book

    def items(self, table: Table) -> list[Item]:
        """Everything in a table."""
        return [item for page in self.plain.scan(Share(table=table)) for item in page]

    def waiting(self) -> list[str]:
        """What lies in the queues."""
        return [f"{name}: {each.body}" for name in QueueName for each in self.book.waiting(name)]

    def left(self) -> Left:
        """All of it, to begin from elsewhere."""
        return Left(
            now=self.clock.now(),
            items={table: self.items(table) for table in Table},
            messages={
                name: [(each.body, each.group, each.visible_at) for each in self.book.waiting(name)]
                for name in QueueName
            },
        )

    def begin(self, left: Left) -> None:
        """Goes on from there."""
        self.clock.set(left.now)
        writes = [
            Put(
                key=Key(table, item["pk"], item["sk"]),
                item={name: value for name, value in item.items() if name not in {"pk", "sk"}},
            )
            for table, found in left.items.items()
            for item in found
        ]
        for start in range(0, len(writes), 100):
            self.plain.transact(writes[start : start + 100])
        for queue, messages in left.messages.items():
            for body, group, visible_at in messages:
                seconds = max(0, -(-(visible_at - left.now) // timedelta(seconds=1)))
                self.mail.send([Outgoing(queue=queue, body=body, group=group, delay=min(seconds, 900))])


@contextmanager
def in_memory(danger: Danger) -> Iterator[Ground]:
    """Each call of a port is a call to the outside."""
    clock = SettableClock(START)
    store, mail = MemoryStore(clock), MemoryQueues(clock)
    yield Ground(
        clock, store, seamed(store, "store", danger), _Mail(seamed(mail, "queues", danger), mail), mail
    )


class _Mail:
    """What a process does with queues is dangerous; what the event source does is no call of a process."""

    def __init__(self, dangerous: MemoryQueues, book: MemoryQueues) -> None:
        self.send = dangerous.send
        self.set_visibility = dangerous.set_visibility
        self.receive = book.receive
        self.delete = book.delete
        self.next_visible = book.next_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Yard:
    """Tables and queues on an engine, for one story after the other: making them takes longer than a story."""

    tables: Mapping[Table, str]
    urls: Mapping[QueueName, str]
    dynamodb: Any
    sqs: Any

    @classmethod
    def of(cls, engine: Engine) -> Yard:
        """New ones."""
        return cls(
            tables=create_tables(engine.dynamodb(), engine.prefix()),
            urls=create_queues(engine.sqs(), engine.prefix(), QUEUE_SETTINGS),
            dynamodb=engine.wire(DYNAMODB),
            sqs=engine.wire(SQS),
        )


@contextmanager
def on_engine(yard: Yard, danger: Danger) -> Iterator[Ground]:
    """Each request of DynamoDB and SQS is a call to the outside. Begins with empty tables, whoever was here before."""
    clock = SettableClock(START)

    def store_over(client: object) -> Store:
        return DynamoDbStore(cast("Any", client), yard.tables, clock=clock, entropy=SystemEntropy())

    plain = store_over(yard.dynamodb)
    for table in Table:
        left = [item for page in plain.scan(Share(table=table)) for item in page]
        plain.batch_delete([Key(table, item["pk"], item["sk"]) for item in left])
    book = MemoryQueues(clock)
    real = Mirrored(yard.sqs, yard.urls, book)
    mail = EngineMail(SqsQueues(cast("Any", Dangerous(real, "sqs", danger)), yard.urls), real, book)
    yield Ground(clock, plain, store_over(Dangerous(yard.dynamodb, "dynamodb", danger)), mail, book)


class Mirrored:
    """SQS, without its time: what was accepted goes into `book` as well, and surfaces when that says so."""

    def __init__(self, client: Any, urls: Mapping[QueueName, str], book: MemoryQueues) -> None:
        self._client = client
        self._names = {url: name for name, url in urls.items()}
        self._book = book
        self._spare: dict[tuple[QueueName, str], deque[str]] = defaultdict(deque)
        self._handles: dict[str, str] = {}
        self._held: dict[str, Received] = {}
        self.urls = urls

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Any:  # noqa: N803 - as SQS has it
        """Sends, at once; the delay is the book's."""
        at_once = [{**entry, "DelaySeconds": 0} for entry in Entries]
        answer = self._client.send_message_batch(QueueUrl=QueueUrl, Entries=at_once)
        taken = {each["Id"] for each in answer.get("Successful", ())}
        self._book.send(
            [
                Outgoing(
                    queue=self._names[QueueUrl],
                    body=entry["MessageBody"],
                    delay=entry.get("DelaySeconds", 0),
                    group=entry.get("MessageGroupId"),
                )
                for entry in Entries
                if entry["Id"] in taken
            ]
        )
        return answer

    def change_message_visibility(self, **parameters: Any) -> Any:
        """Puts back, here and in the book."""
        answer = self._client.change_message_visibility(**parameters)
        held = self._held[parameters["ReceiptHandle"]]
        self._book.set_visibility(held, parameters["VisibilityTimeout"])
        return answer

    def hand_out(self, message: Received) -> Received:
        """The book's message with a receipt of SQS."""
        handle = self._handles.get(message.message_id) or self._receive(message)
        self._handles[message.message_id] = handle
        self._held[handle] = message
        return replace(message, receipt=handle)

    def forget(self, message: Received) -> None:
        """Acknowledged: gone from both."""
        self._book.delete([self._held[message.receipt]])
        entries = [{"Id": "0", "ReceiptHandle": message.receipt}]
        self._client.delete_message_batch(QueueUrl=self.urls[message.queue], Entries=entries)

    def _receive(self, message: Received) -> str:
        spare = self._spare[message.queue, message.body]
        while not spare:
            answer = self._client.receive_message(
                QueueUrl=self.urls[message.queue], MaxNumberOfMessages=10, WaitTimeSeconds=0
            )
            found = answer.get("Messages", ())
            assert found, f"SQS has lost {message.body} of {message.queue}"
            for each in found:
                self._spare[message.queue, each["Body"]].append(each["ReceiptHandle"])
        return spare.popleft()


class EngineMail:
    """What a process does with queues goes through the adapter; what the event source does is no call of a process."""

    def __init__(self, adapter: SqsQueues, real: Mirrored, book: MemoryQueues) -> None:
        self._real = real
        self._book = book
        self.send = adapter.send
        self.set_visibility = adapter.set_visibility
        self.next_visible = book.next_visible

    def receive(self, queue: QueueName, limit: int, wait: timedelta) -> Sequence[Received]:
        """What the book lets surface."""
        return [self._real.hand_out(message) for message in self._book.receive(queue, limit, wait)]

    def delete(self, messages: Sequence[Received]) -> None:
        """Acknowledges."""
        for message in messages:
            self._real.forget(message)
