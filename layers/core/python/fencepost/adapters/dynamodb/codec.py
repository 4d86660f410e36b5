"""Our values as DynamoDB's attribute values and back: whole numbers only, no sets."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from fencepost.adapters.refusals import kind
from fencepost.application.store import Item, Value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Wire = AttributeValueTypeDef
else:
    Wire = Mapping[str, Any]


def encode(value: Value) -> Wire:
    """Raises InvalidWriteError for what DynamoDB cannot keep."""
    tag = kind(value)
    match tag:
        case "S" | "B" | "BOOL":
            return cast("Wire", {tag: value})
        case "N":
            return {"N": str(value)}
        case "M":
            return {"M": encode_item(value)}
        case "L":
            return {"L": [encode(each) for each in value]}
        case _:
            return {"NULL": True}


def encode_item(item: Item) -> dict[str, Wire]:
    """The attributes of an item or a mapping."""
    return {name: encode(value) for name, value in item.items()}


def decode(wire: Mapping[str, Any]) -> Value:
    """Raises ValueError for a number that is not whole, KeyError for a type we never write."""
    ((tag, raw),) = wire.items()
    return _DECODERS[tag](raw)


def decode_item(wire: Mapping[str, Any]) -> dict[str, Value]:
    """The item whose attributes these are."""
    return {name: decode(value) for name, value in wire.items()}


def _same(raw: Value) -> Value:
    return raw


def _bytes(raw: bytes | str) -> bytes:
    """As they are, or as they travel."""
    return base64.b64decode(raw) if isinstance(raw, str) else raw


_DECODERS: Mapping[str, Callable[[Any], Value]] = {
    "S": _same,
    "N": int,
    "BOOL": _same,
    "B": _bytes,
    "NULL": lambda _: None,
    "M": decode_item,
    "L": lambda raw: [decode(each) for each in raw],
}
