"""What lies under a stage on one machine: where its store and queues are, and what becomes of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Protocol

from fencepost.adapters.dynamodb.schema import stage_prefix
from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.engine_clients import EngineClients
from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.queue_settings import QUEUE_SETTINGS, QueueSettings
from fencepost.adapters.sqlite.database import Database, DatabaseVersionError
from fencepost.adapters.sqlite.queues import SqliteQueues
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.sqs_setup import create_queues
from fencepost.application.ports import Clock, Entropy, QueueConsumer, QueueName, Queues
from fencepost.application.store import Store
from fencepost.local.aws_engine import AwsEngine, EngineError
from fencepost.local.files import DataDir, DataDirError
from fencepost.local.options import StoreKind

VISIBILITY = timedelta(seconds=30)


class LocalQueues(Queues, QueueConsumer, Protocol):
    """Queues that are sent to and received from."""


class Ground(Protocol):
    """Store and queues, each made when it is first asked for."""

    @property
    def store(self) -> Store: ...
    @property
    def queues(self) -> LocalQueues: ...

    def release_held(self) -> None:
        """Lets every message surface that a process held when it was killed, where that can be done."""

    def close(self) -> None:
        """No call may follow."""


def queue_settings() -> Mapping[QueueName, QueueSettings]:
    """As on AWS, but a message whose worker died comes back sooner: a lease of the usual length is over by then, and
    a message that comes back during a longer one only waits for its end."""
    return {
        name: replace(each, visibility=min(each.visibility, VISIBILITY))
        for name, each in QUEUE_SETTINGS.items()
    }


class MemoryGround:
    """Nothing outlives the process."""

    def __init__(self, clock: Clock) -> None:
        self.store = MemoryStore(clock)
        self.queues: LocalQueues = MemoryQueues(clock, queue_settings())

    def release_held(self) -> None:
        """Nobody can have held anything."""

    def close(self) -> None:
        """Nothing is open."""


class SqliteGround:
    """One file, for any number of processes; what was acknowledged outlives them all."""

    def __init__(self, path: Path, clock: Clock) -> None:
        try:
            self._database = Database(path)
        except (sqlite3.DatabaseError, DatabaseVersionError) as error:
            raise DataDirError(f"{path}: {error}") from error
        self.store = SqliteStore(self._database, clock)
        self._queues = SqliteQueues(self._database, clock, queue_settings())
        self.queues: LocalQueues = self._queues

    def release_held(self) -> None:
        """See the protocol. Nobody else may have the file."""
        self._queues.release_held()

    def close(self) -> None:
        """See the protocol."""
        self._database.close()


class EngineGround:
    """DynamoDB and SQS as a local engine has them, by the adapters that are deployed."""

    def __init__(self, endpoint: str, region: str, stage: str, *, clock: Clock, entropy: Entropy) -> None:
        self._clients = EngineClients.at(endpoint, region)
        self._prefix = stage_prefix(stage)
        self._clock = clock
        self._entropy = entropy

    @cached_property
    def store(self) -> Store:
        """Its tables are made where they are missing."""
        names = create_tables(self._clients.dynamodb, self._prefix)
        return DynamoDbStore(self._clients.dynamodb, names, clock=self._clock, entropy=self._entropy)

    @cached_property
    def queues(self) -> LocalQueues:
        """Its queues are made where they are missing."""
        urls = create_queues(self._clients.sqs, self._prefix, queue_settings())
        return SqsQueues(self._clients.sqs, urls)

    def release_held(self) -> None:
        """As on AWS: what a killed process held surfaces when its visibility is over."""

    def close(self) -> None:
        """The engine goes on; whoever began it stops it."""


def ground(
    kind: StoreKind, data: DataDir, region: str, stage: str, *, clock: Clock, entropy: Entropy
) -> Ground:
    """What `kind` means over the data directory.

    Raises EngineError where no engine runs for it, DataDirError where its file is not one of ours.
    """
    match kind:
        case StoreKind.MEMORY:
            return MemoryGround(clock)
        case StoreKind.SQLITE:
            return SqliteGround(data.database, clock)
        case StoreKind.ENGINE:
            running = AwsEngine.running(data.engine)
            if running is None:
                raise EngineError("the AWS engine of this data directory does not run")
            return EngineGround(running.endpoint, region, stage, clock=clock, entropy=entropy)
