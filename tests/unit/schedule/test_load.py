"""The load of a day is what walking every occurrence would count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.schedule import IntervalSchedule, occurrences
from fencepost.domain.schedule.load import MINUTES, load

DAY = datetime(2026, 3, 2, tzinfo=UTC)
SECONDS = st.integers(-100_000, 200_000).map(lambda seconds: DAY + timedelta(seconds=seconds))


@given(every=st.integers(5, 5_000), anchor=SECONDS, start_at=st.none() | SECONDS, end_at=st.none() | SECONDS)
def test_intervals_are_counted_without_walking_them(every, anchor, start_at, end_at):
    schedule = IntervalSchedule(
        every=timedelta(seconds=every), anchor=anchor, start_at=start_at, end_at=end_at
    )
    walked = [0] * MINUTES
    for at in occurrences(schedule, DAY - timedelta(microseconds=1)):
        if at >= DAY + timedelta(days=1):
            break
        walked[(at - DAY) // timedelta(minutes=1)] += 1

    assert list(load([schedule], DAY)) == walked


def test_equal_schedules_add_up():
    schedule = IntervalSchedule(every=timedelta(hours=1), anchor=DAY)

    assert load([schedule] * 7, DAY)[:61] == (7, *(0,) * 59, 7)
