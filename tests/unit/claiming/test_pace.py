"""How fast claims follow each other, and when their messages surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.application.messages import delay_seconds
from fencepost.application.scanning.pace import Pace
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Timer, TimerKind
from tests.support.clock import SettableClock

NOW = "2026-03-02T10:00:00.300Z"
DUE = "2026-03-02T10:02:30.000Z"
LIMITS = Limits()


def timers(count: int, due: str = DUE) -> list[Timer]:
    instant = from_wire(due)
    bucket = Bucket.at(instant, 0)
    return [
        Timer(
            bucket=bucket,
            kind=TimerKind.FIRE,
            instant=instant,
            due=instant,
            uid=f"{number:020d}",
            sequence=1,
        )
        for number in range(count)
    ]


def claimed(
    count: int, due: str = DUE, *, takes: float = 0.07, limits: Limits = LIMITS
) -> tuple[SettableClock, list[timedelta]]:
    """Claims so many in groups, each group taking so long; when the messages of each surface before due."""
    clock = SettableClock(NOW)
    pace = Pace.begin(clock, limits, limits.scan_budget)
    left: Sequence[Timer] = timers(count, due)
    early = []
    while left:
        group, rest = left[: limits.claim_group], left[limits.claim_group :]
        if not pace.wait(group, len(left)):
            break
        clock.advance(seconds=takes)
        ahead = group[0].due - clock.now()
        early.append(ahead - timedelta(seconds=delay_seconds(ahead, limits)))
        left = rest
    return clock, early


@pytest.mark.parametrize("due", [DUE, "2026-03-02T10:02:30.250Z", "2026-03-02T10:01:00.999Z"])
def test_messages_surface_shortly_before_they_are_due(due) -> None:
    _, early = claimed(132, due)
    assert early == [pytest.approx(LIMITS.surface_early, abs=timedelta(milliseconds=1))] * 4


def test_a_group_that_takes_longer_surfaces_later_and_never_late() -> None:
    for takes in (0.0, 0.2, 0.419, 0.5, 1.3):
        _, early = claimed(132, takes=takes)
        assert all(timedelta(0) <= each <= timedelta(seconds=1) for each in early), takes


def test_a_few_claims_are_made_at_the_least_rate() -> None:
    clock, early = claimed(132)
    spent = (clock.now() - from_wire(NOW)).total_seconds()
    assert len(early) == 4
    assert 3 <= spent <= 3 + 4, "a group a second; each waits for its moment"


def test_many_claims_take_most_of_the_time_there_is() -> None:
    patient = replace(LIMITS, scan_budget=timedelta(minutes=3))
    clock, early = claimed(6_600, limits=patient)
    spent = (clock.now() - from_wire(NOW)).total_seconds()
    assert len(early) == 200
    assert 75 <= spent <= 125, "the minutes until due less half a one"


def test_where_groups_follow_fast_nothing_waits_for_its_moment() -> None:
    clock, early = claimed(3_300, "2026-03-02T10:01:00.000Z", takes=0.0)
    spent = (clock.now() - from_wire(NOW)).total_seconds()
    assert len(early) == 100
    assert spent == pytest.approx(3_300 / 100, rel=0.05)


def test_what_is_past_due_never_waits() -> None:
    clock, early = claimed(330, "2026-03-02T09:00:00.000Z", takes=0.0)
    assert clock.slept == []
    assert len(early) == 10


def test_a_group_that_would_not_fit_into_the_pass_is_left_for_the_next() -> None:
    clock, early = claimed(1_650)
    assert len(early) < 50
    assert clock.now() - from_wire(NOW) < LIMITS.scan_budget


@pytest.mark.parametrize("ms", [100, 200, 269])
def test_what_is_due_in_a_moment_does_not_wait_for_its_moment(ms: int) -> None:
    due = from_wire(NOW) + timedelta(milliseconds=ms)
    clock, early = claimed(5, due.isoformat(), takes=0.0)
    assert clock.slept in ([], [timedelta(0)])
    assert len(early) == 1
