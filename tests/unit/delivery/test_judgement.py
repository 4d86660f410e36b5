"""What a wake-up finds, from the record and the clock alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.identity import ExecutionId
from fencepost.domain.judgement import (
    Cancel,
    Duty,
    Early,
    Finished,
    Hold,
    Lapsed,
    LiveLease,
    Proceed,
    Ready,
    eligible,
    judge,
    started,
)
from fencepost.domain.limits import Limits
from fencepost.domain.model import EndedGeneration, Execution, Job, Misfire, Origin, Overlap, Tier
from fencepost.domain.schedule import parse_schedule
from fencepost.domain.states import FINAL, ExecutionState, JobState, Reason

S = ExecutionState
LIMITS = Limits()
DUE = datetime(2026, 3, 1, 9, tzinfo=UTC)
UID = "a" * 20
SCHEDULE = parse_schedule({"every": "PT1M", "anchor": "2026-01-01T00:00:00Z"}, now=DUE)
RECORD = Execution(
    id=ExecutionId.occurrence(UID, DUE),
    team="payments",
    job="report",
    state=S.QUEUED,
    origin=Origin.SCHEDULE,
    tier=Tier.STANDARD,
    due=DUE,
    generation=1,
    planted_generation=1,
    claimed_at=DUE - timedelta(minutes=3),
)
JOB = Job(
    team="payments",
    name="report",
    uid=UID,
    revision=1,
    generation=1,
    state=JobState.ACTIVE,
    schedule=SCHEDULE,
    detail="0" * 64,
    created_at=DUE,
    updated_at=DUE,
)


def ms(value):
    return timedelta(milliseconds=value)


def record(**facts):
    return replace(RECORD, **facts)


def step(at, **facts):
    return judge(record(**facts), DUE + at, LIMITS)


@pytest.mark.parametrize("state", [S.QUEUED, S.WAITING])
def test_before_due_a_firing_is_early_then_held_then_ready(state):
    assert isinstance(step(ms(-2001), state=state), Early)
    assert step(ms(-2000), state=state) == Hold(ms(2000), f"{state} and nearly due")
    assert isinstance(step(ms(-1), state=state), Hold)
    assert isinstance(step(ms(0), state=state), Ready)


def test_a_retry_is_due_at_its_own_instant():
    later = {"state": S.RETRY_WAIT, "retry_at": DUE + timedelta(minutes=5)}
    assert step(timedelta(minutes=4), **later) == Early(
        timedelta(minutes=1), step(timedelta(minutes=4), **later).why
    )
    assert isinstance(step(timedelta(minutes=5), **later), Ready)


def test_a_release_that_was_put_off_is_due_then():
    assert isinstance(step(ms(0), not_before=DUE + timedelta(seconds=30)), Early)
    assert isinstance(step(timedelta(seconds=30), not_before=DUE + timedelta(seconds=30)), Ready)


def test_D4_a_lease_lives_two_seconds_longer_for_takers():
    running = {"state": S.RUNNING, "fence": 5, "lease_until": DUE + timedelta(seconds=25)}
    live = step(timedelta(seconds=26), **running)
    assert isinstance(live, LiveLease)
    assert (live.remaining, live.until, live.watched) == (
        timedelta(seconds=1),
        DUE + timedelta(seconds=27),
        False,
    )
    assert isinstance(step(timedelta(seconds=27), **running), Lapsed)


def test_D7_a_watch_of_an_earlier_fence_watches_nothing():
    running = {"state": S.RUNNING, "fence": 5, "lease_until": DUE + timedelta(seconds=25)}
    for watch, watched in ((None, False), (4, False), (5, True)):
        live = step(ms(0), **running, watch=watch)
        assert isinstance(live, LiveLease)
        assert live.watched is watched


@pytest.mark.parametrize("state", sorted(FINAL))
def test_A1_what_is_final_may_still_owe_something(state):
    owes = step(ms(0), state=state, slot="3", overlap=Overlap.QUEUE)
    assert isinstance(owes, Finished)
    expected = {Duty.FREE_SLOT, Duty.RELEASE_LOCK} | ({Duty.TELL_DEAD_LETTERS} if state is S.DEAD else set())
    assert set(owes.duties) == expected
    assert step(ms(0), state=state, told=True) == Finished((), f"it is {state}")


@given(
    st.sampled_from(S),
    st.integers(-100_000, 100_000),
    st.none() | st.integers(-50_000, 50_000),
    st.none() | st.integers(-50_000, 50_000),
)
def test_every_record_has_exactly_one_next_step_and_it_is_never_early(state, at, lease, retry):
    facts = {
        "state": state,
        "lease_until": None if lease is None else DUE + ms(lease),
        "retry_at": None if retry is None else DUE + ms(retry),
    }
    found = step(ms(at), **facts)
    assert found.why
    if isinstance(found, Ready):
        assert DUE + ms(at) >= record(**facts).wake_at
    if isinstance(found, Early | Hold):
        assert DUE + ms(at) + found.remaining == record(**facts).wake_at
    assert isinstance(found, Finished) == (state in FINAL)
    assert isinstance(found, LiveLease | Lapsed) == (state is S.RUNNING)


def job(generation=1, state=JobState.ACTIVE, until=None, by=None):
    return replace(JOB, generation=generation, state=state, ended_until=until, ended_by=by)


def ended(until, by):
    return EndedGeneration(
        uid=UID,
        generation=1,
        until=until,
        ended_by=by,
        schedule=SCHEDULE,
        misfire=Misfire(),
        overlap=Overlap.ALLOW,
        tier=Tier.STANDARD,
    )


BEFORE, AFTER = DUE - timedelta(seconds=1), DUE + timedelta(seconds=1)
EDITED, PAUSED, DELETED = Reason.SUPERSEDED, Reason.PAUSED, Reason.DELETED


@pytest.mark.parametrize(
    ("facts", "job_now", "old", "reason"),
    [
        ({}, job(), None, None),
        ({}, job(2, until=BEFORE, by=EDITED), None, EDITED),
        ({}, job(2, until=DUE, by=EDITED), None, None),
        ({}, job(2, until=AFTER, by=EDITED), None, None),
        ({}, job(3, until=AFTER, by=PAUSED), ended(BEFORE, EDITED), EDITED),
        ({}, job(3, until=BEFORE, by=EDITED), ended(AFTER, EDITED), None),
        ({}, job(3, until=BEFORE, by=EDITED), None, None),
        ({}, job(2, JobState.PAUSED, until=BEFORE, by=PAUSED), None, PAUSED),
        ({}, job(2, JobState.PAUSED, until=AFTER, by=PAUSED), None, PAUSED),
        ({}, job(3, until=AFTER, by=PAUSED), ended(AFTER, PAUSED), PAUSED),
        ({}, job(2, JobState.DELETED, until=AFTER, by=DELETED), None, DELETED),
        ({}, job(2, JobState.ERROR, until=AFTER, by=EDITED), None, None),
        ({"fence": 9}, job(2, until=BEFORE, by=EDITED), None, None),
        ({"attempt": 1}, job(2, JobState.PAUSED, until=BEFORE, by=PAUSED), None, None),
        ({"fence": 9, "state": S.RETRY_WAIT}, job(2, JobState.DELETED), None, DELETED),
        ({"origin": Origin.RUN_NOW}, job(2, until=BEFORE, by=EDITED), None, None),
        ({"origin": Origin.BACKFILL}, job(2, JobState.PAUSED, until=BEFORE, by=PAUSED), None, PAUSED),
        ({"origin": Origin.RUN_NOW, "generation": 2}, job(2, JobState.PAUSED), None, None),
        (
            {"origin": Origin.RUN_NOW, "generation": 2},
            job(3, JobState.PAUSED, until=AFTER, by=EDITED),
            None,
            None,
        ),
        ({"origin": Origin.RUN_NOW}, job(3, JobState.PAUSED, until=AFTER, by=EDITED), None, PAUSED),
        ({"origin": Origin.RUN_NOW}, job(2, JobState.DELETED), None, DELETED),
        ({"due": AFTER}, job(2, until=DUE, by=EDITED), None, None),
    ],
)
def test_B4_who_may_begin(facts, job_now, old, reason):
    verdict = eligible(record(**facts), job_now, old)
    assert verdict.why
    if reason is None:
        assert isinstance(verdict, Proceed)
    else:
        assert isinstance(verdict, Cancel)
        assert verdict.reason is reason


def test_B3_the_nominal_instant_counts_not_the_jittered_one():
    jittered = record(due=DUE + timedelta(seconds=50))
    assert isinstance(eligible(jittered, job(2, until=DUE, by=EDITED), None), Proceed)


def test_what_has_an_attempt_has_started():
    assert not started(RECORD)
    assert started(record(fence=1))
    assert started(record(attempt=1))
