"""What the store asks DynamoDB for: chunks, pages, expressions; and what it makes of answers that are not whole."""

from __future__ import annotations

import re
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from fencepost.application.store import (
    Absent,
    Compare,
    Key,
    Lacks,
    OneOf,
    Put,
    Query,
    StoreError,
    Table,
    Update,
    either,
    equals,
    every,
    items,
)
from tests.support.scripted import Failure, ScriptedStore

KEY = Key(Table.JOBS, "p", "s")
THROTTLED = Failure("ProvisionedThroughputExceededException")


def lost() -> Exception:
    return ReadTimeoutError(endpoint_url="https://dynamodb")


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
    world = ScriptedStore(
        answered(0, unprocessed=(1, 2)), answered(1, unprocessed=(2,)), answered(unprocessed=(2,))
    )
    assert [key.sk for key in world.store.batch_get(keys(3))] == ["000", "001"]
    asked = [len(request.body["RequestItems"]["t-jobs"]["Keys"]) for request in world.script.requests]
    assert asked == [3, 2, 1]
    assert all(request.body["RequestItems"]["t-jobs"]["ConsistentRead"] for request in world.script.requests)
    assert len(world.clock.slept) == 2


def test_reads_go_by_hundreds_and_none_twice() -> None:
    world = ScriptedStore(answered(), answered(), answered())
    world.store.batch_get(keys(205) + keys(3))
    asked = [len(request.body["RequestItems"]["t-jobs"]["Keys"]) for request in world.script.requests]
    assert asked == [100, 100, 5]


def test_F4_only_what_is_named_deleted_is_deleted() -> None:
    unprocessed = {"t-jobs": [{"DeleteRequest": {"Key": wire(number)}} for number in (3, 24)]}
    world = ScriptedStore({"UnprocessedItems": unprocessed}, {"UnprocessedItems": {}}, lost())
    left = world.store.batch_delete(keys(55))
    assert [key.sk for key in left] == ["003", "024", *(f"{number:03}" for number in range(50, 55))]
    asked = [len(request.body["RequestItems"]["t-jobs"]) for request in world.script.requests]
    assert asked == [25, 25, 5]


def test_a_throttled_chunk_of_deletions_is_repeated_then_left() -> None:
    world = ScriptedStore(THROTTLED, {}, THROTTLED, THROTTLED, THROTTLED)
    assert world.store.batch_delete(keys(30)) == keys(30)[25:]


def test_a_deletion_that_may_not_be_done_says_so() -> None:
    world = ScriptedStore(Failure("AccessDeniedException"))
    with pytest.raises(StoreError):
        world.store.batch_delete(keys(1))


def test_a_query_goes_on_after_an_empty_page() -> None:
    world = ScriptedStore(
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
    world = ScriptedStore({"Items": [wire(0), wire(1)], "LastEvaluatedKey": wire(1)})
    assert len(list(items(world.store, Query(table=Table.JOBS, pk="p", limit=2)))) == 2
    assert world.script.finished()


def test_a_page_is_only_asked_for_when_wanted() -> None:
    world = ScriptedStore({"Items": [wire(0)], "LastEvaluatedKey": wire(0)})
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
    world = ScriptedStore({}, {}, {"Items": []})
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
    world = ScriptedStore({})
    world.store.write(Put(key=KEY, item={"a": 1}))
    assert world.script.requests[0].body == {
        "TableName": "t-jobs",
        "Item": {"a": {"N": "1"}, "pk": {"S": "p"}, "sk": {"S": "s"}},
    }
