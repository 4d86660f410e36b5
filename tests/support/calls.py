"""Counts AWS calls and their units from the requests that botocore sends, retries included.

    calls = AwsCalls(peek=another_dynamodb_client)
    calls.attach(client)            # or a boto3.Session, before its clients are made
    before = calls.total()
    ...
    used = calls.total() - before   # used.calls, used.write_units, used.read_units, used.sqs_requests

A write is charged by the larger of the item before and after it, which the wire does not show: `peek`, a client
that is not counted, looks. Hence one thread at a time per item, or sizes that stay within the same kilobyte.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from tests.support.units import (
    Touched,
    item_bytes,
    message_bytes,
    sqs_requests,
    touched,
    units_read,
    write_units,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEYS = ("pk", "sk")
CHARGED_ERRORS = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used. `calls` are HTTP requests of any service; `sqs_requests` are billed by 64 KB."""

    calls: int = 0
    write_units: int = 0
    read_units: float = 0.0
    sqs_requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            write_units=self.write_units + other.write_units,
            read_units=self.read_units + other.read_units,
            sqs_requests=self.sqs_requests + other.sqs_requests,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls - other.calls,
            write_units=self.write_units - other.write_units,
            read_units=self.read_units - other.read_units,
            sqs_requests=self.sqs_requests - other.sqs_requests,
        )


class HasEvents(Protocol):
    """A client's `meta`, or a session."""

    @property
    def events(self) -> Any:
        """Where botocore's events are registered."""


@dataclass(slots=True, kw_only=True)
class _Sent:
    """A request on its way."""

    body: Mapping[str, Any]
    items: Sequence[Touched]
    before: Sequence[int]


class AwsCalls:
    """The counter. Thread-safe."""

    def __init__(self, peek: DynamoDBClient | None = None) -> None:
        self._peek = peek
        self._usage: dict[str, Usage] = defaultdict(Usage)
        self._lock = threading.Lock()
        self._here = threading.local()

    def attach(self, client: object) -> None:
        """Counts what this client sends from now on, or what every client does that this session will make."""
        source = cast("HasEvents", getattr(client, "meta", client))
        source.events.register("before-send.*.*", self._before_send)
        source.events.register("response-received.*.*", self._received)

    def total(self) -> Usage:
        """Everything since the beginning."""
        return sum(self.by_operation().values(), Usage())

    def by_operation(self) -> Mapping[str, Usage]:
        """The same by "service.Operation"."""
        with self._lock:
            return dict(self._usage)

    def of(self, operation: str) -> Usage:
        """Of one "service.Operation"; nothing where it was never called."""
        return self.by_operation().get(operation, Usage())

    def _before_send(self, request: Any, event_name: str, **_: object) -> None:
        service, operation = event_name.split(".")[1:]
        self._here.sent = None
        body = json.loads(request.body) if service in {"dynamodb", "sqs"} and request.body else {}
        items = touched(operation, body, KEYS) if service == "dynamodb" else []
        self._here.sent = _Sent(body=body, items=items, before=[self._size(item) for item in items])
        self._count(f"{service}.{operation}", Usage(calls=1))

    def _received(self, event_name: str, parsed_response: Mapping[str, Any] | None, **_: object) -> None:
        service, operation = event_name.split(".")[1:]
        sent: _Sent | None = self._here.sent
        if sent is None:
            return  # `_before_send` failed, and botocore is about to say so
        answer = parsed_response or {}
        error = answer.get("Error", {}).get("Code")
        usage = Usage()
        if service == "dynamodb" and (error is None or error in CHARGED_ERRORS):
            usage = self._dynamodb(operation, sent, answer, lost=parsed_response is None)
        elif service == "sqs":
            size = message_bytes(operation, sent.body, answer)
            usage = Usage(sqs_requests=sqs_requests(size))
        self._count(f"{service}.{operation}", usage)

    def _dynamodb(self, operation: str, sent: _Sent, answer: Mapping[str, Any], *, lost: bool) -> Usage:
        if not sent.items:
            return Usage() if lost else Usage(read_units=units_read(operation, sent.body, answer))
        transaction = operation == "TransactWriteItems"
        units = 0
        for item, before in zip(sent.items, sent.before, strict=True):
            brought = (
                item_bytes(item.put) if transaction else 0
            )  # a cancelled transaction pays for what it brought
            units += write_units(max(before, self._size(item), brought), transaction=transaction)
        return Usage(write_units=units)

    def _size(self, item: Touched) -> int:
        if self._peek is None:
            raise AssertionError("writes are charged by the item's size: give AwsCalls a client to peek with")
        found = self._peek.get_item(TableName=item.table, Key=dict(item.key), ConsistentRead=True)
        return item_bytes(cast("Mapping[str, Any] | None", found.get("Item")))

    def _count(self, operation: str, usage: Usage) -> None:
        with self._lock:
            self._usage[operation] += usage
