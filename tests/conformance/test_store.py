"""Single writes, reads and queries: the same promises from every store."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, cast

import pytest

from fencepost.application.store import (
    Absent,
    Delete,
    InvalidWriteError,
    Key,
    Lacks,
    Lost,
    Present,
    Put,
    Query,
    Store,
    Table,
    Update,
    Won,
    Write,
    either,
    equals,
    items,
)
from fencepost.application.store import Compare as Is

VALUES = {
    "text": "Grüße, 世界 \U0001f552",
    "empty": "",
    "zero": 0,
    "negative": -7,
    "long": 12345678901234567890123456789012345678,
    "round": 10**30,
    "yes": True,
    "no": False,
    "bytes": b"\x00\xff\x10",
    "nothing": None,
    "list": ["a", 1, None, [True, {"deep": [b"x"]}], {}],
    "map": {"$bytes": "not bytes", "inner": {"n": -1}, "none": None},
}


def test_every_kind_of_value_comes_back(store: Store, key) -> None:
    assert store.write(Put(key=key(), item=VALUES)) == Won()
    assert store.get(key()) == VALUES | {"pk": key().pk, "sk": key().sk}


def test_a_value_keeps_its_type(store: Store, key) -> None:
    store.write(Put(key=key(), item={"one": 1, "true": True, "text": "1"}))
    item = store.get(key())
    assert item is not None
    assert [type(item[name]) for name in ("one", "true", "text")] == [int, bool, str]


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 9


def test_members_of_enums_come_back_as_plain_values(store: Store, key) -> None:
    item = {"colour": Colour.RED, "size": Size.BIG, "list": (Colour.RED,), "map": MappingProxyType({"a": 1})}
    store.write(Put(key=key(), item=item))
    assert store.write(Update(key=key(), set={"hit": True}, condition=equals("colour", Colour.RED))) == Won()
    assert store.write(Update(key=key(), set={"hit": True}, condition=equals("size", Size.BIG))) == Won()
    got = store.get(key())
    assert got is not None
    assert [type(got[name]) for name in ("colour", "size", "list", "map")] == [str, int, list, dict]
    assert (got["colour"], got["size"], got["list"], got["map"]) == ("red", 9, ["red"], {"a": 1})


def test_what_is_not_there_is_none(store: Store, key) -> None:
    assert store.get(key()) is None


def test_a_put_replaces_the_whole_item(store: Store, key) -> None:
    store.write(Put(key=key(), item={"a": 1, "b": 2}))
    store.write(Put(key=key(), item={"b": 3}))
    assert store.get(key()) == {"pk": key().pk, "sk": key().sk, "b": 3}


def test_the_second_to_put_if_absent_is_told_who_was_first(store: Store, key) -> None:
    assert store.write(Put(key=key(), item={"claim": "first"}, condition=Absent())) == Won()
    lost = store.write(Put(key=key(), item={"claim": "second"}, condition=Absent()))
    assert lost == Lost({"pk": key().pk, "sk": key().sk, "claim": "first"})
    assert store.get(key()) == {"pk": key().pk, "sk": key().sk, "claim": "first"}


def test_losing_against_nothing_says_so(store: Store, key) -> None:
    assert store.write(Update(key=key(), set={"a": 1}, condition=Present())) == Lost(None)
    assert store.write(Delete(key=key(), condition=equals("a", 1))) == Lost(None)
    assert store.get(key()) is None


def test_an_update_sets_removes_and_adds(store: Store, key) -> None:
    store.write(Put(key=key(), item={"keep": "k", "change": "old", "drop": [1], "count": 5}))
    update = Update(
        key=key(),
        set={"change": {"new": [1, 2]}, "fresh": None},
        remove=("drop", "never-there"),
        add={"count": -7, "begun": 3},
        condition=Present(),
    )
    assert store.write(update) == Won()
    assert store.get(key()) == {
        "pk": key().pk,
        "sk": key().sk,
        "keep": "k",
        "change": {"new": [1, 2]},
        "fresh": None,
        "count": -2,
        "begun": 3,
    }


def test_an_update_makes_the_item_unless_forbidden(store: Store, key) -> None:
    assert store.write(Update(key=key(), add={"n": 1}, condition=either(Absent(), Present()))) == Won()
    assert store.get(key()) == {"pk": key().pk, "sk": key().sk, "n": 1}


def test_an_update_that_only_removes_makes_the_item_too(store: Store, key) -> None:
    assert store.write(Update(key=key(), remove=("n",), condition=Absent())) == Won()
    assert store.get(key()) == {"pk": key().pk, "sk": key().sk}


def test_set_to_none_is_not_removed(store: Store, key) -> None:
    store.write(Put(key=key(), item={"a": None}))
    assert isinstance(store.write(Update(key=key(), set={"b": 1}, condition=Lacks("a"))), Lost)
    assert store.write(Update(key=key(), remove=("a",), condition=Present())) == Won()
    assert store.write(Update(key=key(), set={"b": 1}, condition=Lacks("a"))) == Won()


def test_compare_and_set_wins_once(store: Store, key) -> None:
    store.write(Put(key=key(), item={"fence": 1}))
    take = Update(key=key(), set={"fence": 2, "holder": "me"}, condition=equals("fence", 1))
    assert store.write(take) == Won()
    assert store.write(take) == Lost({"pk": key().pk, "sk": key().sk, "fence": 2, "holder": "me"})


def test_deleting_twice_is_fine(store: Store, key) -> None:
    store.write(Put(key=key(), item={}))
    assert store.write(Delete(key=key())) == Won()
    assert store.write(Delete(key=key())) == Won()
    assert store.get(key()) is None


def test_a_conditional_delete_leaves_what_does_not_fit(store: Store, key) -> None:
    store.write(Put(key=key(), item={"fence": 7}))
    assert store.write(Delete(key=key(), condition=equals("fence", 6))) == Lost(
        {"pk": key().pk, "sk": key().sk, "fence": 7}
    )
    assert store.write(Delete(key=key(), condition=equals("fence", 7))) == Won()


def test_a_batch_of_any_size_is_read(store: Store, key) -> None:
    there = [key(f"{number:03}", table) for number in range(110) for table in (Table.JOBS, Table.CONTROL)]
    for number, each in enumerate(there):
        store.write(Put(key=each, item={"n": number}))
    missing = [key("missing"), key("missing", Table.CONTROL)]
    got = store.batch_get([*there, *missing, *there[:5]])
    assert {each: item["n"] for each, item in got.items()} == {each: n for n, each in enumerate(there)}
    assert store.batch_get([]) == {}


def test_a_batch_of_any_size_is_deleted(store: Store, key) -> None:
    # The names differ, since moto takes the same key in two tables for one key twice.
    tables = (Table.TIMERS, Table.CONTROL)
    there = [key(f"{table}-{number:03}", table) for number in range(30) for table in tables]
    for each in there:
        store.write(Put(key=each, item={}))
    store.write(Put(key=key("stays", Table.TIMERS), item={}))
    assert list(store.batch_delete([*there, key("never-there"), there[0]])) == []
    assert store.batch_get(there) == {}
    assert store.get(key("stays", Table.TIMERS)) is not None
    assert list(store.batch_delete([])) == []


def test_what_was_given_and_got_is_a_copy(store: Store, key) -> None:
    item: dict[str, Any] = {"list": [1], "map": {"a": 1}}
    store.write(Put(key=key(), item=item))
    item["list"].append(2)
    got = store.get(key())
    assert got is not None
    got["map"]["a"] = 9
    (page,) = [page for page in store.pages(Query(table=Table.JOBS, pk=key().pk)) if page]
    page[0]["map"]["a"] = 9
    assert store.get(key()) == {"pk": key().pk, "sk": key().sk, "list": [1], "map": {"a": 1}}


def test_an_item_may_be_400_kb_and_no_byte_more(store: Store, adapter: str, pk: str) -> None:
    key = Key(Table.JOBS, pk, "x" * 100)
    room = 400 * 1024 - len("pk") - len(pk) - len("sk") - 100 - len("body")
    if adapter == "moto":
        room -= 5_000  # moto measures its own notation instead of the item
    assert store.write(Put(key=key, item={"body": "b" * room})) == Won()
    with pytest.raises(InvalidWriteError):
        store.write(Put(key=key, item={"body": "b" * (400 * 1024)}))
    with pytest.raises(InvalidWriteError):
        store.write(Update(key=key, set={"more": "b" * 5_000}, condition=Present()))
    assert store.get(key) == {"pk": pk, "sk": "x" * 100, "body": "b" * room}


def test_adding_to_a_text_is_refused(store: Store, key) -> None:
    store.write(Put(key=key(), item={"n": "text"}))
    with pytest.raises(InvalidWriteError):
        store.write(Update(key=key(), add={"n": 1}, condition=Present()))


REFUSED: dict[str, Callable[[Callable[..., Key]], Write]] = {
    "a float": lambda key: Put(key=key(), item={"n": 1.5}),
    "a float inside": lambda key: Put(key=key(), item={"n": [{"x": 0.5}]}),
    "a set": lambda key: Put(key=key(), item={"n": {"a", "b"}}),
    "39 digits": lambda key: Put(key=key(), item={"n": 10**38 + 1}),
    "half a character": lambda key: Put(key=key(), item={"n": "\ud800"}),
    "a nameless attribute": lambda key: Put(key=key(), item={"": 1}),
    "the key among the attributes": lambda key: Put(key=key(), item={"pk": "x"}),
    "an update of the key": lambda key: Update(key=key(), set={"sk": "x"}, condition=Present()),
    "an update of nothing": lambda key: Update(key=key(), condition=Present()),
    "one attribute twice": lambda key: Update(key=key(), set={"a": 1}, add={"a": 1}, condition=Present()),
    "adding a text": lambda key: Update(key=key(), add=cast("Any", {"a": "1"}), condition=Present()),
    "no sort key": lambda key: Put(key=key(""), item={}),
    "a sort key of 1,025 bytes": lambda key: Put(key=key("é" * 513), item={}),
    "an unknown comparison": lambda key: Delete(key=key(), condition=Is("a", "<>", 1)),
    "an ordered truth": lambda key: Delete(key=key(), condition=Is("a", "<", True)),
    "33 levels": lambda key: Put(key=key(), item={"a": nested(33)}),
}


def nested(depth: int):
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_never_be_written_is_refused(store: Store, key, what: str) -> None:
    with pytest.raises(InvalidWriteError):
        store.write(REFUSED[what](key))
    assert list(items(store, Query(table=Table.JOBS, pk=key().pk))) == []


def test_30_levels_are_fine(store: Store, key) -> None:
    assert store.write(Put(key=key(), item={"a": nested(30)})) == Won()
