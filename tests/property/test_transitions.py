"""Around every change of a zone's offset, Fencepost's runs are those of an oracle that looks at each minute.

`make test` walks a sample of the changes of 2020 to 2037, `make test-time` all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from fencepost.domain.schedule import (
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    latest_occurrence,
    next_occurrence,
)
from fencepost.domain.schedule.refusals import CronRefusedError, Reason
from fencepost.domain.schedule.zones import zone_names
from tests.support import expressions
from tests.support.cron_oracle import Oracle
from tests.support.tzif import Change, history, rule_sets

FIRST_YEAR, LAST_YEAR = 2020, 2037
REACH = timedelta(hours=26)
# With more runs than this, the hours next to the change are enough.
DENSE, NEAR = 200, timedelta(hours=4)
POLICIES = [(gap, overlap) for gap in ("after", "skip") for overlap in ("first", "last", "both")]
CHANGES = [(zone, change) for changes, zone in rule_sets(FIRST_YEAR, LAST_YEAR).items() for change in changes]
SHARDS = 16


def check(zone: str, change: Change, draw: Random, expressions_each: int) -> None:
    for _ in range(expressions_each):
        start, end = change.at - REACH, change.at + REACH
        near = change.at.replace(tzinfo=None) + draw.choice((change.before, change.after))
        text = expressions.near(near + timedelta(minutes=draw.randint(-90, 90)), draw)
        gap, overlap = draw.choice(POLICIES)
        oracle = Oracle(text, gap, overlap)
        schedule = _schedule(text, zone, None if oracle.wild else (gap, overlap))
        expected = oracle.runs(zone, start, end)
        if len(expected) > DENSE:
            start, end = change.at - NEAR, change.at + NEAR
            expected = [run for run in expected if start <= run < end]
        if schedule is not None:
            _compare(schedule, expected, start, end, draw)


def _schedule(text: str, zone: str, policy: tuple[str, str] | None) -> CronSchedule | None:
    """None for the few expressions drawn that match no day of any year."""
    gap, overlap = policy or ("after", "first")
    try:
        return CronSchedule(
            cron=text, timezone=zone, dst=DstPolicy(gap=Gap(gap), overlap=DstOverlap(overlap))
        )
    except CronRefusedError as refused:
        if {problem.reason for problem in refused.problems} == {Reason.NEVER_MATCHES}:
            return None
        raise


def _compare(
    schedule: CronSchedule, expected: list[datetime], start: datetime, end: datetime, draw: Random
) -> None:
    told = f"{schedule.text!r} as {schedule.cron!r} in {schedule.timezone}, {schedule.dst}, from {start}"
    found, at = [], next_occurrence(schedule, start - timedelta(seconds=1))
    while at is not None and at < end:
        found.append(at)
        at = next_occurrence(schedule, at)
    assert found == expected, told
    for _ in range(8):
        moment = start + timedelta(seconds=draw.randrange(int((end - start).total_seconds())))
        following = expected[bisect_right(expected, moment) :][:1]
        after = next_occurrence(schedule, moment)
        assert after is None or after > moment, told
        assert [after] == following if following else (after is None or after >= end), (
            f"{told}, after {moment}"
        )
        before = next(reversed(expected[: bisect_right(expected, moment)]), None)
        assert latest_occurrence(schedule, moment, start) == before, f"{told}, up to {moment}"


@pytest.mark.parametrize("seed", range(SHARDS))
def test_a_sample_of_the_changes(seed):
    draw = Random(seed)
    for zone, change in draw.sample(CHANGES, 4):
        check(zone, change, draw, 4)


@pytest.mark.time_full
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_change_of_every_rule_set(shard):
    for index, (zone, change) in enumerate(CHANGES[shard::SHARDS]):
        check(zone, change, Random(shard * 100_000 + index), 12)


def test_the_rule_sets_are_many_and_odd():
    shifts = {abs(change.after - change.before) // timedelta(minutes=1) for _, change in CHANGES}
    assert {30, 60, 120} <= shifts
    assert len(rule_sets(FIRST_YEAR, LAST_YEAR)) > 40


@pytest.mark.parametrize("zone", sorted({zone for zone, _ in CHANGES}))
def test_the_zone_files_are_read_alike(zone):
    """The oracle's reader and Python's agree on both sides of each change, so a difference is never theirs."""
    for change in history(zone).between(FIRST_YEAR, LAST_YEAR):
        for instant in (change.at - timedelta(seconds=1), change.at):
            assert instant.astimezone(ZoneInfo(zone)).utcoffset() == history(zone).offset(instant)


@pytest.mark.time_full
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_zone_until_the_last_year_taken(shard):
    """The walk of one change per zone and century's end: what only the closing rule of a zone file decides."""
    draw = Random(shard)
    for zone in sorted(zone_names())[shard::SHARDS]:
        changes = history(zone).between(2038, 2199)
        for change in draw.sample(changes, min(3, len(changes))):
            check(zone, change, draw, 2)
