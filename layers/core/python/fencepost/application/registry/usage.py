"""How much of its limits a team uses: a count that is cheap and nearly right, and exact where it would refuse.

The count is kept beside the writes, never inside their transactions: an item that every writer of a team touches
would make them conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.registry.job_changes import Change
from fencepost.application.registry.reading import named_jobs
from fencepost.application.registry.results import OverLimit
from fencepost.application.store import (
    Absent,
    InvalidWriteError,
    Present,
    Put,
    Query,
    Store,
    StoreError,
    Update,
    either,
)
from fencepost.domain.model import Job, Team
from fencepost.domain.schedule import CronSchedule, IntervalSchedule, OneOffSchedule, Schedule
from fencepost.domain.states import JobState

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Usage:
    """How many jobs a team has, and how often they fire on a day on which all of them do."""

    jobs: int
    daily_firings: int

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.jobs + other.jobs, self.daily_firings + other.daily_firings)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.jobs - other.jobs, self.daily_firings - other.daily_firings)


NOTHING = Usage(0, 0)


def usage_of(job: Job | None) -> Usage:
    """What one job takes: nothing once it is deleted, no firings while it is paused."""
    if job is None or job.state is JobState.DELETED:
        return NOTHING
    return Usage(1, daily(job.schedule) if job.state is JobState.ACTIVE else 0)


def daily(schedule: Schedule) -> int:
    """The most firings that a day of 24 hours can bring; a single instant counts as none."""
    match schedule:
        case CronSchedule():
            return len(schedule.fields.minutes) * len(schedule.fields.hours)
        case IntervalSchedule():
            return -(-_DAY // schedule.every)
        case OneOffSchedule():
            return 0
        case _:
            assert_never(schedule)


def difference(change: Change) -> Usage:
    """How much more the team uses after a change; as far as that can be read, where it cannot."""
    gone = change.before if change.instead is None else change.instead.before
    return usage_of(change.job) - usage_of(None if gone is None else gone.job)


def note(store: Store, team: str, change: Change) -> None:
    """Keeps the count. A note that is lost is found out by `over_limit`. What a job took that could not be read is not
    known: without it all that are left are counted.
    """
    if change.instead is not None or (change.unread is not None and change.unread.as_read is not None):
        with suppress(StoreError):
            recount(store, team)
        return
    more = difference(change)
    if more == NOTHING:
        return
    write = Update(
        key=keys.usage(team),
        set={"v": VERSION},
        add={"jobs": more.jobs, "daily": more.daily_firings},
        condition=either(Absent(), Present()),
    )
    with suppress(StoreError):
        try:
            store.write(write)
        except InvalidWriteError:  # nothing can be added to what is no number
            recount(store, team)


def noted(store: Store, team: str) -> Usage:
    """The count as it stands; counted anew where nobody can read it."""
    item = store.get(keys.usage(team)) or {}
    jobs, often = item.get("jobs", 0), item.get("daily", 0)
    if not isinstance(jobs, int) or not isinstance(often, int):
        return recount(store, team)
    return Usage(max(0, jobs), max(0, often))


def over_limit(store: Store, team: Team, change: Change) -> OverLimit | None:
    """The limit that a change would exceed. Where the count says so, all jobs are counted and the count is mended."""
    more = difference(change)
    if more.jobs <= 0 and more.daily_firings <= 0:
        return None
    if _exceeded(team, noted(store, team.name), more) is None:
        return None
    return _exceeded(team, recount(store, team.name), more)


def recount(store: Store, team: str) -> Usage:
    """Counts what is there, and keeps the result."""
    total = sum(_used(store, team), NOTHING)
    item = {"v": VERSION, "jobs": total.jobs, "daily": total.daily_firings}
    store.write(Put(key=keys.usage(team), item=item))
    return total


def _exceeded(team: Team, used: Usage, more: Usage) -> OverLimit | None:
    after = used + more
    if more.jobs > 0 and after.jobs > team.max_jobs:
        return OverLimit("max_jobs", after.jobs, team.max_jobs)
    if more.daily_firings > 0 and after.daily_firings > team.max_daily_firings:
        return OverLimit("max_daily_firings", after.daily_firings, team.max_daily_firings)
    return None


def _used(store: Store, team: str) -> Iterator[Usage]:
    """By each of the team's jobs; one that cannot be read is one nevertheless, and fires no more."""
    names = keys.name_claim(team, "-")
    for page in store.pages(Query(table=names.table, pk=names.pk)):
        found = named_jobs(store, team, page)
        yield from map(usage_of, found.readable.values())
        yield from (Usage(1, 0) for _ in found.unreadable)
