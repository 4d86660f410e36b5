"""One team's storm, and what its neighbours notice of it; tiers beside each other, and inside one capped team."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fencepost.domain.model import Tier
from tests.scenario.storm.model import Called, Storm

BUDGET = 10
"""AWS calls of a firing that is alone in its batch, SQS included."""


def in_order(calls: list[Called]) -> bool:
    """The oldest due first, but for those that ran side by side."""
    dues = [call.due for call in calls]
    return dues == sorted(dues)


@pytest.mark.parametrize("crowd", [1_000, pytest.param(50_000, marks=pytest.mark.storm_full)])
def test_F01_a_capped_teams_crowd_holds_up_nobody_and_all_of_it_runs(crowd: int) -> None:
    storm = Storm()
    storm.team("noisy", cap=5)
    storm.team("quiet", cap=50)
    storm.due("noisy", crowd)
    storm.due("quiet", 1)
    storm.run(6)
    [only] = storm.began("quiet")
    assert only.began / 1e6 - 1.0 <= 5.0
    storm.run(crowd / 5 * 0.3 + 120)
    ran = storm.began("noisy")
    assert len(ran) == len({call.execution for call in ran}) == crowd
    assert storm.most["noisy"] <= 5
    calls = sum(storm.calls.values()) / (crowd + 1)
    assert calls <= 3 * BUDGET, storm.calls


def test_E4_within_a_tier_the_oldest_due_goes_first() -> None:
    storm = Storm()
    storm.team("noisy", cap=1)
    storm.due("noisy", 60, step=0.05)
    storm.run(60)
    ran = storm.began("noisy")
    assert len(ran) == 60
    overtaken = sum(earlier.due > later.due for earlier, later in pairwise(ran))
    assert overtaken <= 6, "some that were handed a slot in one moment may change places"


@pytest.mark.parametrize("crowd", [1_000, pytest.param(10_000, marks=pytest.mark.storm_full)])
def test_P6_a_crowd_in_bulk_costs_critical_nothing_and_bulk_finishes(crowd: int) -> None:
    alone, beside = Storm(), Storm()
    for storm in (alone, beside):
        storm.team("one", cap=200)
        storm.team("two", cap=200)
        storm.due("one", 200, tier=Tier.CRITICAL, step=0.01)
    beside.due("two", crowd, tier=Tier.BULK)
    alone.run(30)
    beside.run(crowd * 0.2 / 200 * 3 + 60)
    p99 = [storm.lateness("one", Tier.CRITICAL)[197] for storm in (alone, beside)]
    assert p99[1] <= p99[0] * 1.05 + 0.01
    assert len(beside.began("two", Tier.BULK)) == crowd


def test_P6_inside_a_capped_team_bulk_goes_on_while_critical_is_always_full() -> None:
    storm = Storm()
    storm.team("mixed", cap=4)
    storm.due("mixed", 120, tier=Tier.BULK)
    storm.due("mixed", 900, tier=Tier.CRITICAL)
    storm.run(41)
    critical, bulk = (storm.began("mixed", tier) for tier in (Tier.CRITICAL, Tier.BULK))
    assert len(critical) < 900, "critical is full all the time"
    share = len(bulk) / (len(critical) + len(bulk))
    assert 0.04 <= share <= 0.2, (len(critical), len(bulk))
    assert storm.most["mixed"] <= 4


def test_H08_the_minutes_first_second_is_normal_load_even_with_a_tenfold_team_in_it() -> None:
    storm = Storm()
    teams = [f"team-{letter}" for letter in "abcdefgh"]
    for team in teams:
        storm.team(team, cap=150)
        storm.due(team, 102)
    storm.team("tenfold", cap=50)
    storm.due("tenfold", 1_020)
    storm.run(20)
    late = sorted(seconds for team in teams for seconds in storm.lateness(team, Tier.STANDARD))
    assert len(late) == 816
    assert late[int(len(late) * 0.99)] <= 5.0
    assert late[0] >= 0.0
    assert storm.most["tenfold"] <= 50
