"""Every adapter of the store, opened for a test. Pages are short everywhere, so that a forgotten page is seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import boto3
from moto import mock_aws

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.adapters.wire.service import DYNAMODB
from fencepost.application.store import Store
from fencepost.runtime.entropy import SystemEntropy
from tests.support.clock import SettableClock
from tests.support.engine import Engine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 3
START = "2026-03-02T10:00:00.000Z"


def memory_store() -> Store:
    """In memory."""
    return MemoryStore(SettableClock(START), page_size=PAGE)


@contextmanager
def sqlite_store(path: Path) -> Iterator[Store]:
    """In the file `path`."""
    with closing(Database(path)) as database:
        yield SqliteStore(database, SettableClock(START), page_size=PAGE)


@contextmanager
def moto_store() -> Iterator[Store]:
    """DynamoDB inside this process, by moto: for one thread only, since it loses writes of concurrent ones."""
    with mock_aws():
        config = client_config(Patience(), validate=True)
        yield dynamodb_store(boto3.client("dynamodb", region_name="us-east-1", config=config), "moto-")


def engine_store(engine: Engine) -> Store:
    """DynamoDB in the local engine, in tables of its own."""
    return dynamodb_store(engine.dynamodb(attempts=1), engine.prefix())


def wire_store(engine: Engine) -> Store:
    """The same over the client that firings use on AWS."""
    tables = create_tables(engine.dynamodb(), engine.prefix())
    return DynamoDbStore(
        cast("DynamoDBClient", engine.wire(DYNAMODB)),
        tables,
        clock=SettableClock(START),
        entropy=SystemEntropy(),
        page_limit=PAGE,
    )


def dynamodb_store(client: DynamoDBClient, prefix: str) -> Store:
    """The DynamoDB adapter over `client`, its tables made."""
    return DynamoDbStore(
        client,
        create_tables(client, prefix),
        clock=SettableClock(START),
        entropy=SystemEntropy(),
        page_limit=PAGE,
    )
