"""Makes a stage's tables, for the engines on one machine; on AWS the infrastructure does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb.schema import (
    KEY_TYPE,
    PARTITION_KEY,
    SCHEMAS,
    SORT_KEY,
    TTL_ATTRIBUTE,
    table_names,
)
from fencepost.application.store import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def create_tables(client: DynamoDBClient, prefix: str) -> Mapping[Table, str]:
    """Makes those tables under `prefix` that do not exist yet; returns all their names."""
    names = table_names(prefix)
    for table, name in names.items():
        try:
            _create(client, name)
        except client.exceptions.ResourceInUseException:
            continue
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        if SCHEMAS[table].time_to_live:
            client.update_time_to_live(
                TableName=name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE},
            )
    return names


def _create(client: DynamoDBClient, name: str) -> None:
    client.create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": PARTITION_KEY, "AttributeType": KEY_TYPE},
            {"AttributeName": SORT_KEY, "AttributeType": KEY_TYPE},
        ],
        KeySchema=[
            {"AttributeName": PARTITION_KEY, "KeyType": "HASH"},
            {"AttributeName": SORT_KEY, "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
