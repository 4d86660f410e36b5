"""What DynamoDB may answer, or not answer, and what the store makes of it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.application.store import (
    Absent,
    Cancelled,
    Cause,
    Check,
    Committed,
    Compare,
    Delete,
    InvalidWriteError,
    Key,
    Lacks,
    Lost,
    OneOf,
    OutcomeUnknownError,
    Present,
    Put,
    Query,
    Reason,
    StoreBusyError,
    StoreError,
    Table,
    Update,
    Won,
    either,
    equals,
    every,
    items,
)
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.scripted import Failure, Script

KEY = Key(Table.JOBS, "p", "s")
PUT = Put(key=KEY, item={"a": 1}, condition=Absent())
THROTTLED = Failure("ProvisionedThroughputExceededException")
CONFLICT = Failure("TransactionConflictException")
BROKEN = Failure("InternalServerError", status=500)
URL = {"endpoint_url": "https://dynamodb"}


def lost() -> Exception:
    return ReadTimeoutError(**URL)


def unreachable() -> Exception:
    return EndpointConnectionError(**URL)


class World:
    def __init__(self, *answers) -> None:
        self.script = Script(*answers)
        self.clock = SettableClock("2026-03-02T10:00:00.000Z")
        self.store = DynamoDbStore(
            self.script.dynamodb(), table_names("t-"), clock=self.clock, entropy=CountingEntropy(0.5)
        )


@pytest.mark.parametrize("fault", [THROTTLED, CONFLICT, Failure("ThrottlingException"), unreachable()])
def test_F4_a_transient_refusal_is_tried_three_times_with_jitter(fault) -> None:
    world = World(fault, fault, {})
    assert world.store.write(PUT) == Won()
    assert world.script.operations == ["PutItem"] * 3
    assert world.clock.slept == [timedelta(milliseconds=25), timedelta(milliseconds=50)]


@pytest.mark.parametrize(
    "fault", [THROTTLED, CONFLICT, Failure("RequestLimitExceeded"), ConnectTimeoutError(**URL)]
)
@pytest.mark.parametrize(
    "write", [PUT, Update(key=KEY, set={"a": 1}, condition=Present()), Delete(key=KEY, condition=Present())]
)
def test_F4_a_lasting_one_is_busy_and_never_lost(fault, write) -> None:
    world = World(fault, fault, fault)
    with pytest.raises(StoreBusyError):
        world.store.write(write)
    assert world.script.finished()


@pytest.mark.parametrize(
    "fault", [lost(), ConnectionClosedError(**URL), BROKEN, Failure("ServiceUnavailable", status=503)]
)
def test_a_write_without_an_answer_is_unknown_and_not_repeated(fault) -> None:
    """A repeat would meet our own item and call it somebody else's."""
    world = World(fault)
    with pytest.raises(OutcomeUnknownError):
        world.store.write(PUT)
    assert world.script.operations == ["PutItem"]


def test_an_unknown_outcome_after_a_throttle_is_unknown() -> None:
    world = World(THROTTLED, lost())
    with pytest.raises(OutcomeUnknownError):
        world.store.write(PUT)


def test_a_failed_condition_is_lost_and_says_against_what() -> None:
    there = {"pk": {"S": "p"}, "sk": {"S": "s"}, "n": {"N": "7"}, "l": {"L": [{"NULL": True}, {"B": "AP8="}]}}
    world = World(CONFLICT, Failure("ConditionalCheckFailedException", {"Item": there}))
    assert world.store.write(PUT) == Lost({"pk": "p", "sk": "s", "n": 7, "l": [None, b"\x00\xff"]})
    world = World(Failure("ConditionalCheckFailedException"))
    assert world.store.write(PUT) == Lost(None)


@pytest.mark.parametrize("code", ["ValidationException", "ItemCollectionSizeLimitExceededException"])
def test_what_the_service_calls_invalid_is_not_repeated(code: str) -> None:
    world = World(Failure(code))
    with pytest.raises(InvalidWriteError):
        world.store.write(PUT)
    assert len(world.script.requests) == 1


@pytest.mark.parametrize(
    "fault", [Failure("AccessDeniedException"), Failure("ResourceNotFoundException"), NoCredentialsError()]
)
def test_what_no_repeat_can_mend_is_a_plain_store_error(fault) -> None:
    world = World(fault, fault, fault)
    for ask in (
        lambda: world.store.write(PUT),
        lambda: world.store.get(KEY),
        lambda: world.store.transact([PUT]),
    ):
        with pytest.raises(StoreError) as caught:
            ask()
        assert type(caught.value) is StoreError
    assert world.script.finished()


@pytest.mark.parametrize("fault", [THROTTLED, lost(), BROKEN, unreachable()])
def test_a_read_is_repeated_whatever_went_wrong(fault) -> None:
    item = {"pk": {"S": "p"}, "sk": {"S": "s"}}
    world = World(fault, fault, {"Item": item})
    assert world.store.get(KEY) == {"pk": "p", "sk": "s"}
    world = World(fault, fault, fault)
    with pytest.raises(StoreBusyError):
        world.store.get(KEY)
    world = World(fault, {"Items": [item]})
    assert len(list(items(world.store, Query(table=Table.JOBS, pk="p")))) == 1


def cancelled(*codes: str) -> Failure:
    reasons = [{"Code": code, "Message": code} for code in codes]
    return Failure("TransactionCanceledException", {"CancellationReasons": reasons})


@pytest.mark.parametrize("fault", [lost(), BROKEN, THROTTLED, Failure("TransactionInProgressException")])
def test_a_transaction_without_an_answer_is_repeated_under_one_token(fault) -> None:
    world = World(fault, fault, {})
    assert world.store.transact([PUT]) == Committed()
    tokens = {request.body["ClientRequestToken"] for request in world.script.requests}
    assert len(tokens) == 1
    assert len(world.script.requests) == 3


def test_two_transactions_have_two_tokens_and_a_given_one_is_kept() -> None:
    world = World({}, {}, lost(), {})
    world.store.transact([PUT])
    world.store.transact([PUT])
    world.store.transact([PUT], "mine")
    tokens = [request.body["ClientRequestToken"] for request in world.script.requests]
    assert len(set(tokens[:2])) == 2
    assert tokens[2:] == ["mine", "mine"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (lost(), OutcomeUnknownError),
        (BROKEN, OutcomeUnknownError),
        (Failure("TransactionInProgressException"), OutcomeUnknownError),
        (THROTTLED, StoreBusyError),
        (unreachable(), StoreBusyError),
    ],
)
def test_a_transaction_that_never_got_an_answer(fault, error) -> None:
    world = World(fault, fault, fault)
    with pytest.raises(error):
        world.store.transact([PUT])


def test_a_transaction_whose_one_attempt_may_have_worked_is_unknown_whatever_came_last() -> None:
    world = World(lost(), THROTTLED, THROTTLED)
    with pytest.raises(OutcomeUnknownError):
        world.store.transact([PUT])


@pytest.mark.parametrize("code", ["ValidationException", "IdempotentParameterMismatchException"])
def test_an_invalid_transaction_is_not_repeated(code: str) -> None:
    world = World(Failure(code))
    with pytest.raises(InvalidWriteError):
        world.store.transact([PUT])


def test_F1_a_cancelled_transaction_is_not_repeated_here_and_names_its_reasons() -> None:
    actions = [Put(key=Key(Table.JOBS, "p", f"{number}"), item={}) for number in range(6)]
    codes = [
        "None",
        "TransactionConflict",
        "ProvisionedThroughputExceeded",
        "ThrottlingError",
        "ValidationError",
        "SomethingNew",
    ]
    world = World(cancelled(*codes))
    assert world.store.transact(actions) == Cancelled(
        (
            Reason(Cause.NONE),
            Reason(Cause.CONFLICT),
            Reason(Cause.THROTTLED),
            Reason(Cause.THROTTLED),
            Reason(Cause.INVALID),
            Reason(Cause.INVALID),
        )
    )
    assert len(world.script.requests) == 1


def test_only_a_conflict_is_transient_and_names_no_loser() -> None:
    world = World(cancelled("None", "TransactionConflict"))
    verdict = world.store.transact([PUT, Check(key=Key(Table.JOBS, "p", "x"), condition=Absent())])
    assert isinstance(verdict, Cancelled)
    assert verdict.transient


def wire(number: int, table: Table = Table.JOBS) -> dict:
    return {"pk": {"S": "p"}, "sk": {"S": f"{number:03}"}}


def answered(*numbers: int, unprocessed: tuple[int, ...] = ()) -> dict:
    answer: dict[str, Any] = {"Responses": {"t-jobs": [wire(number) for number in numbers]}}
    if unprocessed:
        answer["UnprocessedKeys"] = {
            "t-jobs": {"Keys": [wire(number) for number in unprocessed], "ConsistentRead": True}
        }
    return answer


def keys(count: int) -> list[Key]:
    return [Key(Table.JOBS, "p", f"{number:03}") for number in range(count)]


def test_unprocessed_reads_are_repeated_twice_then_left_out() -> None:
    world = World(answered(0, unprocessed=(1, 2)), answered(1, unprocessed=(2,)), answered(unprocessed=(2,)))
    assert [key.sk for key in world.store.batch_get(keys(3))] == ["000", "001"]
    asked = [len(request.body["RequestItems"]["t-jobs"]["Keys"]) for request in world.script.requests]
    assert asked == [3, 2, 1]
    assert all(request.body["RequestItems"]["t-jobs"]["ConsistentRead"] for request in world.script.requests)
    assert len(world.clock.slept) == 2


def test_reads_go_by_hundreds_and_none_twice() -> None:
    world = World(answered(), answered(), answered())
    world.store.batch_get(keys(205) + keys(3))
    asked = [len(request.body["RequestItems"]["t-jobs"]["Keys"]) for request in world.script.requests]
    assert asked == [100, 100, 5]


def test_F4_only_what_is_named_deleted_is_deleted() -> None:
    unprocessed = {"t-jobs": [{"DeleteRequest": {"Key": wire(number)}} for number in (3, 24)]}
    world = World({"UnprocessedItems": unprocessed}, {"UnprocessedItems": {}}, lost())
    left = world.store.batch_delete(keys(55))
    assert [key.sk for key in left] == ["003", "024", *(f"{number:03}" for number in range(50, 55))]
    asked = [len(request.body["RequestItems"]["t-jobs"]) for request in world.script.requests]
    assert asked == [25, 25, 5]


def test_a_throttled_chunk_of_deletions_is_repeated_then_left() -> None:
    world = World(THROTTLED, {}, THROTTLED, THROTTLED, THROTTLED)
    assert world.store.batch_delete(keys(30)) == keys(30)[25:]


def test_a_deletion_that_may_not_be_done_says_so() -> None:
    world = World(Failure("AccessDeniedException"))
    with pytest.raises(StoreError):
        world.store.batch_delete(keys(1))


def test_a_query_goes_on_after_an_empty_page() -> None:
    world = World(
        {"Items": [wire(0), wire(1)], "LastEvaluatedKey": wire(1)},
        {"Items": [], "LastEvaluatedKey": wire(5)},
        {"Items": [wire(6)]},
    )
    pages = list(world.store.pages(Query(table=Table.JOBS, pk="p", limit=9)))
    assert [[item["sk"] for item in page] for page in pages] == [["000", "001"], [], ["006"]]
    bodies = [request.body for request in world.script.requests]
    assert [body.get("ExclusiveStartKey") for body in bodies] == [None, wire(1), wire(5)]
    assert [body["Limit"] for body in bodies] == [9, 7, 7]
    assert all(body["ConsistentRead"] for body in bodies)


def test_a_query_that_has_enough_asks_no_more() -> None:
    world = World({"Items": [wire(0), wire(1)], "LastEvaluatedKey": wire(1)})
    assert len(list(items(world.store, Query(table=Table.JOBS, pk="p", limit=2)))) == 2
    assert world.script.finished()


def test_a_page_is_only_asked_for_when_wanted() -> None:
    world = World({"Items": [wire(0)], "LastEvaluatedKey": wire(0)})
    next(world.store.pages(Query(table=Table.JOBS, pk="p", strong=False)))
    (request,) = world.script.requests
    assert request.body["ConsistentRead"] is False
    assert "Limit" not in request.body


def test_no_name_or_value_stands_in_an_expression_itself() -> None:
    condition = either(
        Absent(),
        every(equals("status", "x"), Compare("size", "<", 3), Lacks("ttl"), OneOf("state", ("a", "b"))),
    )
    update = Update(
        key=KEY, set={"name": 1, "owner": None}, remove=("hash",), add={"count": 2}, condition=condition
    )
    world = World({}, {}, {"Items": []})
    world.store.write(update)
    world.store.transact([update])
    list(world.store.pages(Query(table=Table.JOBS, pk="p", first="a", last="b")))
    single, transaction, query = (request.body for request in world.script.requests)
    for body in (single, transaction["TransactItems"][0]["Update"], query):
        for name, text in body.items():
            if name.endswith("Expression"):
                words = set(re.findall(r"[#:]?\w+", text))
                plain = {word for word in words if word[0] not in "#:"}
                assert plain <= {
                    "SET", "REMOVE", "ADD", "AND", "OR", "IN", "BETWEEN",
                    "attribute_exists", "attribute_not_exists",
                }  # fmt: skip
    for body in (single, transaction["TransactItems"][0]["Update"]):
        assert body["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"


def test_an_unconditional_put_carries_no_empty_expressions() -> None:
    world = World({})
    world.store.write(Put(key=KEY, item={"a": 1}))
    assert world.script.requests[0].body == {
        "TableName": "t-jobs",
        "Item": {"a": {"N": "1"}, "pk": {"S": "p"}, "sk": {"S": "s"}},
    }
