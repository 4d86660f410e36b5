"""All or nothing, and the reasons for nothing."""

from __future__ import annotations

import pytest

from fencepost.application.store import (
    Absent,
    Action,
    Cancelled,
    Cause,
    Check,
    Committed,
    Delete,
    InvalidWriteError,
    Key,
    Present,
    Put,
    Reason,
    Store,
    Table,
    Update,
    equals,
)


def test_a_transaction_spans_tables_and_kinds_of_actions(store: Store, key) -> None:
    store.write(Put(key=key("old"), item={"a": 1}))
    store.write(Put(key=key("counted"), item={"n": 1}))
    store.write(Put(key=key("guard"), item={"open": True}))
    verdict = store.transact(
        [
            Put(key=key("new", Table.EXECUTIONS), item={"b": 2}, condition=Absent()),
            Update(key=key("counted"), add={"n": 1}, condition=equals("n", 1)),
            Delete(key=key("old"), condition=Present()),
            Check(key=key("guard"), condition=equals("open", True)),
            Check(key=key("nobody", Table.CONTROL), condition=Absent()),
        ]
    )
    assert verdict == Committed()
    assert store.get(key("new", Table.EXECUTIONS)) == {"pk": key().pk, "sk": "new", "b": 2}
    assert store.get(key("counted")) == {"pk": key().pk, "sk": "counted", "n": 2}
    assert store.get(key("old")) is None
    assert store.get(key("nobody", Table.CONTROL)) is None


def test_a_cancelled_transaction_changes_nothing_and_names_every_loser(store: Store, key) -> None:
    store.write(Put(key=key("taken"), item={"by": "somebody"}))
    store.write(Put(key=key("counted"), item={"n": 1}))
    verdict = store.transact(
        [
            Update(key=key("counted"), add={"n": 1}, condition=equals("n", 1)),
            Put(key=key("taken"), item={"by": "me"}, condition=Absent()),
            Put(key=key("fresh"), item={}, condition=Absent()),
            Check(key=key("missing"), condition=Present()),
            Delete(key=key("gone"), condition=equals("a", 1)),
        ]
    )
    assert verdict == Cancelled(
        (
            Reason(Cause.NONE),
            Reason(Cause.CONDITION, {"pk": key().pk, "sk": "taken", "by": "somebody"}),
            Reason(Cause.NONE),
            Reason(Cause.CONDITION, None),
            Reason(Cause.CONDITION, None),
        )
    )
    assert not verdict.transient
    assert store.get(key("counted")) == {"pk": key().pk, "sk": "counted", "n": 1}
    assert store.get(key("fresh")) is None


def test_one_action_is_a_transaction_too(store: Store, key) -> None:
    assert store.transact([Check(key=key(), condition=Absent())]) == Committed()
    assert store.transact([Check(key=key(), condition=Present())]) == Cancelled((Reason(Cause.CONDITION),))


def test_what_cannot_be_done_to_the_stored_item_is_a_reason(store: Store, adapter: str, key) -> None:
    store.write(Put(key=key("text"), item={"n": "text"}))
    actions: list[Action] = [
        Put(key=key("fresh"), item={}),
        Update(key=key("text"), add={"n": 1}, condition=Present()),
    ]
    if adapter == "moto":  # it refuses the whole request, where DynamoDB names the action
        with pytest.raises(InvalidWriteError):
            store.transact(actions)
    else:
        assert store.transact(actions) == Cancelled((Reason(Cause.NONE), Reason(Cause.INVALID)))
    assert store.get(key("fresh")) is None


def test_a_repeat_with_the_same_token_has_no_second_effect(store: Store, adapter: str, key) -> None:
    if adapter == "moto":
        pytest.skip("moto ignores the token and adds twice")
    token = f"repeat-{key().pk}"
    actions = [Update(key=key(), add={"n": 1}, condition=Absent())]
    assert store.transact(actions, token) == Committed()
    assert store.transact(actions, token) == Committed()
    assert store.get(key()) == {"pk": key().pk, "sk": "item", "n": 1}
    assert store.transact(actions) == Cancelled(
        (Reason(Cause.CONDITION, {"pk": key().pk, "sk": "item", "n": 1}),)
    )


def test_a_token_belongs_to_one_transaction(store: Store, adapter: str, key) -> None:
    if adapter == "moto":
        pytest.skip("moto ignores the token")
    token = f"owned-{key().pk}"
    store.transact([Put(key=key("a"), item={})], token)
    with pytest.raises(InvalidWriteError):
        store.transact([Put(key=key("b"), item={})], token)
    assert store.get(key("b")) is None


def test_a_cancelled_transaction_may_be_tried_again_with_its_token(store: Store, key) -> None:
    token = f"again-{key().pk}"
    actions: list[Action] = [Put(key=key("a"), item={}), Check(key=key("gate"), condition=Present())]
    assert isinstance(store.transact(actions, token), Cancelled)
    store.write(Put(key=key("gate"), item={}))
    assert store.transact(actions, token) == Committed()
    assert store.get(key("a")) is not None


def test_a_hundred_actions_are_the_most(store: Store, key) -> None:
    hundred = [Put(key=key(f"{number}"), item={"n": number}) for number in range(100)]
    assert store.transact(hundred) == Committed()
    assert len(store.batch_get([each.key for each in hundred])) == 100
    with pytest.raises(InvalidWriteError):
        store.transact([*hundred, Put(key=key("100"), item={})])
    with pytest.raises(InvalidWriteError):
        store.transact([])


@pytest.mark.parametrize(
    "second",
    [
        lambda key: Put(key=key, item={"a": 2}),
        lambda key: Check(key=key, condition=Absent()),
        lambda key: Delete(key=key),
    ],
)
def test_one_item_twice_is_refused(store: Store, key, second) -> None:
    with pytest.raises(InvalidWriteError):
        store.transact([Put(key=key(), item={"a": 1}), second(key())])
    assert store.get(key()) is None


def test_four_megabytes_are_the_most(store: Store, key) -> None:
    def puts(size: int) -> list[Put]:
        return [Put(key=key(f"{number:02}"), item={"b": "x" * size}) for number in range(16)]

    with pytest.raises(InvalidWriteError):
        store.transact(puts(256 * 1024))
    assert store.get(key("00")) is None
    assert store.transact(puts(255 * 1024)) == Committed()


@pytest.mark.parametrize("token", ["", "t" * 37])
def test_a_token_has_1_to_36_characters(store: Store, key, token: str) -> None:
    with pytest.raises(InvalidWriteError):
        store.transact([Put(key=key(), item={})], token)


def test_a_conflict_or_a_throttle_alone_is_transient() -> None:
    none, conflict = Reason(Cause.NONE), Reason(Cause.CONFLICT)
    throttled, failed, bad = Reason(Cause.THROTTLED), Reason(Cause.CONDITION), Reason(Cause.INVALID)
    assert Cancelled((none, conflict, throttled)).transient
    assert not Cancelled((none, conflict, failed)).transient
    assert not Cancelled((bad, none)).transient


def test_the_same_key_in_two_tables_is_two_items(store: Store, pk: str) -> None:
    actions = [Put(key=Key(table, pk, "x"), item={"in": table.value}) for table in Table]
    assert store.transact(actions) == Committed()
    assert {key.table: item["in"] for key, item in store.batch_get([a.key for a in actions]).items()} == {
        table: table.value for table in Table
    }
