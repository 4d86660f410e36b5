"""Thousands of timers due at once, and scanners that claim them side by side while their calls fail.

Run as a module it is one scanner process on the local engine: ``python -m tests.support.crowd ENDPOINT PREFIX SEED``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

import boto3

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.adapters.seam import seamed
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.sqs_setup import create_queues
from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.codec_job import encode_job
from fencepost.application.messages import read_scan
from fencepost.application.planting import WATERMARK
from fencepost.application.ports import QueueConsumer, QueueName, Queues
from fencepost.application.store import Action, Item, Put, Query, Share, Store, StoreError, Table, items
from fencepost.domain.instants import MINUTE, ZERO, from_wire, to_ms
from fencepost.domain.model import Bucket, Job, Timer, TimerKind
from fencepost.domain.schedule import parse_schedule
from fencepost.domain.states import JobState
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.entropy import SystemEntropy
from tests.support.clock import SettableClock
from tests.support.faults import Killed, Trouble
from tests.support.shard import Shard

REGION = "us-east-1"
SHARDS = 16
DUE = from_wire("2026-03-02T09:00:00Z")
NOW = "2026-03-02T09:00:10Z"
DAILY = {"cron": "0 9 * * *", "timezone": "UTC"}
ROUNDS = 60
CHANCE = 0.02
TICK_APART = timedelta(seconds=21)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def plant(store: Store, count: int) -> None:
    """`count` daily jobs, each with its timer for `DUE`, spread over the shards."""
    schedule = parse_schedule(DAILY, now=DUE - timedelta(hours=1))
    proven = {"v": 1, WATERMARK: to_ms(DUE - 2 * MINUTE)}
    store.transact([Put(key=keys.watermark(shard), item=proven) for shard in range(SHARDS)])
    actions: list[Action] = []
    for number in range(count):
        job = Job(
            team="payments",
            name=f"job-{number:05}",
            uid=uid(number),
            revision=1,
            generation=1,
            state=JobState.ACTIVE,
            schedule=schedule,
            detail="0" * 64,
            created_at=DUE - timedelta(hours=1),
            updated_at=DUE - timedelta(hours=1),
        )
        timer = Timer(
            bucket=Bucket(DUE, number % SHARDS),
            kind=TimerKind.FIRE,
            instant=DUE,
            uid=job.uid,
            sequence=1,
            due=DUE,
            team="payments",
        )
        actions.append(Put(key=keys.job(job.uid), item=encode_job(job)))
        actions.append(Put(key=keys.timer(timer), item=encode_timer(timer)))
        if len(actions) == 100 or number == count - 1:
            store.transact(actions)
            actions = []


def uid(number: int) -> str:
    """The uid of job `number`."""
    text = ""
    for _ in range(20):
        number, digit = divmod(number, 32)
        text = _ALPHABET[digit] + text
    return text


class Scanner:
    """One scanner: a tick of its own, then scan messages until there are none, then passes until nothing is left.

    Each call of its ports fails with a chance of 2 %: killed, unanswered, busy. A killed scanner begins anew.
    """

    def __init__(self, store: Store, queues: Queues, consumer: QueueConsumer, seed: int) -> None:
        self.trouble = Trouble(seed, CHANCE)
        self._plain = store
        self._consumer = consumer
        clock = SettableClock(NOW)
        clock.set(from_wire(NOW) + seed * TICK_APART)
        troubled = seamed(store, "store", self.trouble)
        self._shard = Shard(NOW, store=troubled, queues=seamed(queues, "queues", self.trouble), clock=clock)
        # The queues keep real time, in which the rounds are over before shards that follow each other would begin.
        self._shard.limits = replace(self._shard.limits, shards=SHARDS, scan_lease=ZERO, scan_stagger=ZERO)
        self._shard.entropy = SystemEntropy()  # type: ignore[assignment]  # no two scanners draw the same tokens

    def run(self) -> None:
        """Until every timer of `DUE` is handed over."""
        self._survive(lambda: self._shard.tick().run(self._shard.clock.now()))
        for _ in range(ROUNDS):
            self._messages()
            if not any(self._left()):
                return
            self._shard.clock.advance(seconds=50)
            self._survive(lambda: self._shard.tick().run(self._shard.clock.now()))
        raise AssertionError("timers are left after all rounds")

    def _messages(self) -> None:
        while received := self._consumer.receive(QueueName.SCAN, 1, ZERO):
            self._survive(partial(self._shard.scanner().run, read_scan(received[0].body)))
            self._consumer.delete(received)

    def _survive(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (Killed, StoreError):
            return

    def _left(self) -> Iterator[Item]:
        for number in range(SHARDS):
            yield from due_timers(self._plain, number)


def due_timers(store: Store, shard: int) -> Iterator[Item]:
    """What still lies in the bucket of `DUE`."""
    return items(store, Query(table=Table.TIMERS, pk=keys.bucket_partition(Bucket(DUE, shard))))


def at_rest(store: Store, count: int) -> list[str]:
    """What is wrong once all scanners are done: each job has one record and exactly one `fire` timer, tomorrow's."""
    records = Counter(
        item["pk"] for page in store.scan(Share(table=Table.EXECUTIONS)) for item in page if "state" in item
    )
    timers = [item for page in store.scan(Share(table=Table.TIMERS)) for item in page]
    successors = Counter(str(item["sk"]).split("#")[2] for item in timers)
    tomorrow = str(int((DUE + timedelta(days=1)).timestamp() * 1000))
    wanted = {uid(number) for number in range(count)}
    return [
        *(f"{name} has no record" for name in wanted - records.keys()),
        *(f"{name} has {times} records" for name, times in records.items() if times != 1),
        *(f"{name} has {successors[name]} timers" for name in wanted if successors[name] != 1),
        *(f"{item['sk']} is not tomorrow's" for item in timers if not str(item["sk"]).startswith(tomorrow)),
    ]


def main(endpoint: str, prefix: str, seed: int) -> None:
    """One scanner process on the engine at `endpoint`."""
    session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name=REGION)
    config = client_config(Patience(read_seconds=20))
    store = DynamoDbStore(
        session.client("dynamodb", endpoint_url=endpoint, config=config),
        table_names(prefix),
        clock=SystemClock(),
        entropy=SystemEntropy(),
    )
    sqs = session.client("sqs", endpoint_url=endpoint, config=config)
    queues = SqsQueues(sqs, create_queues(sqs, prefix, QUEUE_SETTINGS))
    scanner = Scanner(store, queues, queues, seed)
    scanner.run()
    print(f"scanner {seed}: killed {scanner.trouble.kills} times")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
