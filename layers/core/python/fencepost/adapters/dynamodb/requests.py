"""The parameters of each DynamoDB request, as pure functions of what the port was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from fencepost.adapters.dynamodb.codec import Wire, encode_item
from fencepost.adapters.dynamodb.expressions import (
    Aliases,
    condition_expression,
    key_condition_expression,
    update_expression,
)
from fencepost.adapters.dynamodb.schema import PARTITION_KEY, SORT_KEY
from fencepost.application.store import (
    Action,
    Check,
    Condition,
    Delete,
    Key,
    Put,
    Query,
    Share,
    Table,
    Update,
)

Names = Mapping[Table, str]
Parameters = dict[str, Any]


def wire_key(key: Key) -> dict[str, Wire]:
    """The key attributes of an item."""
    return {PARTITION_KEY: {"S": key.pk}, SORT_KEY: {"S": key.sk}}


def get(key: Key, names: Names) -> Parameters:
    """Of GetItem."""
    return {"TableName": names[key.table], "Key": wire_key(key), "ConsistentRead": True}


def batch_get(keys: Sequence[Key], names: Names) -> Parameters:
    """The RequestItems of BatchGetItem."""
    wanted: Parameters = {}
    for key in keys:
        entry = wanted.setdefault(names[key.table], {"Keys": [], "ConsistentRead": True})
        entry["Keys"].append(wire_key(key))
    return wanted


def batch_delete(keys: Sequence[Key], names: Names) -> Parameters:
    """The RequestItems of BatchWriteItem."""
    wanted: Parameters = {}
    for key in keys:
        wanted.setdefault(names[key.table], []).append({"DeleteRequest": {"Key": wire_key(key)}})
    return wanted


def query(query: Query, names: Names, *, limit: int | None, start: Mapping[str, Any] | None) -> Parameters:
    """Of Query, for one page of at most `limit` items that begins after `start`."""
    aliases = Aliases()
    parameters: Parameters = {
        "TableName": names[query.table],
        "KeyConditionExpression": key_condition_expression(query, aliases),
        "ExpressionAttributeNames": aliases.names,
        "ExpressionAttributeValues": aliases.values,
        "ConsistentRead": query.strong,
        "ScanIndexForward": query.forward,
    }
    if limit is not None:
        parameters["Limit"] = limit
    if start is not None:
        parameters["ExclusiveStartKey"] = start
    return parameters


def scan(share: Share, names: Names, *, limit: int | None, start: Mapping[str, Any] | None) -> Parameters:
    """Of Scan, for one page of a segment."""
    parameters: Parameters = {"TableName": names[share.table], "ConsistentRead": share.strong}
    if share.of > 1:
        parameters |= {"Segment": share.number, "TotalSegments": share.of}
    if limit is not None:
        parameters["Limit"] = limit
    if start is not None:
        parameters["ExclusiveStartKey"] = start
    return parameters


def action(action: Action, names: Names) -> Parameters:
    """Of PutItem, UpdateItem, DeleteItem, and of each entry of TransactWriteItems: they are the same."""
    aliases = Aliases()
    parameters: Parameters = {"TableName": names[action.key.table]}
    match action:
        case Put(key=key, item=item):
            parameters["Item"] = encode_item(item) | wire_key(key)
        case Update(key=key):
            parameters["Key"] = wire_key(key)
            parameters["UpdateExpression"] = update_expression(action, aliases)
        case Delete(key=key) | Check(key=key):
            parameters["Key"] = wire_key(key)
        case _:
            assert_never(action)
    return parameters | _conditioned(action.condition, aliases)


def transaction_entry(each: Action, names: Names) -> Parameters:
    """One entry of TransactWriteItems."""
    match each:
        case Put():
            return {"Put": action(each, names)}
        case Update():
            return {"Update": action(each, names)}
        case Delete():
            return {"Delete": action(each, names)}
        case Check():
            return {"ConditionCheck": action(each, names)}
        case _:
            assert_never(each)


def _conditioned(condition: Condition | None, aliases: Aliases) -> Parameters:
    """The condition, and all aliases of the request; a loser is always told what it lost against."""
    parameters: Parameters = {}
    expression = condition_expression(condition, aliases)
    if expression is not None:
        parameters["ConditionExpression"] = expression
        parameters["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if aliases.names:
        parameters["ExpressionAttributeNames"] = aliases.names
    if aliases.values:
        parameters["ExpressionAttributeValues"] = aliases.values
    return parameters
