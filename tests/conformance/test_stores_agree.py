"""Whatever is done to two stores alike, they answer alike and hold the same afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.adapters.memory.store import MemoryStore
from fencepost.application.store import (
    Absent,
    Check,
    Compare,
    Condition,
    Delete,
    InvalidWriteError,
    Key,
    Lacks,
    Lost,
    OneOf,
    Present,
    Put,
    Query,
    Store,
    Table,
    Update,
    either,
    every,
    items,
)
from tests.support.stores import PAGE, engine_store, memory_store, moto_store, sqlite_store, wire_store

Step: TypeAlias = tuple[str, Any]

TABLES = (Table.TIMERS, Table.EXECUTIONS)
SORT_KEYS = ("a", "b", "b0", "c")
NUMBERS = st.integers(-2, 3)
TEXTS = st.sampled_from(["", "x", "y"])
TRUTHS = st.booleans()
ATTRIBUTES = {"n": NUMBERS, "m": NUMBERS, "s": TEXTS, "t": TRUTHS}
_serial = count(1)


@st.composite
def item(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.sets(st.sampled_from(sorted(ATTRIBUTES))))
    return {name: draw(ATTRIBUTES[name]) for name in sorted(names)}


def compare(*, mixed: bool) -> st.SearchStrategy[Condition]:
    number, text = st.sampled_from(["n", "m"]), st.just("s")
    if mixed:
        number = text = st.sampled_from(sorted(ATTRIBUTES))
    operators = st.sampled_from(["=", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds(Compare, number, operators, NUMBERS),
        st.builds(Compare, text, operators, TEXTS),
        st.builds(Compare, st.just("t"), st.just("="), TRUTHS),
        st.builds(OneOf, number, st.lists(NUMBERS, max_size=3).map(tuple)),
        st.builds(Lacks, st.sampled_from(sorted(ATTRIBUTES))),
        st.sampled_from([Absent(), Present()]),
    )


def conditions(*, mixed: bool) -> st.SearchStrategy[Condition]:
    return st.recursive(
        compare(mixed=mixed),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: every(*parts)),
            st.lists(inner, max_size=3).map(lambda parts: either(*parts)),
        ),
        max_leaves=4,
    )


@st.composite
def action(draw: st.DrawFn, pk: str, *, mixed: bool) -> Put | Update | Delete | Check:
    key = Key(draw(st.sampled_from(TABLES)), pk, draw(st.sampled_from(SORT_KEYS)))
    condition = draw(conditions(mixed=mixed))
    match draw(st.sampled_from([Put, Update, Update, Delete, Check])):
        case cls if cls is Put:
            return Put(key=key, item=draw(item()), condition=draw(st.sampled_from([None, condition])))
        case cls if cls is Delete:
            return Delete(key=key, condition=draw(st.sampled_from([None, condition])))
        case cls if cls is Check:
            return Check(key=key, condition=condition)
    add_to = draw(st.sets(st.sampled_from(["n", "m"])))
    remove = draw(st.sets(st.sampled_from(["n", "s", "t"]))) - add_to
    changed = {name: value for name, value in draw(item()).items() if name not in add_to | remove}
    if not add_to | remove | changed.keys():
        changed["s"] = "only"
    return Update(
        key=key,
        set=changed,
        remove=tuple(sorted(remove)),
        add={name: draw(NUMBERS) for name in sorted(add_to)},
        condition=condition,
    )


@st.composite
def step(draw: st.DrawFn, pk: str, *, mixed: bool) -> Step:
    kind = draw(st.sampled_from(["write", "write", "transact", "transact", "query", "batch_delete"]))
    match kind:
        case "write":
            written = draw(action(pk, mixed=mixed).filter(lambda each: not isinstance(each, Check)))
            return kind, written
        case "transact":
            tokens = [None, f"{pk}-one", f"{pk}-two"] if mixed else [None]
            unique = st.lists(
                action(pk, mixed=mixed), min_size=1, max_size=4, unique_by=lambda each: each.key
            )
            return kind, (draw(unique), draw(st.sampled_from(tokens)))
        case "query":
            bound = st.sampled_from([None, "", "a", "b", "bb", "z"])
            return kind, Query(
                table=draw(st.sampled_from(TABLES)),
                pk=pk,
                first=draw(bound),
                last=draw(bound),
                forward=draw(st.booleans()),
                limit=draw(st.sampled_from([None, 1, PAGE, PAGE + 1])),
            )
        case _:
            keys = st.builds(Key, st.just(TABLES[0]), st.just(pk), st.sampled_from(SORT_KEYS))
            return kind, draw(st.lists(keys, max_size=3))


def answer(store: Store, kind: str, what: Any) -> Any:
    try:
        match kind:
            case "write":
                return store.write(what)
            case "transact":
                return store.transact(*what)
            case "query":
                return list(items(store, what))
            case _:
                return list(store.batch_delete(what))
    except InvalidWriteError:
        return InvalidWriteError


def contents(store: Store, pk: str) -> list[Any]:
    return [list(items(store, Query(table=table, pk=pk))) for table in TABLES]


def agree(stores: Sequence[Store], pk: str, steps: Sequence[Step]) -> None:
    for kind, what in steps:
        first, second = (answer(store, kind, what) for store in stores)
        assert first == second, (kind, what)
        keys = [Key(table, pk, sk) for table in TABLES for sk in SORT_KEYS]
        assert stores[0].batch_get(keys) == stores[1].batch_get(keys), (kind, what)
    assert contents(stores[0], pk) == contents(stores[1], pk)


def fresh_pk() -> str:
    return f"run-{next(_serial)}"


def programs(*, mixed: bool) -> st.SearchStrategy[tuple[str, list[Step]]]:
    return st.builds(fresh_pk).flatmap(
        lambda pk: st.tuples(st.just(pk), st.lists(step(pk, mixed=mixed), min_size=1, max_size=12))
    )


def test_sqlite_does_what_memory_does(tmp_path) -> None:
    with sqlite_store(tmp_path / "store.sqlite") as in_file:

        @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
        @given(program=programs(mixed=True))
        def check(program: tuple[str, list[Step]]) -> None:
            pk, steps = program
            agree([shared, in_file], pk, steps)

        shared = memory_store()
        check()


def test_the_dynamodb_adapter_does_what_memory_does() -> None:
    """On moto, with what it is known to get wrong left out: tokens, and comparing values of different kinds."""
    with moto_store() as in_moto:

        @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
        @given(program=programs(mixed=False))
        def check(program: tuple[str, list[Step]]) -> None:
            pk, steps = program
            agree([shared, in_moto], pk, steps)

        shared = memory_store()
        check()


@pytest.mark.engine
@pytest.mark.parametrize("opened", [engine_store, wire_store])
def test_the_engine_does_what_memory_does(engine, opened) -> None:
    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(program=programs(mixed=True))
    def check(program: tuple[str, list[Step]]) -> None:
        pk, steps = program
        agree([shared, in_engine], pk, steps)

    shared, in_engine = memory_store(), opened(engine)
    check()


def test_the_comparison_itself_notices_a_difference() -> None:
    """A store that forgets pages, and one that does not say what won, are found out."""
    steps: list[Step] = [("write", Put(key=Key(TABLES[0], "p", sk), item={"n": 1})) for sk in SORT_KEYS]

    class ForgetsPages(MemoryStore):
        def pages(self, query: Query):
            yield next(super().pages(query))

    with pytest.raises(AssertionError):
        agree([memory_store(), ForgetsPages(page_size=PAGE)], "p", steps)

    class NamesNoWinner(MemoryStore):
        def write(self, write):
            verdict = super().write(write)
            return Lost(None) if isinstance(verdict, Lost) else verdict

    lost = ("write", Put(key=Key(TABLES[0], "p", "a"), item={}, condition=Absent()))
    with pytest.raises(AssertionError):
        agree([memory_store(), NamesNoWinner(page_size=PAGE)], "p", [*steps, lost])
