from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.registry.drafts import JobDraft, Settings, specify
from fencepost.application.registry.job_changes import (
    Current,
    Pause,
    created,
    deleted,
    edited,
    paused,
    resumed,
)
from fencepost.application.registry.moment import Moment
from fencepost.application.registry.usage import daily
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Team
from fencepost.domain.schedule import next_occurrence, occurrences, parse_schedule
from fencepost.domain.states import JobState

NOW = from_wire("2026-03-01T12:00:00Z")
HOOK = {"webhook": {"url": "https://example.com/hook"}}
SCHEDULES = [
    {"cron": "*/7 * * * *"},
    {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
    {"every": "PT13M", "anchor": "2026-03-01T00:00:00Z"},
    {"cron": "30 2 * * *", "timezone": "America/New_York"},
]


def spec(schedule, now=NOW, previous=None, **settings):
    draft = JobDraft(schedule=schedule, target=HOOK, settings=Settings(**settings))
    return specify(draft, now=now, previous=previous, team=Team(name="payments"), egress=EgressPolicy())


def make(schedule):
    change = created("payments", "job", "a" * 20, spec(schedule), Moment(now=NOW))
    return Current(job=change.job, detail=change.detail)


steps = st.lists(
    st.tuples(st.sampled_from(["edit", "pause", "resume", "nothing"]), st.integers(1, 500)), max_size=12
)


@given(steps, st.sampled_from(SCHEDULES), st.data())
def test_P7_every_occurrence_belongs_to_one_timer_or_one_range(moves, schedule, data):
    """Whatever is done to a job in whatever order: each occurrence after its creation is either in the life of a
    generation that fires, or in exactly one range record.
    """
    current, now = make(schedule), NOW
    begun, explained, ranges = NOW, [], []
    for move, minutes in moves:
        now += timedelta(minutes=minutes, milliseconds=7)
        at, change = Moment(now=now), None
        match move:
            case "edit":
                other = spec(data.draw(st.sampled_from(SCHEDULES)), now, current.job.schedule)
                change = edited(current, other, at)
            case "pause":
                change = paused(current, Pause(by="somebody"), at)
            case "resume":
                change = resumed(current, at)
            case _:
                pass
        if change is None:
            continue
        assert change.job.revision == current.job.revision + 1
        if change.regenerated:
            assert change.job.generation == current.job.generation + 1
            lived = list(take(current.job.schedule, begun, now))
            if current.job.state is JobState.ACTIVE:
                assert change.skipped is None
                explained += lived
            elif lived:
                assert change.skipped is not None
                assert (change.skipped.due, change.skipped.until) == (lived[0], lived[-1])
                ranges.append((lived[0], lived[-1]))
            else:
                assert change.skipped is None
            begun = now
        if change.timer is not None:
            assert change.timer.instant == next_occurrence(change.job.schedule, now)
            assert change.timer.instant > now
            assert change.timer.generation == change.job.generation
        current = Current(job=change.job, detail=change.detail)
    assert all(first <= last for first, last in ranges)
    assert all(earlier[1] < later[0] for earlier, later in pairwise(ranges))
    assert not any(first <= instant <= last for instant in explained for first, last in ranges)


def take(schedule, after, until):
    for instant in occurrences(schedule, after):
        if instant > until:
            return
        yield instant


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_an_equal_declaration_is_no_change(schedule):
    current = make(schedule)
    assert edited(current, spec(schedule, previous=current.job.schedule), Moment(now=NOW)) is None


def test_only_a_paused_or_broken_job_is_resumed():
    current = make(SCHEDULES[0])
    at = Moment(now=NOW)
    assert resumed(current, at) is None
    for state in (JobState.PAUSED, JobState.ERROR):
        assert resumed(replace(current, job=replace(current.job, state=state)), at) is not None


def test_a_tombstone_is_not_deleted_again():
    current = make(SCHEDULES[0])
    gone = deleted(current, Moment(now=NOW))
    assert gone is not None
    assert deleted(Current(job=gone.job, detail=gone.detail), Moment(now=NOW)) is None


@pytest.mark.parametrize(
    ("raw", "most"),
    [
        ({"cron": "* * * * *"}, 1440),
        ({"cron": "*/15 9-17 * * 1-5"}, 36),
        ({"cron": "0 0 1 1 *"}, 1),
        ({"every": "PT5S"}, 17_280),
        ({"every": "PT7H"}, 4),
        ({"every": "P2D"}, 1),
        ({"at": "2027-01-01T00:00:00Z"}, 0),
    ],
)
def test_the_most_firings_of_a_day(raw, most):
    schedule = parse_schedule(raw, now=NOW)
    assert daily(schedule) == most
    begin = from_wire("2026-06-01T00:00:00Z")
    if most:
        assert len(list(take(schedule, begin, begin + timedelta(days=1)))) <= most
