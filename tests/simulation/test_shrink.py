"""What shrinking leaves of a bad plan: what makes it bad, and nothing else."""

from __future__ import annotations

import pytest

from tests.simulation.draw import plan_of
from tests.simulation.plan import Plan
from tests.simulation.shrink import Shrinker, breaks, parts_of


def test_a_plan_is_shrunk_to_what_makes_it_bad():
    plan = plan_of(7, "mixed")
    job, op, fault = plan.jobs[4], plan.ops[-1], plan.faults[2]

    def bad(tried: Plan) -> bool:
        return job in tried.jobs and op in tried.ops and fault in tried.faults and tried.skews == plan.skews

    shrinker = Shrinker(bad)
    small = shrinker.shrunk(plan)
    assert (small.jobs, small.ops, small.faults, small.troubles) == ((job,), (op,), (fault,), ())
    assert (small.odds, small.skews, small.page_size) == ({}, plan.skews, 25)
    assert not small.whole
    assert shrinker.tries > 150


def test_it_ends_when_it_has_tried_often_enough():
    tried: list[Plan] = []

    def bad(plan: Plan) -> bool:
        tried.append(plan)
        return len(tried) % 3 == 0

    Shrinker(bad, tries=10).shrunk(plan_of(7, "mixed"))
    assert len(tried) == 10


def test_a_history_that_is_good_breaks_nothing():
    assert not breaks("a ledger: nothing")(plan_of(5, "calm"))


@pytest.mark.parametrize("part", ["jobs", "ops", "faults"])
def test_what_is_left_is_told_a_line_each(part: str):
    plan = plan_of(7, "mixed")
    lines = list(parts_of(plan))
    assert len(lines) == 1 + sum(
        len(getattr(plan, name)) for name in ("teams", "jobs", "ops", "faults", "troubles")
    )
    named = {"jobs": "job ", "ops": "owner wants ", "faults": "fault "}[part]
    assert sum(line.startswith(named) for line in lines) == len(getattr(plan, part))
