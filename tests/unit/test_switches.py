"""Switches and what they held, as pure values."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.switches.codec import (
    StageSwitches,
    decode_halts,
    decode_stage,
    encode_halts,
    encode_stage,
)
from fencepost.domain.held import Held, Runs, after_hold
from fencepost.domain.instants import from_wire
from fencepost.domain.policies import Misfire, MisfirePolicy, Tier
from fencepost.domain.schedule import parse_schedule
from fencepost.domain.switches import Halt, paused, released, resumed, shut
from tests.support.switches import OPERATOR, halts

NOON = from_wire("2026-03-01T12:00:00Z")
MINUTE = timedelta(minutes=1)
GRACE = timedelta(seconds=60)
MINUTELY = parse_schedule({"cron": "* * * * *"}, now=NOON)
WANTED = Halt(tier=Tier.BULK, since=NOON, by=OPERATOR)


def after(minutes):
    return NOON + minutes * MINUTE


class TestHalts:
    def test_a_pause_holds_from_its_beginning_until_its_end(self):
        [halt] = halts(NOON, Tier.BULK)
        assert [halt.active(after(n)) for n in (-1, 0, 1)] == [False, True, True]
        ended = replace(halt, until=after(5))
        assert [ended.active(after(n)) for n in (4, 5)] == [True, False]

    def test_pausing_and_resuming_touch_the_tiers_that_are_named(self):
        held = paused((), (Tier.BULK, Tier.STANDARD), WANTED, NOON)
        assert shut(held, NOON) == {Tier.BULK, Tier.STANDARD}
        back = resumed(held, (Tier.BULK,), after(2))
        assert shut(back, after(2)) == {Tier.STANDARD}
        assert shut(back, after(1)) == {Tier.BULK, Tier.STANDARD}

    def test_what_ended_is_remembered_for_two_days_and_five_times(self):
        held: tuple[Halt, ...] = ()
        now = NOON
        for _ in range(9):
            held = resumed(
                paused(held, (Tier.BULK,), replace(WANTED, since=now), now), (Tier.BULK,), now + MINUTE
            )
            now += 2 * MINUTE
        assert len(held) == 5
        assert resumed(held, (), now + timedelta(hours=49)) == ()

    def test_a_pause_by_a_clock_that_is_ahead_outlives_flips_by_one_that_is_behind(self):
        ahead = timedelta(seconds=4)
        held = paused((), (Tier.BULK,), replace(WANTED, since=NOON + ahead), NOON + ahead)
        both = paused(held, (Tier.STANDARD,), WANTED, NOON)
        assert shut(both, NOON + ahead) == {Tier.BULK, Tier.STANDARD}
        assert shut(resumed(both, (Tier.STANDARD,), NOON), NOON + ahead) == {Tier.BULK}
        assert [halt.tier for halt in paused(both, (Tier.BULK,), WANTED, NOON)].count(Tier.BULK) == 1
        assert shut(resumed(both, (Tier.BULK,), NOON), NOON + ahead) == {Tier.STANDARD}

    def test_only_what_was_held_longer_than_the_grace_was_missed(self):
        held = resumed(halts(NOON, Tier.BULK), (Tier.BULK,), after(10))
        found = [
            released(held, Tier.BULK, after(due), GRACE, after(12)) is not None for due in (-5, 0, 8, 9, 11)
        ]
        assert found == [True, True, True, False, False]
        assert released(held, Tier.CRITICAL, after(0), GRACE, after(12)) is None
        assert released(held, Tier.BULK, after(0), GRACE, after(9)) is None

    @given(
        st.lists(
            st.tuples(st.booleans(), st.sets(st.sampled_from(list(Tier)), min_size=1), st.integers(1, 90)),
            max_size=12,
        )
    )
    def test_a_tier_is_shut_exactly_while_it_is_paused(self, flips):
        held: tuple[Halt, ...] = ()
        model: set[Tier] = set()
        now = NOON
        for off, tiers, minutes in flips:
            held = paused(held, tiers, replace(WANTED, since=now), now) if off else resumed(held, tiers, now)
            model = model | tiers if off else model - tiers
            now += minutes * MINUTE
            assert shut(held, now) == model
            assert len([halt for halt in held if halt.active(now)]) == len(model)

    @given(
        st.lists(
            st.builds(Halt, tier=st.sampled_from(list(Tier)), since=st.just(NOON), by=st.text(max_size=9))
        )
    )
    def test_they_are_stored_and_read_back(self, found):
        mine = tuple(replace(halt, whose="payments") for halt in found)
        assert decode_halts(encode_halts(mine) or (), "payments") == mine
        stage = StageSwitches(revision=3, halts=tuple(found))
        assert decode_stage(encode_stage(stage)) == stage


class TestHeld:
    @pytest.mark.parametrize("policy", MisfirePolicy)
    @given(order=st.permutations(range(8)), minutes=st.integers(3, 8))
    def test_whoever_is_judged_first_the_same_ones_run(self, policy, order, minutes):
        """Occurrences at minutes 0..minutes-1, the switch back right after: the last one was held too short to matter."""
        back = after(minutes) - timedelta(seconds=1)
        misfire = Misfire(policy=policy, window=timedelta(hours=1), max_runs=2)
        waiting = set(range(minutes))
        gone: set[int] = set()
        ran: set[int] = set()
        for number in order:
            if number not in waiting or back - after(number) <= GRACE:
                continue
            held = Held(nominal=after(number), last=after(number), back=back, grace=GRACE)

            def later_one_runs(number=number, edge=held.edge):
                return any(each > number and after(each) <= edge and each not in gone for each in waiting)

            verdict = after_hold(held, misfire, MINUTELY, later_one_runs)
            (ran if isinstance(verdict, Runs) else gone).add(number)
        missed = [number for number in range(minutes) if back - after(number) > GRACE]
        expected = {
            MisfirePolicy.SKIP: [],
            MisfirePolicy.RUN_ONCE_LATE: missed[-1:],
            MisfirePolicy.CATCH_UP: missed[-2:],
        }
        assert ran == set(expected[policy])

    def test_what_is_older_than_the_window_does_not_run(self):
        misfire = Misfire(policy=MisfirePolicy.RUN_ONCE_LATE, window=timedelta(minutes=5))
        held = Held(nominal=NOON, last=NOON, back=after(6), grace=GRACE)
        assert after_hold(held, misfire, MINUTELY, lambda: False) != Runs()
        assert after_hold(replace(held, last=after(1)), misfire, MINUTELY, lambda: False) == Runs()
