"""Queries: every page, in order, within the range, whatever is written meanwhile."""

from __future__ import annotations

import pytest

from fencepost.application.store import Delete, Key, Put, Query, Store, Table, items


def filled(store: Store, pk: str, count: int) -> list[str]:
    names = [f"{number:03}" for number in range(count)]
    for name in names:
        store.write(Put(key=Key(Table.TIMERS, pk, name), item={"n": int(name)}))
    return names


def found(store: Store, pk: str, **options) -> list[str]:
    return [item["sk"] for item in items(store, Query(table=Table.TIMERS, pk=pk, **options))]


def test_a_query_reads_every_page_in_order(store: Store, pk: str) -> None:
    names = filled(store, pk, 10)
    filled(store, f"{pk}-other", 3)
    assert found(store, pk) == names
    assert found(store, pk, forward=False) == names[::-1]
    assert found(store, pk, strong=False) == names
    pages = list(store.pages(Query(table=Table.TIMERS, pk=pk)))
    assert len([page for page in pages if page]) > 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"first": "003"}, range(3, 10)),
        ({"last": "003"}, range(4)),
        ({"first": "002", "last": "007"}, range(2, 8)),
        ({"first": "0025", "last": "0069"}, range(3, 7)),
        ({"first": "005", "last": "005"}, range(5, 6)),
        ({"first": "006", "last": "005"}, range(0)),
        ({"first": "", "last": "001"}, range(2)),
        ({"last": ""}, range(0)),
        ({"limit": 4}, range(4)),
        ({"limit": 3}, range(3)),
        ({"limit": 0}, range(0)),
        ({"limit": 99}, range(10)),
        ({"first": "008", "limit": 7}, range(8, 10)),
        ({"forward": False, "limit": 4}, range(9, 5, -1)),
        ({"forward": False, "first": "002", "last": "006", "limit": 4}, range(6, 2, -1)),
        ({"forward": False, "last": "001"}, range(1, -1, -1)),
    ],
)
def test_a_query_keeps_to_its_range(store: Store, pk: str, options, expected) -> None:
    names = filled(store, pk, 10)
    assert found(store, pk, **options) == [names[number] for number in expected]


def test_nothing_to_find_is_no_error(store: Store, pk: str) -> None:
    assert found(store, pk) == []
    assert found(store, pk, first="a", forward=False) == []


def test_sort_keys_follow_their_utf8_bytes(store: Store, pk: str) -> None:
    names = ["", "Z", "a", "\xff", "\uffff", "\U00010000"][1:]
    for name in reversed(names):
        store.write(Put(key=Key(Table.TIMERS, pk, name), item={}))
    assert found(store, pk) == names


def test_a_reader_between_pages_sees_what_was_written_ahead_of_it(store: Store, pk: str) -> None:
    names = filled(store, pk, 7)
    pages = store.pages(Query(table=Table.TIMERS, pk=pk))
    seen = [item["sk"] for item in next(pages)]
    store.write(Put(key=Key(Table.TIMERS, pk, "0055"), item={}))
    store.write(Delete(key=Key(Table.TIMERS, pk, "006")))
    store.write(Delete(key=Key(Table.TIMERS, pk, seen[-1])))
    seen += [item["sk"] for page in pages for item in page]
    assert seen == [*names[:6], "0055"]
