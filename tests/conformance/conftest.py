"""The adapters under test, one after the other; each test gets a partition that nobody else writes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from fencepost.application.store import Key, Store, Table
from tests.support.stores import engine_store, memory_store, moto_store, sqlite_store, wire_store

_serial = count(1)

STORES = [
    "memory",
    "sqlite",
    "moto",
    pytest.param("engine", marks=pytest.mark.engine),
    pytest.param("wire", marks=pytest.mark.engine),
]


@pytest.fixture(scope="module", params=STORES)
def adapter(request: pytest.FixtureRequest) -> str:
    """The name of the adapter under test."""
    return str(request.param)


@pytest.fixture(scope="module")
def store(
    adapter: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """The store under test, shared by the module's tests."""
    match adapter:
        case "memory":
            yield memory_store()
        case "sqlite":
            with sqlite_store(tmp_path_factory.mktemp("store") / "store.sqlite") as opened:
                yield opened
        case "moto":
            with moto_store() as opened:
                yield opened
        case "wire":
            yield wire_store(request.getfixturevalue("engine"))
        case _:
            yield engine_store(request.getfixturevalue("engine"))


@pytest.fixture
def pk() -> str:
    """A partition of the test's own."""
    return f"test-{next(_serial)}"


@pytest.fixture
def key(pk: str) -> Callable[..., Key]:
    """Makes keys in the test's own partition."""

    def make(sk: str = "item", table: Table = Table.JOBS) -> Key:
        return Key(table, pk, sk)

    return make
