"""A stage on DynamoDB and SQS inside this process, every AWS request of it counted, on a clock that is set.

One thread at a time: what runs side by side on AWS runs here in turn, with the clock standing still.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast
from unittest.mock import patch

import boto3
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.sqs import SqsQueues
from fencepost.application import keys, messages
from fencepost.application.codec import decode_execution, encode_timer
from fencepost.application.codec_job import encode_detail, encode_job, encode_team
from fencepost.application.ports import QueueName, Queues, Received
from fencepost.application.store import Put, Query, Store, Table, items
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job, Team
from fencepost.local.poller import to_event
from fencepost.runtime import delivering
from fencepost.runtime.function import Build, Handler
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.settings import Settings
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.tick import handler as tick
from tests.bench.jobs import TEAM, detail_of, first_timer, job_of
from tests.support.calls import AwsCalls
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.world import ScriptedTargets, ToldTeams

START = "2026-03-02T10:00:00.000Z"
REGION = "us-east-1"


@dataclass
class BenchStage:
    """`Stage` over counted clients."""

    settings: Settings
    observed: Observability
    clock: SettableClock
    entropy: CountingEntropy
    store: Store
    queues: Queues
    targets: ScriptedTargets
    notifier: ToldTeams

    @property
    def quick_store(self) -> Store:
        """The same: nothing is slow here."""
        return self.store


class Bench:
    """The stage, what feeds it, and what has been counted. `calls` knows nothing of what prepares a story."""

    def __init__(self, stage: BenchStage, calls: AwsCalls, setup: Store, mapping: SqsQueues) -> None:
        self.stage = stage
        self.calls = calls
        self.setup = setup
        self.mapping = mapping
        self.clock = stage.clock
        self.limits = stage.settings.limits
        self.scanner = scan.build(stage)
        self.pumper = pump.build(stage)
        self.planted: list[Job] = []
        self.ticker = tick.build(stage)

    def deliverer(self) -> Handler:
        """A new environment of the delivery function."""
        return self._in_turn(deliver.build)

    def undertaker(self) -> Handler:
        """A new environment of the function behind the dead-letter queues."""
        return self._in_turn(dead_letter.build)

    def _in_turn(self, build: Build) -> Handler:
        with patch.object(delivering, "MAX_BATCH", 1):
            return build(self.stage)

    def team(self, name: str = TEAM, **facts: Any) -> Team:
        """Puts a team."""
        team = Team(name=name, **facts)
        self.setup.write(Put(key=keys.team(name), item=encode_team(team)))
        return team

    def jobs(self, count: int, *, teams: int = 1, **facts: Any) -> None:
        """Puts so many hourly jobs, each with its detail and its first timer, all in shard 0; of so many teams."""
        names = [TEAM, *(f"team-{number}" for number in range(1, teams))]
        for name in names[1:]:
            self.team(name)
        self.planted = [self.job(number, team=names[number % teams], **facts) for number in range(count)]

    def job(self, number: int, **facts: Any) -> Job:
        """Puts one."""
        now = self.clock.now()
        job, detail = job_of(number, now, **facts), detail_of(number)
        timer = first_timer(job, now, self.limits)
        self.setup.write(Put(key=keys.detail(job.uid, detail.digest), item=encode_detail(detail)))
        self.setup.write(Put(key=keys.job(job.uid), item=encode_job(job)))
        self.setup.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
        return job

    def scan(self) -> None:
        """One pass of shard 0 as its function makes it. The message that asks for it is not counted."""
        request = messages.scan(messages.ScanRequest(0, self.clock.now()))
        asked = Received(queue=request.queue, body=request.body, receipt="r", receive_count=1, message_id="m")
        answer = self.scanner(to_event([asked], self.stage.settings), None)
        assert answer == {"batchItemFailures": []}

    def poll(self, queue: QueueName, handler: Handler, limit: int = 10) -> int:
        """One receive, one invocation, one batch of deletions, as an event source mapping does; how many there were."""
        found = self.mapping.receive(queue, limit, timedelta(0))
        if not found:
            return 0
        answer = handler(to_event(found, self.stage.settings), None)
        refused = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
        self.mapping.delete([each for each in found if each.message_id not in refused])
        return len(found)

    def records(self, job: Job) -> list[Execution]:
        """The job's records, oldest first."""
        query = Query(table=Table.EXECUTIONS, pk=job.uid)
        return [decode_execution(item) for item in items(self.setup, query)]


@contextmanager
def opened(start: str = START, **limits: Any) -> Iterator[Bench]:
    """A stage of one shard with one team."""
    clock = SettableClock(start)
    with mock_aws(), _moto_clock(clock):
        config = client_config(Patience(), validate=True)
        session = boto3.Session("testing", "testing", region_name=REGION)
        dynamodb, peek = (session.client("dynamodb", config=config) for _ in range(2))
        sqs = session.client("sqs", config=config)
        tables = create_tables(peek, "bench-")
        urls = {name: sqs.create_queue(QueueName=f"bench-{name}")["QueueUrl"] for name in QueueName}
        calls = AwsCalls(cast("Any", Peek()))
        calls.attach(dynamodb)
        calls.attach(sqs)
        entropy = CountingEntropy()
        queues = SqsQueues(sqs, urls)
        stage = BenchStage(
            settings=Settings(
                stage="bench", limits=replace(Limits(shards=1), **limits), tables=tables, queues=urls
            ),
            observed=observability("bench", io.StringIO()),
            clock=clock,
            entropy=entropy,
            store=DynamoDbStore(dynamodb, tables, clock=clock, entropy=entropy),
            queues=queues,
            targets=ScriptedTargets(clock, takes=timedelta(0)),
            notifier=ToldTeams(),
        )
        setup = DynamoDbStore(peek, tables, clock=clock, entropy=entropy)
        bench = Bench(stage, calls, setup, queues)
        bench.team()
        bench.ticker({}, None)  # a stage's first tick leaves what every batch reads with the rest
        yield bench


class Peek:
    """Looks at items past all clients: asking through one would take as long as everything else together."""

    def get_item(self, *, TableName: str, Key: Mapping[str, Any], ConsistentRead: bool) -> dict[str, Any]:  # noqa: N803 - as the client's
        """As the client's."""
        del ConsistentRead
        table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].get_table(TableName)
        item = table.get_item(DynamoType(Key["pk"]), DynamoType(Key["sk"]))
        return {} if item is None else {"Item": item.to_json()["Attributes"]}


@contextmanager
def _moto_clock(clock: SettableClock) -> Iterator[None]:
    """Delays and visibilities of queues by the clock that is set."""

    def seconds(_: object = None) -> float:
        return clock.now().timestamp()

    def millis(_: object = None) -> float:
        return seconds() * 1000

    with patch("moto.sqs.models.unix_time", seconds), patch("moto.sqs.models.unix_time_millis", millis):
        yield
