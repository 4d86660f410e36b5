"""Errands that nobody can read: done by what else is known, or told apart from a failure that a repeat would heal."""

from __future__ import annotations

import pytest

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.errands.errand import ErrandKind, waiting
from fencepost.application.errands.forgetting import Forgetting
from fencepost.application.store import Present, Put, Table, Update
from tests.support.registry import Registry

SPOILED = [{"v": 1, "team": "payments"}, {"v": 1, "team": "payments", "expires": "soon", "since": "?"}]


def deleted(item: dict[str, object]) -> tuple[Registry, str]:
    """A job that was deleted a while ago, whose errand says no more than `item`."""
    registry = Registry.at("2026-03-01T12:00:00Z")
    registry.put("report")
    uid = registry.job("report").uid
    registry.delete("report")
    registry.store.write(Put(key=keys.errand(ErrandKind.FORGET, uid), item=item))
    registry.clock.advance(minutes=5)
    return registry, uid


@pytest.mark.parametrize("item", SPOILED)
def test_R10_what_a_deleted_job_left_expires_with_it_though_the_errand_does_not_say_when(
    item: dict[str, object],
) -> None:
    registry, uid = deleted(item)
    [errand] = waiting(registry.store)
    Forgetting(store=registry.store).run(errand, registry.clock.now())
    assert list(waiting(registry.store)) == []
    left = [each for each in registry.store.everything(Table.JOBS) if each["pk"] == f"J#{uid}"]
    assert len({each["expires"] for each in left}) == 1


@pytest.mark.parametrize("item", SPOILED)
def test_R10_one_that_nothing_says_is_set_aside_and_not_tried_again(item: dict[str, object]) -> None:
    registry, uid = deleted(item)
    registry.store.write(Update(key=keys.job(uid), remove=("expires",), condition=Present()))
    [errand] = waiting(registry.store)
    with pytest.raises(UndecodableError):
        Forgetting(store=registry.store).run(errand, registry.clock.now())
