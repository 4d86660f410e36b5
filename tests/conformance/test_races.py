"""Many writers at once: nothing is won twice, nothing acknowledged is lost.

Not on moto: it loses acknowledged writes when a transaction is cancelled beside them, so it can judge no race.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fencepost.application.store import (
    Absent,
    Cancelled,
    Cause,
    Check,
    Committed,
    Compare,
    Delete,
    Item,
    Key,
    Lost,
    Present,
    Put,
    Query,
    Store,
    Table,
    Update,
    Won,
    either,
    equals,
    items,
)
from tests.conformance.conftest import STORES

ITEMS = 500
THREADS = 4

pytestmark = pytest.mark.parametrize(
    "adapter", [each for each in STORES if each != "moto"], indirect=True, scope="module"
)


def together(work: Callable[[int], Any], workers: int = THREADS) -> list[Any]:
    """The results of `work(0)`, `work(1)`.. done at once."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, range(workers)))


def test_two_claimers_share_500_timers_and_none_fires_twice(store: Store, pk: str) -> None:
    """Each claim makes an execution, plants the next timer and drops its own: all three, or none."""

    def claim(claimer: int) -> list[str]:
        won = []
        order = range(ITEMS) if claimer % 2 else range(ITEMS - 1, -1, -1)
        for number in order:
            verdict = store.transact(
                [
                    Put(
                        key=Key(Table.EXECUTIONS, f"{pk}-{number}", "execution"),
                        item={"by": claimer},
                        condition=Absent(),
                    ),
                    Put(key=Key(Table.TIMERS, pk, f"{number}-next-{claimer}"), item={"by": claimer}),
                ]
            )
            if verdict == Committed():
                won.append(f"{number}")
        return won

    claims = together(claim, workers=2)
    times = Counter(number for won in claims for number in won)
    assert times == {f"{number}": 1 for number in range(ITEMS)}
    for claimer, won in enumerate(claims):
        by = [f"{number}-next-{claimer}" for number in won]
        there = [timer["sk"] for timer in timers(store, pk) if timer["by"] == claimer]
        assert sorted(there) == sorted(by)


def timers(store: Store, pk: str) -> list[Item]:
    return list(items(store, Query(table=Table.TIMERS, pk=pk)))


def test_cancelled_transactions_leave_the_writes_of_others_alone(store: Store, pk: str) -> None:
    store.write(Put(key=Key(Table.JOBS, pk, "blocker"), item={}))

    def work(worker: int) -> None:
        for number in range(100):
            mine = Key(Table.JOBS, f"{pk}-{worker}", f"{number}")
            if worker % 2:
                assert store.write(Put(key=mine, item={"n": number}, condition=Absent())) == Won()
            else:
                blocked = Check(key=Key(Table.JOBS, pk, "blocker"), condition=Absent())
                assert isinstance(store.transact([Put(key=mine, item={}), blocked]), Cancelled)

    together(work)
    for worker in range(THREADS):
        there = list(items(store, Query(table=Table.JOBS, pk=f"{pk}-{worker}")))
        assert sorted(item["n"] for item in there) == (list(range(100)) if worker % 2 else [])


def test_no_addition_is_lost(store: Store, key) -> None:
    def add(worker: int) -> None:
        for _ in range(50):
            once = Update(key=key(), add={"n": 1}, condition=either(Absent(), Present()))
            assert store.write(once) == Won()
            assert store.transact([Update(key=key(), add={"n": 1}, condition=Present())]) == Committed()

    together(add)
    item = store.get(key())
    assert item is not None
    assert item["n"] == THREADS * 100


def test_a_version_is_written_over_once(store: Store, key) -> None:
    """Compare-and-set: every winner saw the version it replaced, so that the versions count the wins."""
    store.write(Put(key=key(), item={"version": 0}))

    def bump(worker: int) -> int:
        wins = 0
        seen = 0
        for _ in range(60):
            step = Update(key=key(), set={"version": seen + 1}, condition=equals("version", seen))
            match store.write(step):
                case Won():
                    wins += 1
                    seen += 1
                case Lost(item):
                    assert item is not None
                    seen = item["version"]
        return wins

    wins = sum(together(bump))
    item = store.get(key())
    assert item is not None
    assert item["version"] == wins > 0


def test_one_fence_one_holder(store: Store, key) -> None:
    """All go for the same lease: one takes it, the others are told who has it."""
    store.write(Put(key=key(), item={"fence": 0}))

    def take(worker: int) -> Won | Lost:
        return store.write(
            Update(key=key(), set={"fence": 1, "holder": worker}, condition=equals("fence", 0))
        )

    verdicts = together(take)
    (winner,) = [worker for worker, verdict in enumerate(verdicts) if verdict == Won()]
    for verdict in verdicts:
        assert verdict == Won() or (isinstance(verdict, Lost) and (verdict.item or {})["holder"] == winner)


def test_money_only_moves(store: Store, key) -> None:
    """Transfers between four accounts, some refused: the sum stays, and no account goes below nothing."""
    accounts = [key(f"account-{number}") for number in range(THREADS)]
    for account in accounts:
        store.write(Put(key=account, item={"money": 10}))

    def transfer(worker: int) -> None:
        for number in range(60):
            source, target = accounts[worker], accounts[(worker + 1 + number % 3) % THREADS]
            verdict = store.transact(
                [
                    Update(key=source, add={"money": -3}, condition=Compare("money", ">=", 3)),
                    Update(key=target, add={"money": 3}, condition=Present()),
                ]
            )
            if isinstance(verdict, Cancelled):
                assert verdict.reasons[1].cause is Cause.NONE

    together(transfer)
    money = [item["money"] for item in store.batch_get(accounts).values()]
    assert sum(money) == 10 * THREADS
    assert min(money) >= 0


def test_an_item_is_never_seen_half_written(store: Store, key) -> None:
    """One writes pairs, another reads: a `get` sees both halves of a write or neither."""
    store.write(Put(key=key(), item={"a": 0, "b": 0}))

    def work(worker: int) -> None:
        for number in range(100):
            if worker == 0:
                store.write(Update(key=key(), set={"a": number, "b": number}, condition=Present()))
            elif worker == 1:
                store.transact([Put(key=key(), item={"a": -number, "b": -number})])
            else:
                item = store.get(key())
                assert item is not None
                assert item["a"] == item["b"]

    together(work)


def test_deleting_and_putting_never_leaves_both_or_neither(store: Store, key) -> None:
    """A ball moves between two places, each move one transaction: there is always exactly one ball."""
    places = [key("left"), key("right")]
    store.write(Put(key=places[0], item={"ball": True}))

    def move(worker: int) -> int:
        moves = 0
        for number in range(60):
            source, target = places[(worker + number) % 2], places[(worker + number + 1) % 2]
            verdict = store.transact(
                [
                    Delete(key=source, condition=Present()),
                    Put(key=target, item={"ball": True}, condition=Absent()),
                ]
            )
            moves += verdict == Committed()
        return moves

    assert sum(together(move)) > 0
    assert len(store.batch_get(places)) == 1
