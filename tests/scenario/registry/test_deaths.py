"""Deaths in a row pause their job, however many of its firings are claimed ahead of them or still tried again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.application.registry.aftermath import Aftermath
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Execution, Team
from fencepost.domain.states import ExecutionState, JobState
from tests.support.registry import Registry

S = ExecutionState
OFTEN = {"every": "PT5S", "anchor": "2026-03-01T00:00:00Z"}
AHEAD = 180
"""A quarter of an hour, which is about what may be claimed ahead."""


@pytest.fixture
def registry() -> Registry:
    made = Registry.at("2026-03-01T12:00:00Z")
    made.put("pulse", OFTEN, pause_after_dead=2)
    return made


def fired(registry: Registry, number: int, *states: ExecutionState) -> list[Execution]:
    """The job's firings from the `number`th after noon on, in these states."""
    job, noon = registry.job("pulse"), from_wire("2026-03-01T12:00:00Z")
    dues = (to_wire(noon + timedelta(seconds=5 * (number + place))) for place in range(len(states)))
    return [registry.execution(job, due, state) for due, state in zip(dues, states, strict=True)]


def state_after(registry: Registry, died: Execution) -> JobState:
    """What the job is in once its owner's wishes about that death are done."""
    job = registry.job("pulse")
    Aftermath(ports=registry.ports).settled(died, Team(name="payments"), job)
    return registry.job("pulse").state


@pytest.mark.parametrize(("ahead", "later"), [(S.QUEUED, AHEAD), (S.RETRY_WAIT, 1_500)])
def test_what_is_yet_to_end_hides_no_deaths_in_a_row(
    registry: Registry, ahead: ExecutionState, later: int
) -> None:
    _, died = fired(registry, 0, S.DEAD, S.DEAD)
    fired(registry, 2, *[ahead] * later)
    assert state_after(registry, died) is JobState.PAUSED


def test_a_success_behind_what_is_yet_to_end_breaks_the_row(registry: Registry) -> None:
    _, died, _ = fired(registry, 0, S.DEAD, S.DEAD, S.SUCCEEDED)
    fired(registry, 3, *[S.QUEUED] * AHEAD)
    assert state_after(registry, died) is JobState.ACTIVE


def test_one_death_behind_what_is_yet_to_end_is_no_row(registry: Registry) -> None:
    [died] = fired(registry, 0, S.DEAD)
    fired(registry, 1, *[S.QUEUED] * AHEAD)
    assert state_after(registry, died) is JobState.ACTIVE
