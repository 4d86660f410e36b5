"""How many firings a job has left, whatever else is on record."""

from __future__ import annotations

from fencepost.application.registry.views import coming
from fencepost.domain.instants import from_wire
from fencepost.domain.states import ExecutionState, Reason
from tests.support.registry import Registry

HOURLY = {"cron": "0 * * * *"}


def test_the_count_of_firings_is_that_of_what_is_not_claimed_anew():
    """14:00 and 15:00 were claimed ahead when the job was paused; from the resume on they are planted again."""
    registry = Registry.at("2026-03-01T12:00:00Z")
    registry.put("thrice", {**HOURLY, "max_firings": 3})
    job = registry.job("thrice")
    registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED, ordinal=1)
    for ordinal, instant in ((2, "2026-03-01T14:00:00Z"), (3, "2026-03-01T15:00:00Z")):
        registry.execution(job, instant, ExecutionState.CANCELLED, ordinal=ordinal, reason=Reason.PAUSED)
    registry.clock.set("2026-03-01T13:30:00Z")
    registry.pause("thrice")
    registry.resume("thrice")

    [timer] = registry.timers(generation=3)
    assert (timer.instant, timer.ordinal) == (from_wire("2026-03-01T14:00:00Z"), 2)
    assert len(coming(registry.store, registry.job("thrice"), registry.clock.now())) == 2


def test_the_count_of_firings_goes_on_after_a_pause():
    registry = Registry.at("2026-03-01T12:00:00Z")
    registry.put("thrice", {**HOURLY, "max_firings": 3})
    job = registry.job("thrice")
    registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED, ordinal=1)
    registry.execution(job, "2026-03-01T14:00:00Z", ExecutionState.SUCCEEDED, ordinal=2)
    registry.clock.set("2026-03-01T14:30:00Z")
    registry.pause("thrice")
    registry.resume("thrice")

    [timer] = registry.timers(generation=3)
    assert timer.ordinal == 3
    ahead = coming(registry.store, registry.job("thrice"), registry.clock.now())
    assert len(ahead) == 1


def test_the_count_of_firings_is_not_hidden_by_what_another_schedule_left_behind():
    """13:28 had been claimed when the schedule was changed at 13:25, and lies after 13:26, which was all it may fire."""
    registry = Registry.at("2026-03-01T13:00:00Z")
    registry.put("once", {"cron": "28 * * * *"})
    left = registry.job("once")
    registry.execution(left, "2026-03-01T13:28:00Z", ExecutionState.CANCELLED, ordinal=1)
    registry.clock.set("2026-03-01T13:25:00Z")
    registry.put("once", {"cron": "26 * * * *", "max_firings": 1})
    registry.execution(registry.job("once"), "2026-03-01T13:26:00Z", ExecutionState.DEAD, ordinal=1)
    registry.clock.set("2026-03-01T13:40:00Z")
    registry.pause("once")
    registry.clock.set("2026-03-01T13:55:00Z")
    registry.resume("once")

    assert registry.job("once").exhausted
    assert registry.timers(generation=registry.job("once").generation) == []


def test_a_schedule_declared_anew_counts_anew():
    registry = Registry.at("2026-03-01T12:00:00Z")
    registry.put("thrice", {**HOURLY, "max_firings": 3})
    registry.execution(registry.job("thrice"), "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED, ordinal=3)
    registry.clock.set("2026-03-01T13:30:00Z")
    registry.pause("thrice")
    registry.put("thrice", {"cron": "15 * * * *", "max_firings": 3})
    registry.resume("thrice")
    [timer] = registry.timers(generation=4)
    assert timer.ordinal == 1

    registry.put("thrice", {**HOURLY, "max_firings": 3})  # as it was once, and declared anew
    registry.pause("thrice")
    registry.resume("thrice")
    [timer] = registry.timers(generation=7)
    assert timer.ordinal == 1
