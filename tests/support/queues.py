"""Every adapter of the queues, opened for a test: short visibility, dead letters after two receives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import boto3
from moto import mock_aws

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.queue_settings import QUEUE_SETTINGS, QueueSettings
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.sqs_setup import create_queues
from fencepost.adapters.wire.service import SQS
from fencepost.application.ports import QueueConsumer, QueueName, Queues
from tests.support.clock import SettableClock
from tests.support.engine import Engine

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

START = "2026-03-02T10:00:00.000Z"
VISIBILITY = timedelta(seconds=2)
MAX_RECEIVES = 2


class ConsumedQueues(Queues, QueueConsumer, Protocol):
    """Both ports: what the suite needs."""


def shortened() -> dict[QueueName, QueueSettings]:
    """The stage's queues with times that a test in real time can wait for."""
    return {
        name: replace(each, visibility=VISIBILITY, max_receives=each.max_receives and MAX_RECEIVES)
        for name, each in QUEUE_SETTINGS.items()
    }


def memory_queues() -> ConsumedQueues:
    """In memory."""
    return MemoryQueues(SettableClock(START), shortened())


@contextmanager
def sqlite_queues(path: Path) -> Iterator[ConsumedQueues]:
    """In the file `path`."""
    with closing(Database(path)) as database:
        yield SqliteQueues(database, SettableClock(START), shortened())


@contextmanager
def moto_queues() -> Iterator[ConsumedQueues]:
    """SQS inside this process, by moto: for one thread only."""
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1", config=client_config(Patience(read_seconds=20)))
        yield SqsQueues(client, create_queues(client, "moto-", shortened()))


def engine_queues(engine: Engine) -> ConsumedQueues:
    """SQS in the local engine, in queues of its own."""
    client = engine.sqs()
    return SqsQueues(client, create_queues(client, engine.prefix(), shortened()))


def wire_queues(engine: Engine) -> ConsumedQueues:
    """The same over the client that firings use on AWS."""
    urls = create_queues(engine.sqs(), engine.prefix(), shortened())
    return SqsQueues(cast("SQSClient", engine.wire(SQS)), urls)
