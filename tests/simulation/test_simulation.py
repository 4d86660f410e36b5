"""A small set of histories in every run of the tests: some always the same, some new each time."""

from __future__ import annotations

import os

import pytest

from tests.simulation.campaign import campaign
from tests.simulation.draw import plan_of
from tests.simulation.journal import STRUCK
from tests.simulation.profiles import PROFILES
from tests.simulation.verdict import judge_seed, judged
from tests.simulation.world import simulate

FIXED = 3
RANDOM = 12
START = int(os.environ.get("SIM_START", "0")) or int.from_bytes(os.urandom(4))  # noqa: TID251 - new ground each time


# Teams of the profile `deaf` take three notices in ten, so that a death may be told after the history has ended.
@pytest.mark.parametrize("profile", sorted(PROFILES.keys() - {"deaf"}))
def test_the_same_histories_stay_good(profile: str):
    for seed in range(1, FIXED + 1):
        assert judge_seed(seed, profile).violations == ()


@pytest.mark.sim_random
@pytest.mark.parametrize("share", range(4))
def test_histories_that_nobody_has_seen_are_good(share: int):
    first = START + share * RANDOM
    print(f"make sim SEED=n, n from {first}: this run drew SIM_START={START}")
    tally = campaign(range(first, first + RANDOM // 4))
    assert [(bad.seed, bad.profile, bad.violations[0]) for bad in tally.bad] == []


def test_a_history_is_a_function_of_its_seed():
    one, other = (simulate(plan_of(7, "mixed")) for _ in range(2))
    told = [
        [(e[:3], str(e[3] and e[3].name), e[4:]) for e in history.journal.entries] for history in (one, other)
    ]
    assert repr(told[0]) == repr(told[1])


def test_a_history_is_as_large_as_it_has_to_be():
    plan = plan_of(11, "mixed")
    history = simulate(plan)
    struck = sum(entry[0] == STRUCK for entry in history.journal.entries)
    assert len(plan.teams) >= 3
    assert len(plan.jobs) >= 20
    assert history.ended_at >= 2 * 3_600_000_000
    assert history.firings >= 200
    assert struck >= 5
    assert judged(history) == ()


def test_without_faults_nothing_is_broken():
    assert judged(simulate(plan_of(5, "calm"))) == ()
