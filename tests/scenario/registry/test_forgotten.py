"""Jobs that fire so seldom that nothing is left on record of their last firing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.codec_job import encode_job
from fencepost.application.store import Put
from fencepost.domain.instants import from_wire
from fencepost.domain.states import JobState
from tests.support.registry import Registry


@pytest.mark.parametrize("move", ["resume", "edit", "delete"])
def test_P7_what_ran_before_an_error_is_not_explained_anew(move: str) -> None:
    """It fired every second month for a year, and could not today."""
    registry = Registry.at("2026-03-01T12:00:00Z")
    registry.put("report", {"cron": "0 14 1 1,3,5,7,9,11 *"})
    job = registry.job("report")
    broken = replace(job, state=JobState.ERROR, created_at=from_wire("2025-01-15T00:00:00Z"))
    registry.store.write(Put(key=keys.job(job.uid), item=encode_job(broken)))
    registry.clock.set("2026-03-01T15:30:00Z")
    match move:
        case "resume":
            registry.resume("report")
        case "edit":
            registry.put("report", {"cron": "15 14 1 1,3,5,7,9,11 *"})
        case _:
            registry.delete("report")
    [span] = registry.records(job.uid)
    assert span.due == span.until == from_wire("2026-03-01T14:00:00Z")


@pytest.mark.parametrize("pauses", [1, 2])
def test_the_count_of_firings_goes_on_after_a_pause(pauses: int) -> None:
    """The third of four is planted, and of the two before it nothing is left."""
    registry = Registry.at("2026-03-10T12:00:00Z")
    registry.put("report", {"cron": "0 14 1 1,4,7,10 *", "max_firings": 4})
    [timer] = registry.timers()
    registry.store.write(Put(key=keys.timer(timer), item=encode_timer(replace(timer, ordinal=3))))
    for _ in range(pauses):
        registry.pause("report")
        registry.clock.advance(hours=1)
        registry.resume("report")
        registry.clock.advance(hours=1)
    newest = registry.timers(registry.job("report").generation)
    assert [(timer.instant, timer.ordinal) for timer in newest] == [(from_wire("2026-04-01T14:00:00Z"), 3)]


def test_a_schedule_that_is_declared_anew_counts_anew() -> None:
    registry = Registry.at("2026-03-10T12:00:00Z")
    registry.put("report", {"cron": "0 14 1 1,4,7,10 *", "max_firings": 4})
    [timer] = registry.timers()
    registry.store.write(Put(key=keys.timer(timer), item=encode_timer(replace(timer, ordinal=3))))
    registry.put("report", {"cron": "0 14 1 1,4,7,10 *", "max_firings": 5})
    registry.pause("report")
    registry.resume("report")
    [newest] = registry.timers(registry.job("report").generation)
    assert newest.ordinal == 1
