"""What DynamoDB and SQS charge for, by their documented rules, read off the wire: no word of the adapters is taken."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Wire: TypeAlias = Mapping[str, Any]  # an item: attribute names to attribute values

WRITE_UNIT = 1024
READ_UNIT = 4096
SQS_REQUEST = 64 * 1024


def item_bytes(item: Wire | None) -> int:
    """The size of an item: its names and values; nothing for no item."""
    return sum(_utf8(name) + _value_bytes(value) for name, value in (item or {}).items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((tag, raw),) = value.items()
    match tag:
        case "S":
            return _utf8(raw)
        case "N":
            return _number_bytes(raw)
        case "B":
            return len(raw) if isinstance(raw, bytes) else len(base64.b64decode(raw))
        case "M":
            return 3 + sum(1 + _utf8(name) + _value_bytes(each) for name, each in raw.items())
        case "L":
            return 3 + sum(1 + _value_bytes(each) for each in raw)
        case "SS" | "NS" | "BS":
            return sum(_value_bytes({tag[0]: each}) for each in raw)
        case _:
            return 1  # a truth value, or nothing


def _number_bytes(text: str) -> int:
    """A byte for two significant digits, one besides, and one for a minus."""
    digits = text.lstrip("-").replace(".", "").strip("0")
    return 1 + (len(digits) + 1) // 2 + text.startswith("-")


def _utf8(text: str) -> int:
    return len(text.encode())


def write_units(size: int, *, transaction: bool = False) -> int:
    """Units for writing, deleting or checking an item of `size` bytes: the larger of before and after."""
    return max(1, -(-size // WRITE_UNIT)) * (2 if transaction else 1)


def read_units(size: int, *, strong: bool) -> float:
    """Units for reading `size` bytes: one item, or all items of one page together."""
    return max(1, -(-size // READ_UNIT)) * (1.0 if strong else 0.5)


def sqs_requests(size: int) -> int:
    """Billed requests of one call with `size` bytes of messages."""
    return max(1, -(-size // SQS_REQUEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """An item that a request writes, deletes or checks; `put` is the item it brings, if it brings it whole."""

    table: str
    key: Wire
    put: Wire | None = None


def touched(operation: str, body: Mapping[str, Any], keys: Sequence[str]) -> list[Touched]:
    """The items that a request would write or check, in its order; `keys` are the names of the key attributes."""
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return [_touched(body, keys)]
        case "TransactWriteItems":
            return [_touched(next(iter(entry.values())), keys) for entry in body["TransactItems"]]
        case "BatchWriteItem":
            return [
                _touched({"TableName": table} | next(iter(entry.values())), keys)
                for table, entries in body["RequestItems"].items()
                for entry in entries
            ]
        case _:
            return []


def _touched(entry: Mapping[str, Any], keys: Sequence[str]) -> Touched:
    put = entry.get("Item")
    key = entry["Key"] if put is None else {name: put[name] for name in keys}
    return Touched(table=entry["TableName"], key=key, put=put)


def units_read(operation: str, body: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    """Read units of one request and its answer."""
    match operation:
        case "GetItem":
            return read_units(item_bytes(answer.get("Item")), strong=body.get("ConsistentRead", False))
        case "Query" | "Scan":
            _refuse_hidden_reads(body)
            size = sum(item_bytes(item) for item in answer["Items"])
            return read_units(size, strong=body.get("ConsistentRead", False))
        case "BatchGetItem":
            return sum(_batch_read(table, asked, answer) for table, asked in body["RequestItems"].items())
        case _:
            return 0.0


def _refuse_hidden_reads(body: Mapping[str, Any]) -> None:
    hiding = {"FilterExpression", "ProjectionExpression", "Select", "IndexName"} & body.keys()
    if hiding:
        raise AssertionError(f"{sorted(hiding)}: the answer no longer shows all that is charged for")


def _batch_read(table: str, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    strong = asked.get("ConsistentRead", False)
    found = answer["Responses"].get(table, [])
    unprocessed = len(answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", []))
    missing = len(asked["Keys"]) - len(found) - unprocessed
    return sum(read_units(item_bytes(item), strong=strong) for item in found) + missing * read_units(
        0, strong=strong
    )


def message_bytes(operation: str, body: Mapping[str, Any], answer: Mapping[str, Any]) -> int:
    """Bytes of the messages that one SQS call carries, there or back."""
    match operation:
        case "SendMessage":
            return _utf8(body["MessageBody"])
        case "SendMessageBatch":
            return sum(_utf8(entry["MessageBody"]) for entry in body["Entries"])
        case "ReceiveMessage":
            return sum(_utf8(message["Body"]) for message in answer.get("Messages", ()))
        case _:
            return 0
