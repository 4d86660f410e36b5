"""What DynamoDB may answer, or not answer, and what the store makes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from fencepost.application.store import (
    Absent,
    Cancelled,
    Cause,
    Check,
    Committed,
    Delete,
    InvalidWriteError,
    Key,
    Lost,
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
    items,
)
from tests.support.scripted import Failure, ScriptedStore

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


@pytest.mark.parametrize("fault", [THROTTLED, CONFLICT, Failure("ThrottlingException"), unreachable()])
def test_F4_a_transient_refusal_is_tried_three_times_with_jitter(fault) -> None:
    world = ScriptedStore(fault, fault, {})
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
    world = ScriptedStore(fault, fault, fault)
    with pytest.raises(StoreBusyError):
        world.store.write(write)
    assert world.script.finished()


@pytest.mark.parametrize(
    "fault", [lost(), ConnectionClosedError(**URL), BROKEN, Failure("ServiceUnavailable", status=503)]
)
def test_a_write_without_an_answer_is_unknown_and_not_repeated(fault) -> None:
    """A repeat would meet our own item and call it somebody else's."""
    world = ScriptedStore(fault)
    with pytest.raises(OutcomeUnknownError):
        world.store.write(PUT)
    assert world.script.operations == ["PutItem"]


def test_an_unknown_outcome_after_a_throttle_is_unknown() -> None:
    world = ScriptedStore(THROTTLED, lost())
    with pytest.raises(OutcomeUnknownError):
        world.store.write(PUT)


def test_a_failed_condition_is_lost_and_says_against_what() -> None:
    there = {"pk": {"S": "p"}, "sk": {"S": "s"}, "n": {"N": "7"}, "l": {"L": [{"NULL": True}, {"B": "AP8="}]}}
    world = ScriptedStore(CONFLICT, Failure("ConditionalCheckFailedException", {"Item": there}))
    assert world.store.write(PUT) == Lost({"pk": "p", "sk": "s", "n": 7, "l": [None, b"\x00\xff"]})
    world = ScriptedStore(Failure("ConditionalCheckFailedException"))
    assert world.store.write(PUT) == Lost(None)


@pytest.mark.parametrize("code", ["ValidationException", "ItemCollectionSizeLimitExceededException"])
def test_what_the_service_calls_invalid_is_not_repeated(code: str) -> None:
    world = ScriptedStore(Failure(code))
    with pytest.raises(InvalidWriteError):
        world.store.write(PUT)
    assert len(world.script.requests) == 1


@pytest.mark.parametrize(
    "fault", [Failure("AccessDeniedException"), Failure("ResourceNotFoundException"), NoCredentialsError()]
)
def test_what_no_repeat_can_mend_is_a_plain_store_error(fault) -> None:
    world = ScriptedStore(fault, fault, fault)
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
    world = ScriptedStore(fault, fault, {"Item": item})
    assert world.store.get(KEY) == {"pk": "p", "sk": "s"}
    world = ScriptedStore(fault, fault, fault)
    with pytest.raises(StoreBusyError):
        world.store.get(KEY)
    world = ScriptedStore(fault, {"Items": [item]})
    assert len(list(items(world.store, Query(table=Table.JOBS, pk="p")))) == 1


def cancelled(*codes: str) -> Failure:
    reasons = [{"Code": code, "Message": code} for code in codes]
    return Failure("TransactionCanceledException", {"CancellationReasons": reasons})


@pytest.mark.parametrize("fault", [lost(), BROKEN, THROTTLED, Failure("TransactionInProgressException")])
def test_a_transaction_without_an_answer_is_repeated_under_one_token(fault) -> None:
    world = ScriptedStore(fault, fault, {})
    assert world.store.transact([PUT]) == Committed()
    tokens = {request.body["ClientRequestToken"] for request in world.script.requests}
    assert len(tokens) == 1
    assert len(world.script.requests) == 3


def test_two_transactions_have_two_tokens_and_a_given_one_is_kept() -> None:
    world = ScriptedStore({}, {}, lost(), {})
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
    world = ScriptedStore(fault, fault, fault)
    with pytest.raises(error):
        world.store.transact([PUT])


def test_a_transaction_whose_one_attempt_may_have_worked_is_unknown_whatever_came_last() -> None:
    world = ScriptedStore(lost(), THROTTLED, THROTTLED)
    with pytest.raises(OutcomeUnknownError):
        world.store.transact([PUT])


@pytest.mark.parametrize("code", ["ValidationException", "IdempotentParameterMismatchException"])
def test_an_invalid_transaction_is_not_repeated(code: str) -> None:
    world = ScriptedStore(Failure(code))
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
    world = ScriptedStore(cancelled(*codes))
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
    world = ScriptedStore(cancelled("None", "TransactionConflict"))
    verdict = world.store.transact([PUT, Check(key=Key(Table.JOBS, "p", "x"), condition=Absent())])
    assert isinstance(verdict, Cancelled)
    assert verdict.transient
