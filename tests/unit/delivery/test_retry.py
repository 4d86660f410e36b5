"""The retry policy: exponential, jittered over the whole delay, within a budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.model import RetryPolicy
from fencepost.domain.outcome import Blocked, CircuitOpen, Failed, Refused, TimedOut, WorkerLost
from fencepost.domain.retry import Again, Never, after_failure, backoff, longest_delay
from fencepost.domain.states import Reason

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
FAILED = Failed(status=500, error="answered 500")
TEN = RetryPolicy(max_attempts=5, initial_delay=timedelta(seconds=10), multiplier=2.0)

policies = st.builds(
    RetryPolicy,
    max_attempts=st.integers(1, 50),
    initial_delay=st.timedeltas(timedelta(0), timedelta(hours=1)),
    multiplier=st.floats(1.0, 10.0),
    max_delay=st.timedeltas(timedelta(0), timedelta(days=1)),
)
fractions = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 10), (2, 20), (3, 40), (9, 2560), (10, 3600), (4000, 3600)]
)
def test_the_bound_doubles_up_to_the_maximum(attempt, seconds):
    assert longest_delay(TEN, attempt) == timedelta(seconds=seconds)


@given(policies, st.integers(1, 5000), fractions)
def test_R02_the_delay_is_anywhere_below_the_bound(policy, attempt, fraction):
    bound = longest_delay(policy, attempt)
    assert timedelta(0) <= backoff(policy, attempt, fraction) <= bound <= policy.max_delay


@given(policies, st.integers(1, 60), fractions)
def test_the_budget_decides_and_nothing_else(policy, attempt, fraction):
    verdict = after_failure(policy, attempt, FAILED, now=NOW, fraction=fraction)
    assert isinstance(verdict, Again) == (attempt < policy.max_attempts)
    if isinstance(verdict, Again):
        assert NOW <= verdict.at <= NOW + policy.max_delay


@pytest.mark.parametrize(
    "outcome",
    [FAILED, TimedOut(error="no answer"), Blocked(reason="inside"), CircuitOpen(), WorkerLost()],
)
def test_whatever_is_no_refusal_is_tried_again(outcome):
    assert isinstance(after_failure(TEN, 4, outcome, now=NOW, fraction=0.5), Again)
    spent = after_failure(TEN, 5, outcome, now=NOW, fraction=0.5)
    assert isinstance(spent, Never)
    assert spent.reason is Reason.BUDGET_SPENT


def test_a_refusal_is_final_at_once():
    verdict = after_failure(TEN, 1, Refused(status=410, error="gone"), now=NOW, fraction=0.5)
    assert isinstance(verdict, Never)
    assert verdict.reason is Reason.REFUSED


def test_a_target_may_ask_for_more_time_but_not_for_less():
    for wish, seconds in ((timedelta(seconds=90), 90), (timedelta(0), 5), (None, 5)):
        outcome = Failed(status=429, error="answered 429", retry_after=wish)
        verdict = after_failure(TEN, 1, outcome, now=NOW, fraction=0.5)
        assert isinstance(verdict, Again)
        assert verdict.at == NOW + timedelta(seconds=seconds)


def test_R03_an_attempt_at_an_open_circuit_waits_for_it():
    opens = NOW + timedelta(seconds=30)
    verdict = after_failure(TEN, 1, CircuitOpen(), now=NOW, fraction=0.1, not_before=opens)
    assert isinstance(verdict, Again)
    assert verdict.at == opens
