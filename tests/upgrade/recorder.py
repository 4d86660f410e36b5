"""Writes down what a run stores and sends: examples of every kind, few, but with every attribute that occurred."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import PortCall
from fencepost.application.store import Check, Delete, Table
from tests.upgrade.kinds import CODECS, kind_of, told

T = TypeVar("T")
BYTES = "bytes as base64"
WORDS = frozenset(
    {
        "state",
        "origin",
        "tier",
        "reason",
        "overlap",
        "by",
        "ended_by",
        "policy",
        "kind",
        "what",
        "outcome",
        "scheme",
    }
)
"""Attributes whose values are words of a closed list, so that a new word is a new shape."""
OPEN = frozenset({"labels", "headers", "before", "after"})
"""Attributes whose names inside are the owner's, or a whole document of the API, which has a contract of its own."""


class Recorder:
    """An around of the store and the queues. `examples`: per kind, those that had something new."""

    def __init__(self, memory: MemoryStore) -> None:
        self._memory = memory
        self._seen: dict[str, set[str]] = defaultdict(set)
        self.examples: dict[str, list[dict[str, Any]]] = defaultdict(list)

    @property
    def shapes(self) -> dict[str, list[str]]:
        """Per kind every path that occurred, with the types and words there."""
        return {kind: sorted(paths) for kind, paths in sorted(self._seen.items())}

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`."""
        result = proceed()
        if call.port == "store" and call.method in {"write", "transact"}:
            actions = call.args[0] if call.method == "transact" else [call.args[0]]
            for action in actions:
                item = None if isinstance(action, Check | Delete) else self._memory.get(action.key)
                if item is not None:
                    self.item(action.key.table, item)
        if call.port == "queues" and call.method == "send":
            for outgoing in call.args[0]:
                self.message(outgoing.body)
        return result

    def item(self, table: Table, item: Mapping[str, Any]) -> None:
        """Keeps an item that shows something new of its kind."""
        kind, plain = kind_of(table, item), {**item}
        paths = set(shape(plain))
        if kind == "timer":
            paths.add(f"kind={str(item['sk']).split('#')[1]}")
        if kind == "execution":
            paths.add(f"kind={str(item['sk']).split('#')[0]}")
        example: dict[str, Any] = {"table": table.value, "item": to_json(plain)}
        if kind in CODECS:
            example["reads"] = told(CODECS[kind].read(item))
        self._keep(kind, paths, example)

    def message(self, body: str) -> None:
        """Keeps a message of a new shape."""
        fields = json.loads(body)
        kinds = {
            "execution": "wake-up",
            "shard": "scan",
            "errand": "step",
            "notice": "notice",
            "team": "pump",
        }
        kind = next((name for field, name in kinds.items() if field in fields), None)
        if kind is None:
            return
        paths = set(shape(fields))
        if kind == "step":
            paths.add(f"kind={str(fields['errand']).split('#')[0]}")
        self._keep(f"message: {kind}", paths, {"body": body})

    def note(self, kind: str, example: dict[str, Any]) -> None:
        """Keeps what is neither stored nor queued."""
        self._keep(kind, set(shape(example)), example)

    def _keep(self, kind: str, paths: set[str], example: dict[str, Any]) -> None:
        if not paths <= self._seen[kind]:
            self._seen[kind] |= paths
            self.examples[kind].append(example)


def shape(value: Any, path: str = "") -> Iterator[str]:
    """Every path of a value with the type there, and the word where words are a closed list."""
    name = path.rpartition(".")[2]
    match value:
        case Mapping() if name in OPEN:
            yield f"{path}: mapping"
        case Mapping():
            for inner, each in value.items():
                yield from shape(each, f"{path}.{'host' if name == 'manners' else inner}".lstrip("."))
        case list() | tuple():
            yield f"{path}: list"
            for each in value:
                yield from shape(each, f"{path}[]")
        case str() if name in WORDS:
            yield f"{path} = {value}"
        case bool() | int() | str() | bytes() | None:
            yield f"{path}: {type(value).__name__}"
        case _:
            raise TypeError(f"{path} is {type(value).__name__}")


def to_json(value: Any) -> Any:
    """A stored value as JSON."""
    match value:
        case bytes():
            return {BYTES: base64.b64encode(value).decode()}
        case Mapping():
            return {name: to_json(each) for name, each in value.items()}
        case list() | tuple():
            return [to_json(each) for each in value]
        case _:
            return value


def from_json(value: Any) -> Any:
    """The stored value of `to_json`."""
    match value:
        case dict() if set(value) == {BYTES}:
            return base64.b64decode(value[BYTES])
        case dict():
            return {name: from_json(each) for name, each in value.items()}
        case list():
            return [from_json(each) for each in value]
        case _:
            return value
