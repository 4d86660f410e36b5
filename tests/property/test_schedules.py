"""What holds for every schedule at every instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

from hypothesis import assume, given
from hypothesis import strategies as st

from fencepost.domain.schedule import (
    CronSchedule,
    Schedule,
    count_occurrences,
    decode_schedule,
    describe,
    effective_instant,
    latest_occurrence,
    next_occurrence,
    occurrences,
    preview,
    schedule_to_wire,
    warnings,
)
from tests.support.cron_oracle import Oracle
from tests.support.schedules import crons, instants, schedules

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def following(schedule: Schedule, after: datetime) -> datetime:
    """The next occurrence of a schedule that has one."""
    found = next_occurrence(schedule, after)
    assume(found is not None)
    assert found is not None
    return found


@given(schedules(), instants())
def test_T07_the_next_one_is_always_later(schedule, after):
    found = next_occurrence(schedule, after)
    assert found is None or found > after


@given(schedules(), instants(), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_the_next_one_depends_on_nothing_but_where_one_asks(schedule, after, earlier):
    """Nothing lies between an instant and what follows it, from wherever one started."""
    found = following(schedule, after)
    assert next_occurrence(schedule, found - TICK) == found
    before = next_occurrence(schedule, after - earlier)
    assert before is not None
    assert before <= after or before == found


@given(schedules(), instants())
def test_the_latest_one_undoes_the_next(schedule, after):
    found = following(schedule, after)
    assert latest_occurrence(schedule, found, LONG_AGO) == found
    before = latest_occurrence(schedule, found - TICK, LONG_AGO)
    assert before is None or before <= after
    if before is not None:
        assert next_occurrence(schedule, before) == found


@given(schedules(), instants())
def test_all_lie_inside_the_bounds(schedule, after):
    for found in islice(occurrences(schedule, after), 3):
        assert schedule.start_at is None or found >= schedule.start_at
        assert schedule.end_at is None or found <= schedule.end_at


@given(schedules(), instants(), st.integers(1, 20))
def test_counting_is_walking(schedule, after, several):
    found = list(islice(occurrences(schedule, after), several))
    assume(found)
    assert count_occurrences(schedule, found[0], found[-1]) == len(found)
    assert count_occurrences(schedule, found[0], found[-1], limit=2) == min(2, len(found))


@given(schedules())
def test_the_wire_form_is_read_back(schedule):
    again = decode_schedule(schedule_to_wire(schedule))
    assert again == schedule
    assert schedule_to_wire(again) == schedule_to_wire(schedule)


@given(crons())
def test_the_canonical_text_can_stand_for_the_one_that_was_written(schedule):
    wire = schedule_to_wire(schedule) | {"cron": schedule.cron}
    assert decode_schedule(wire) == schedule


@given(schedules(), instants(), st.text("abcdefgh234567", min_size=4, max_size=20))
def test_jitter_keeps_the_order(schedule, after, uid):
    found = list(islice(occurrences(schedule, after), 3))
    due = [effective_instant(schedule, uid, nominal) for nominal in found]
    assert due == sorted(set(due))
    for nominal, instant in zip(found, due, strict=True):
        assert timedelta(0) <= instant - nominal <= timedelta(seconds=schedule.jitter_seconds)
        assert instant.microsecond % 1000 == 0


@given(schedules(), instants())
def test_a_preview_is_the_occurrences_themselves(schedule: Schedule, after: datetime):
    shown = preview(schedule, after, 3, {})
    assert [run.at for run in shown] == list(islice(occurrences(schedule, after), len(shown)))
    assert all(run.local == run.at for run in shown)
    assert describe(schedule)
    assert all(warnings(schedule))


@given(crons(), instants())
def test_a_run_is_at_a_minute_that_matches_or_was_moved_there(schedule: CronSchedule, after: datetime):
    oracle = Oracle(schedule.cron)
    for run in preview(schedule, after, 2, {}):
        assert run.moved == "gap" or oracle.matches(run.local.replace(tzinfo=None))
