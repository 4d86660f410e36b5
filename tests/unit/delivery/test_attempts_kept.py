"""The list of attempts: the newest ones, each with a number of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.attempts import begun, closed, next_number, passed_over
from fencepost.domain.outcome import CircuitOpen, Delivered, Failed
from tests.unit.delivery.test_judgement import RECORD

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@given(st.lists(st.booleans(), max_size=20), st.integers(1, 6))
def test_only_the_newest_are_kept_and_every_one_is_counted(called, keep):
    record = RECORD
    for count, with_call in enumerate(called, 1):
        kept = (
            begun(record, fence=count, at=NOW, keep=keep)
            if with_call
            else passed_over(record, CircuitOpen(), at=NOW, keep=keep)
        )
        record = replace(record, attempts=kept.attempts, attempts_dropped=kept.dropped)
    numbers = [attempt.number for attempt in record.attempts]
    assert numbers == list(range(len(called) + 1))[1:][-keep:]
    assert record.attempts_dropped + len(record.attempts) == len(called)
    assert next_number(record) == len(called) + 1


def test_an_outcome_closes_the_attempt_of_the_present_fence_and_no_other():
    record = replace(RECORD, fence=1)
    record = replace(record, attempts=begun(record, fence=1, at=NOW, keep=5).attempts)
    record = replace(record, fence=2, attempts=begun(record, fence=2, at=NOW, keep=5).attempts)
    lost, done = closed(record, Delivered(status=200, excerpt="ok"), at=NOW + timedelta(seconds=1))
    assert (lost.outcome, lost.ended_at) == (None, None)
    assert (done.outcome, done.status, done.excerpt, done.ended_at) == (
        "delivered",
        200,
        "ok",
        NOW + timedelta(seconds=1),
    )


def test_what_is_told_of_an_attempt_has_its_bounds():
    record = replace(RECORD, fence=1)
    record = replace(record, attempts=begun(record, fence=1, at=NOW, keep=5).attempts)
    (attempt,) = closed(record, Failed(error="é" * 5000, excerpt="ü" * 5000), at=NOW)
    assert len((attempt.error or "").encode()) <= 256
    assert len((attempt.excerpt or "").encode()) <= 512
