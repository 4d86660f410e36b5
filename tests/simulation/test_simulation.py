"""A small set of histories in every run of the tests: some always the same, some new each time."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.simulation.campaign import campaign
from tests.simulation.checkers.facts import facts_of
from tests.simulation.digests import digest, unaided
from tests.simulation.draw import plan_of
from tests.simulation.journal import STRUCK
from tests.simulation.profiles import PROFILES
from tests.simulation.verdict import judge_seed, judged
from tests.simulation.world import simulate

FIXED = 1
ON_TIME_MS = 5_000
HISTORIES = int(os.environ.get("SIM_N", "12"))
SHARES = 4


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_same_histories_stay_good(profile: str):
    assert judge_seed(FIXED, profile).violations == ()


@pytest.mark.parametrize("share", range(SHARES))
def test_histories_that_nobody_has_seen_are_good(share: int, sim_start: int):
    seeds = range(sim_start + share, sim_start + HISTORIES, SHARES)
    tally = campaign(seeds, stop_at=len(seeds))
    assert [(f"make sim SEED={bad.seed}", bad.profile, bad.violations[0]) for bad in tally.bad] == []


def test_a_history_is_a_function_of_its_seed_and_of_nothing_that_makes_it_quicker():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        plain = pool.submit(unaided, 7).result()
    assert digest(7) == plain
    assert digest(7) == plain
    assert digest(8) != plain


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


@pytest.mark.parametrize("seed", [5, 6])
def test_without_faults_everything_is_on_time(seed: int):
    plan = plan_of(seed, "calm")
    history = simulate(plan)
    facts = facts_of(history.journal.entries, plan.begin, history.ended_at, plan.faults_end)
    late = {
        identity: facts.clock(change.at) - change.old["due"]
        for identity, changes in facts.executions.items()
        for change in changes
        if change.move == "lease" and change.old is not None and change.old.get("attempt", 0) == 0
    }
    assert judged(history) == ()
    assert len(late) >= 200
    assert {identity: by for identity, by in late.items() if by > ON_TIME_MS} == {}
