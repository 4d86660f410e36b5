"""The draw among a team's tiers."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.fair_share import WEIGHTS, draw
from fencepost.domain.model import Tier

FRACTIONS = st.floats(min_value=0, max_value=1, exclude_max=True)


def test_E4_all_four_tiers_share_by_eight_three_one_and_one() -> None:
    drawn = Counter(draw(set(Tier), step / 13) for step in range(13))
    assert drawn == {Tier.CRITICAL: 8, Tier.STANDARD: 3, Tier.BULK: 1, Tier.RECOVERY: 1}


def test_E4_only_tiers_that_wait_share() -> None:
    drawn = Counter(draw({Tier.STANDARD, Tier.BULK}, step / 4) for step in range(4))
    assert drawn == {Tier.STANDARD: 3, Tier.BULK: 1}


@given(waiting=st.sets(st.sampled_from(Tier), min_size=1), fraction=FRACTIONS)
def test_E4_whoever_is_drawn_waits_and_the_same_fraction_draws_the_same(
    waiting: set[Tier], fraction: float
) -> None:
    assert draw(waiting, fraction) in waiting
    assert draw(waiting, fraction) == draw(sorted(waiting, reverse=True), fraction)


@given(waiting=st.sets(st.sampled_from(Tier), min_size=1), tier=st.sampled_from(Tier))
def test_E4_a_tier_that_waits_is_never_starved(waiting: set[Tier], tier: Tier) -> None:
    waiting = waiting | {tier}
    whole = sum(WEIGHTS[each] for each in waiting)
    drawn = Counter(draw(waiting, (step + 0.5) / whole) for step in range(whole))
    assert drawn[tier] == WEIGHTS[tier]


@pytest.mark.parametrize(("waiting", "fraction"), [(set(), 0.5), ({Tier.BULK}, 1.0), ({Tier.BULK}, -0.1)])
def test_a_draw_that_nobody_can_make_is_a_bug_and_says_so(waiting: set[Tier], fraction: float) -> None:
    with pytest.raises(ValueError, match=r"it takes one and \[0, 1\)"):
        draw(waiting, fraction)
