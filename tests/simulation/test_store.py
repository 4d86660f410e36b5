"""The simulated store is honest: it passes the suites that hold every adapter of the store."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from fencepost.application.store import Key, Store, Table
from fencepost.domain.instants import from_wire
from tests.conformance import test_scan, test_store, test_transactions
from tests.conformance.conftest import pk
from tests.simulation.journal import Journal
from tests.simulation.store import SimStore
from tests.support.stores import PAGE, START

__all__ = ["pk"]


@pytest.fixture
def adapter() -> str:
    return "simulated"


@pytest.fixture
def store() -> Store:
    now = from_wire(START)
    return SimStore(Journal(), lambda: now, between=lambda _: None, page_size=lambda: PAGE, strict=True)


@pytest.fixture
def key(pk: str) -> Callable[..., Key]:
    def make(sk: str = "item", table: Table = Table.JOBS) -> Key:
        return Key(table, pk, sk)

    return make


def _adopt(module: ModuleType) -> None:
    for name, value in vars(module).items():
        if name.startswith("test_") and callable(value):
            globals()[f"{name}__of_{module.__name__.rpartition('.')[2]}"] = value


for _module in (test_store, test_transactions, test_scan):
    _adopt(_module)
