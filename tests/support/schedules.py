"""Hypothesis strategies for schedules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from fencepost.domain.schedule import (
    CronSchedule,
    DstOverlap,
    DstPolicy,
    Gap,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
)
from fencepost.domain.schedule.fields import parse_cron
from fencepost.domain.schedule.refusals import CronRefusedError
from fencepost.domain.schedule.zones import zone_names
from tests.support.expressions import near

# Where the wall clock does something unusual, before the quiet ones.
ODD_ZONES = (
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "Antarctica/Troll",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "UTC",
)


def walls() -> st.SearchStrategy[datetime]:
    return instants().map(lambda instant: instant.replace(tzinfo=None))


def instants() -> st.SearchStrategy[datetime]:
    return st.builds(
        lambda seconds: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds),
        st.integers(0, 150 * 366 * 86_400),
    )


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """A valid expression in any form."""
    text = near(draw(walls()), Random(draw(st.integers(0, 2**32))))
    try:
        parse_cron(text)
    except CronRefusedError:
        assume(False)
    return text


def zones() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(ODD_ZONES), st.sampled_from(sorted(zone_names())))


@st.composite
def bounds(draw: st.DrawFn) -> dict[str, object]:
    """The keys common to all schedules, each there or not."""
    start, end = sorted(draw(st.tuples(instants(), instants())))
    every = {
        "start_at": start,
        "end_at": end,
        "max_firings": draw(st.integers(1, 1000)),
        "jitter_seconds": draw(st.integers(0, 86_400)),
        "exclude": tuple(draw(st.lists(st.sampled_from(["holidays", "freeze", "audit"]), max_size=3))),
    }
    kept = draw(st.sets(st.sampled_from(sorted(every))))
    return {key: value for key, value in every.items() if key in kept}


@st.composite
def crons(draw: st.DrawFn) -> CronSchedule:
    policy = DstPolicy(gap=draw(st.sampled_from(Gap)), overlap=draw(st.sampled_from(DstOverlap)))
    return CronSchedule(cron=draw(expressions()), timezone=draw(zones()), dst=policy, **draw(bounds()))  # type: ignore[arg-type] # drawn by key


def intervals() -> st.SearchStrategy[IntervalSchedule]:
    return st.builds(
        lambda seconds, anchor, rest: IntervalSchedule(
            every=timedelta(seconds=seconds), anchor=anchor, **rest
        ),
        st.one_of(st.integers(5, 7200), st.integers(5, 3660 * 86_400)),
        instants(),
        bounds(),
    )


def one_offs() -> st.SearchStrategy[OneOffSchedule]:
    return st.builds(lambda at, rest: OneOffSchedule(at=at, **rest), instants(), bounds())


def schedules() -> st.SearchStrategy[Schedule]:
    return st.one_of(crons(), intervals(), one_offs())
