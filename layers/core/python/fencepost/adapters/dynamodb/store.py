"""The store in DynamoDB, over botocore's low-level client.

The client itself must not retry (`aws.client_config`): repeating a conditional write whose answer got lost would
report our own success as somebody else's. What is safe to repeat is repeated here, with jitter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from botocore.exceptions import ClientError

from fencepost.adapters.aws import Retrier, code_of
from fencepost.adapters.dynamodb import requests
from fencepost.adapters.dynamodb.codec import decode_item
from fencepost.adapters.dynamodb.errors import (
    CANCELLED,
    CONDITION_FAILED,
    cancelled,
    lost,
    old_item,
    repeatable,
    translated,
    unsettled,
    untouched,
)
from fencepost.adapters.dynamodb.schema import PARTITION_KEY, SORT_KEY
from fencepost.adapters.refusals import check_action, check_key, check_transaction
from fencepost.application.ports import Clock, Entropy
from fencepost.application.store import (
    Action,
    Cancelled,
    Committed,
    Delete,
    Item,
    Key,
    Lost,
    OutcomeUnknownError,
    Put,
    Query,
    Share,
    StoreBusyError,
    StoreError,
    Table,
    Update,
    Won,
    Write,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")

_GET_CHUNK = 100
_DELETE_CHUNK = 25
_ATTEMPTS = 3
_BATCH_ROUNDS = 3


class DynamoDbStore:
    """`Store` in the tables `names`. `page_limit` cuts pages shorter than DynamoDB's megabyte, for tests."""

    def __init__(
        self,
        client: DynamoDBClient,
        names: Mapping[Table, str],
        *,
        clock: Clock,
        entropy: Entropy,
        attempts: int = _ATTEMPTS,
        page_limit: int | None = None,
    ) -> None:
        self._client = client
        self._names = names
        self._tables = {name: table for table, name in names.items()}
        self._entropy = entropy
        self._retrier = Retrier(clock=clock, entropy=entropy, attempts=attempts)
        self._page_limit = page_limit

    def get(self, key: Key) -> Item | None:
        """See `Store.get`."""
        check_key(key)
        parameters = requests.get(key, self._names)
        return old_item(self._read(partial(self._client.get_item, **parameters)).get("Item"))

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See `Store.batch_get`. What is still unprocessed after two repeats is left out."""
        unique = list(dict.fromkeys(keys))
        for key in unique:
            check_key(key)
        found: dict[Key, Item] = {}
        for start in range(0, len(unique), _GET_CHUNK):
            found |= self._get_chunk(unique[start : start + _GET_CHUNK])
        return found

    def pages(self, query: Query) -> Iterator[Sequence[Item]]:
        """See `Store.pages`."""
        if _holds_nothing(query):
            return  # DynamoDB refuses such a range
        left = query.limit
        start: Mapping[str, Any] | None = None
        while left is None or left > 0:
            limit = min((each for each in (left, self._page_limit) if each is not None), default=None)
            parameters = requests.query(query, self._names, limit=limit, start=start)
            answer = self._read(partial(self._client.query, **parameters))
            page = [decode_item(item) for item in answer["Items"]]
            yield page
            left = None if left is None else left - len(page)
            start = answer.get("LastEvaluatedKey")
            if not start:
                return

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        """See `Store.scan`; a share is a segment of a parallel Scan."""
        start: Mapping[str, Any] | None = None
        while True:
            parameters = requests.scan(share, self._names, limit=self._page_limit, start=start)
            answer = self._read(partial(self._client.scan, **parameters))
            yield [decode_item(item) for item in answer["Items"]]
            start = answer.get("LastEvaluatedKey")
            if not start:
                return

    def write(self, write: Write) -> Won | Lost:
        """See `Store.write`."""
        check_action(write)
        send = self._sender(write)

        def attempt() -> Won | Lost:
            try:
                send()
            except ClientError as error:
                if code_of(error) != CONDITION_FAILED:
                    raise
                return lost(error)
            return Won()

        with translated(reading=False):
            return self._retrier.call(attempt, untouched)

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """See `Store.transact`. Thanks to its token it may be repeated when its answer got lost."""
        check_transaction(actions, token)
        entries: list[Any] = [requests.transaction_entry(action, self._names) for action in actions]
        token = token if token is not None else self._entropy.token()
        doubtful = False

        def attempt() -> Committed | Cancelled:
            try:
                self._client.transact_write_items(TransactItems=entries, ClientRequestToken=token)
            except ClientError as error:
                if code_of(error) != CANCELLED:
                    raise
                return cancelled(error)
            return Committed()

        def again(error: Exception) -> bool:
            nonlocal doubtful
            doubtful = doubtful or unsettled(error)
            return repeatable(error)

        try:
            with translated(reading=False):
                return self._retrier.call(attempt, again)
        except StoreError as error:
            if doubtful:  # an earlier attempt may have worked, whatever became of the last one
                raise OutcomeUnknownError(str(error)) from error
            raise

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """See `Store.batch_delete`. A chunk without an answer counts as not processed: deleting twice is harmless."""
        unique = list(dict.fromkeys(keys))
        for key in unique:
            check_key(key)
        left: list[Key] = []
        for start in range(0, len(unique), _DELETE_CHUNK):
            chunk = unique[start : start + _DELETE_CHUNK]
            try:
                left += self._delete_chunk(chunk)
            except (StoreBusyError, OutcomeUnknownError):
                left += chunk
        return left

    def _read(self, request: Callable[[], T]) -> T:
        with translated(reading=True):
            return self._retrier.call(request, repeatable)

    def _sender(self, write: Write) -> Callable[[], object]:
        parameters = requests.action(write, self._names)
        match write:
            case Put():
                return partial(self._client.put_item, **parameters)
            case Update():
                return partial(self._client.update_item, **parameters)
            case Delete():
                return partial(self._client.delete_item, **parameters)
            case _:
                assert_never(write)

    def _get_chunk(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        found: dict[Key, Item] = {}
        wanted: Mapping[str, Any] = requests.batch_get(keys, self._names)
        for round_ in range(_BATCH_ROUNDS):
            if round_ > 0:
                self._retrier.pause(round_)
            answer = self._read(partial(self._client.batch_get_item, RequestItems=wanted))
            found |= {
                self._key(name, wire): decode_item(wire)
                for name, wires in answer["Responses"].items()
                for wire in wires
            }
            wanted = answer.get("UnprocessedKeys") or {}
            if not wanted:
                break
        return found

    def _delete_chunk(self, keys: Sequence[Key]) -> Sequence[Key]:
        wanted = requests.batch_delete(keys, self._names)
        with translated(reading=False):
            answer = self._retrier.call(
                partial(self._client.batch_write_item, RequestItems=wanted), untouched
            )
        return [
            self._key(name, entry["DeleteRequest"]["Key"])
            for name, entries in answer.get("UnprocessedItems", {}).items()
            for entry in entries
        ]

    def _key(self, name: str, wire: Mapping[str, Any]) -> Key:
        return Key(self._tables[name], wire[PARTITION_KEY]["S"], wire[SORT_KEY]["S"])


def _holds_nothing(query: Query) -> bool:
    return query.last is not None and (not query.last or (query.first or "") > query.last)
