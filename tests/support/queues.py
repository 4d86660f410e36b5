"""Every adapter of the queues, opened for a test: short visibility, dead letters after two receives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.queue_settings import QUEUE_SETTINGS, QueueSettings
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqs import SqsQueues
from fencepost.application.ports import QueueConsumer, QueueName, Queues
from tests.support.clock import SettableClock
from tests.support.engine import Engine

if TYPE_CHECKING:
    from mypy_boto3_sqs.literals import QueueAttributeNameType

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


def engine_queues(engine: Engine) -> ConsumedQueues:
    """SQS in the local engine, in queues of its own."""
    client = engine.sqs()
    prefix = engine.prefix()
    urls: dict[QueueName, str] = {}
    for name in sorted(QueueName, key=lambda each: shortened()[each].dead is not None):
        settings = shortened()[name]
        attributes: dict[QueueAttributeNameType, str] = {
            "VisibilityTimeout": str(int(settings.visibility.total_seconds()))
        }
        if settings.dead is not None:
            dead = client.get_queue_attributes(QueueUrl=urls[settings.dead], AttributeNames=["QueueArn"])
            arn = dead["Attributes"]["QueueArn"]
            attributes["RedrivePolicy"] = json.dumps(
                {"deadLetterTargetArn": arn, "maxReceiveCount": settings.max_receives}
            )
        urls[name] = client.create_queue(QueueName=f"{prefix}{name}", Attributes=attributes)["QueueUrl"]
    return SqsQueues(client, urls)
