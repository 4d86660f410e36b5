"""The seam: everything passes it, nothing notices it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import CallCounter, PortCall, seamed
from fencepost.application.store import (
    Absent,
    Key,
    OutcomeUnknownError,
    Put,
    Query,
    Store,
    StoreBusyError,
    Table,
    Won,
    items,
)

QUERY = Query(table=Table.JOBS, pk="p")


def put(name: str) -> Put:
    return Put(key=Key(Table.JOBS, "p", name), item={}, condition=Absent())


def filled(count: int) -> MemoryStore:
    store = MemoryStore(page_size=2)
    for number in range(count):
        store.write(put(f"{number}"))
    return store


def test_a_seamed_port_answers_like_the_port_and_is_counted() -> None:
    counter = CallCounter()
    store: Store = seamed(filled(5), "store", counter)
    assert store.write(put("x")) == Won()
    assert store.get(Key(Table.JOBS, "p", "nothing")) is None
    assert [item["sk"] for item in items(store, QUERY)] == ["0", "1", "2", "3", "4", "x"]
    assert (counter.of("store", "write"), counter.of("store", "get")) == (1, 1)
    assert counter.of("store", "pages") == 4  # three pages of two, and the empty one that proved the end
    assert counter.of("store") == 6
    assert counter.of("queues") == 0
    counter.clear()
    assert counter.of("store") == 0


def test_the_first_around_is_the_outermost_and_sees_the_arguments() -> None:
    seen: list[str] = []

    def named(name: str):
        def around(call: PortCall, proceed):
            seen.append(f"{name} before {call.port}.{call.method} {call.args[0].key.sk}")
            result = proceed()
            seen.append(f"{name} after")
            return result

        return around

    seamed(MemoryStore(), "store", named("outer"), named("inner")).write(put("x"))
    assert seen == ["outer before store.write x", "inner before store.write x", "inner after", "outer after"]


def test_seams_may_be_put_around_seams() -> None:
    inner, outer = CallCounter(), CallCounter()
    store = seamed(seamed(filled(3), "inner", inner), "outer", outer)
    assert len(list(items(store, QUERY))) == 3
    assert inner.of("inner", "pages") == outer.of("outer", "pages") == 2


def test_a_fault_before_leaves_the_port_alone_and_one_after_does_not() -> None:
    def before(call: PortCall, proceed):
        raise StoreBusyError

    def after(call: PortCall, proceed):
        proceed()
        raise OutcomeUnknownError

    store = MemoryStore()
    with pytest.raises(StoreBusyError):
        seamed(store, "store", before).write(put("before"))
    with pytest.raises(OutcomeUnknownError):
        seamed(store, "store", after).write(put("after"))
    assert [item["sk"] for item in items(store, QUERY)] == ["after"]


def test_a_fault_may_strike_between_pages() -> None:
    def second_page(call: PortCall, proceed):
        if call.method == "pages" and call.page == 1:
            raise StoreBusyError
        return proceed()

    pages = seamed(filled(5), "store", second_page).pages(QUERY)
    assert len(next(pages)) == 2
    with pytest.raises(StoreBusyError):
        next(pages)


def test_failed_calls_are_counted() -> None:
    def fails(call: PortCall, proceed):
        raise StoreBusyError

    counter = CallCounter()
    store = seamed(MemoryStore(), "store", counter, fails)
    with pytest.raises(StoreBusyError):
        store.write(put("x"))
    with pytest.raises(StoreBusyError):
        list(store.pages(QUERY))
    assert (counter.of("store", "write"), counter.of("store", "pages")) == (1, 1)


def test_counting_survives_threads() -> None:
    counter = CallCounter()
    store = seamed(MemoryStore(), "store", counter)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: store.write(put(f"{number}")), range(400)))
    assert counter.of("store", "write") == 400


def test_what_is_no_method_passes_as_it_is() -> None:
    class Port:
        answer = 42

    assert seamed(Port(), "port", CallCounter()).answer == 42
