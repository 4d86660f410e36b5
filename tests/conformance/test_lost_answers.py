"""The service did it, and the answer never came: on the real wire, with the answer thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ReadTimeoutError

from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.application.store import (
    Absent,
    Committed,
    Key,
    OutcomeUnknownError,
    Put,
    Table,
    Update,
)
from fencepost.runtime.entropy import SystemEntropy
from tests.support.clock import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.engine
KEY = Key(Table.JOBS, "p", "s")


class Deaf:
    """Sends requests of the named operation on, and does not hear the first answers."""

    def __init__(self, client: DynamoDBClient, operation: str, times: int) -> None:
        self.sent = 0
        self._operation = operation
        self._left = times
        session = client._endpoint.http_session  # type: ignore[attr-defined]  # botocore's own, looked at from outside
        self._send = session.send
        session.send = self._send_deaf

    def _send_deaf(self, request: Any) -> Any:
        answer = self._send(request)
        if not request.headers["X-Amz-Target"].decode().endswith(self._operation):
            return answer
        self.sent += 1
        if self._left == 0:
            return answer
        self._left -= 1
        raise ReadTimeoutError(endpoint_url=request.url)


def opened(engine, operation: str, times: int) -> tuple[DynamoDbStore, Deaf]:
    client = engine.dynamodb(attempts=1)
    names = create_tables(client, engine.prefix())
    clock = SettableClock("2026-03-02T10:00:00.000Z")
    return DynamoDbStore(client, names, clock=clock, entropy=SystemEntropy()), Deaf(client, operation, times)


def test_a_transaction_whose_answer_got_lost_takes_effect_once(engine) -> None:
    store, deaf = opened(engine, "TransactWriteItems", times=2)
    assert store.transact([Update(key=KEY, add={"n": 1}, condition=Absent())]) == Committed()
    assert deaf.sent == 3
    assert store.get(KEY) == {"pk": "p", "sk": "s", "n": 1}


def test_a_transaction_that_is_never_heard_of_again_is_unknown(engine) -> None:
    store, deaf = opened(engine, "TransactWriteItems", times=3)
    with pytest.raises(OutcomeUnknownError):
        store.transact([Update(key=KEY, add={"n": 1}, condition=Absent())])
    assert deaf.sent == 3
    assert store.get(KEY) == {"pk": "p", "sk": "s", "n": 1}


def test_a_claim_whose_answer_got_lost_is_not_called_somebody_elses(engine) -> None:
    store, deaf = opened(engine, "PutItem", times=1)
    with pytest.raises(OutcomeUnknownError):
        store.write(Put(key=KEY, item={"by": "me"}, condition=Absent()))
    assert deaf.sent == 1
    assert store.get(KEY) == {"pk": "p", "sk": "s", "by": "me"}


def test_deletions_without_an_answer_are_reported_as_not_done_and_may_be_repeated(engine) -> None:
    store, _ = opened(engine, "BatchWriteItem", times=1)
    store.write(Put(key=KEY, item={}))
    assert list(store.batch_delete([KEY])) == [KEY]
    assert list(store.batch_delete([KEY])) == []
    assert store.get(KEY) is None
