"""Items as JSON text. Bytes and mappings that look like our marks are wrapped, everything else stands as it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from fencepost.application.store import Item, Value

_BYTES = "$bytes"
_MAP = "$map"


def encode(item: Item) -> str:
    """The item as text."""
    return json.dumps(_plain(item), ensure_ascii=False, separators=(",", ":"))


def decode(text: str) -> dict[str, Value]:
    """The item that `encode` was given; tuples come back as lists."""
    value = json.loads(text, object_hook=_unwrapped)
    if not isinstance(value, dict):
        raise TypeError("a stored item that is no mapping: this is a bug")
    return value


def _plain(value: Value) -> Value:
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        plain = {name: _plain(each) for name, each in value.items()}
        return {_MAP: list(plain.items())} if any(name.startswith("$") for name in plain) else plain
    return [_plain(each) for each in value]


def _unwrapped(value: dict[str, Value]) -> Value:
    if _BYTES in value:
        return base64.b64decode(value[_BYTES])
    if _MAP in value:
        return dict(value[_MAP])
    return value
