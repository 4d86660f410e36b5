"""Seeds that once were bad, each with what it showed when it was found; what is drawn has changed since. The smallest
stories of what was wrong in the service are what holds it: tests/scenario/*/test_found_by_simulation.py. Of a checker's
mistakes the seed is all there is."""

from __future__ import annotations

import pytest

from tests.simulation.verdict import judge_seed

REGRESSIONS = [
    ("mixed", 10, "a settled record was taken for the newer generation's claim, and its timer dropped"),
    ("mixed", 4, "a timer set aside left its job active without one"),
    ("mixed", 22, "a rival's lease overwrote an attempt that had been put off"),
    ("deliveries", 1, "a lease out of the backlog outlived the message that another hand acknowledged"),
    ("generations", 33, "a live worker was declared lost right after its heartbeat"),
    ("deliveries", 47, "a 202 written down late cut a lease"),
    ("generations", 43, "what was missed after a shared instant was explained by nobody"),
    ("deliveries", 2, "a second death was taken for told"),
    ("second thoughts", 3, "a lease was judged by what a neighbour had read before the resume"),
    ("released late", 5146, "a checker took the due that another schedule had moved since"),
    (
        "ends of waiting",
        9355,
        "a team with one slot and slow targets had more waiting than the bound leaves time for",
    ),
    ("deliveries", 9853, "whoever had stood still over a first death told of it after the second"),
]


@pytest.mark.parametrize(("profile", "seed", "showed"), REGRESSIONS, ids=lambda each: str(each)[:60])
def test_what_a_seed_once_showed_stays_away(profile: str, seed: int, showed: str):
    assert judge_seed(seed, profile).violations == (), showed
