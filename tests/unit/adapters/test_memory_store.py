"""What the store in memory does beyond the port: tokens on a clock, a look at everything, no size it cannot bear."""

from __future__ import annotations

import pytest

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.sqlite.database import Database
from fencepost.adapters.sqlite.store import SqliteStore
from fencepost.application.store import (
    Absent,
    Cancelled,
    Committed,
    Key,
    Put,
    Query,
    Table,
    Update,
    items,
)
from fencepost.runtime.clock import monotonic_ms
from tests.support.clock import SettableClock

START = "2026-03-02T10:00:00.000Z"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_token_is_forgotten_after_ten_minutes(kind: str, tmp_path) -> None:
    clock = SettableClock(START)
    database = Database(tmp_path / "store.sqlite")
    store = MemoryStore(clock) if kind == "memory" else SqliteStore(database, clock)
    once = [Update(key=Key(Table.JOBS, "p", "s"), add={"n": 1}, condition=Absent())]
    assert store.transact(once, "token") == Committed()
    clock.advance(minutes=9, seconds=59)
    assert store.transact(once, "token") == Committed()
    clock.advance(seconds=1)
    assert isinstance(store.transact(once, "token"), Cancelled)
    database.close()


def test_everything_is_seen_in_the_order_of_keys() -> None:
    store = MemoryStore()
    for pk, sk in (("b", "1"), ("a", "2"), ("a", "1")):
        store.write(Put(key=Key(Table.JOBS, pk, sk), item={}))
    store.write(Put(key=Key(Table.TIMERS, "a", "1"), item={}))
    assert [(item["pk"], item["sk"]) for item in store.everything(Table.JOBS)] == [
        ("a", "1"),
        ("a", "2"),
        ("b", "1"),
    ]


def test_a_partition_of_100_000_items_is_read_from_its_middle_at_once() -> None:
    store = MemoryStore()
    for number in range(100_000):
        store.write(Put(key=Key(Table.TIMERS, "p", f"{number * 7919 % 100_000:06}"), item={}))
    begun = monotonic_ms()
    for number in range(1_000):
        first = f"{number * 97:06}"
        page = next(store.pages(Query(table=Table.TIMERS, pk="p", first=first)))
        assert page[0]["sk"] == first
    assert monotonic_ms() - begun < 2_000, "a query must not walk the partition"
    assert sum(1 for _ in items(store, Query(table=Table.TIMERS, pk="p"))) == 100_000
