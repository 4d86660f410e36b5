"""How long the records of successes are kept: a job's newest ones, a team's sample, and everything for two days.

What did not succeed is kept for the team's whole retention; whatever is here concerns successes alone. The expiry is
known when the record is written for the last time, so that nothing ever has to be trimmed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.domain.identity import hashed
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.schedule.cadence import enough_by
from fencepost.domain.states import JobState

FLOOR = Limits().record_min_life
"""Nothing is forgotten sooner: a record is what keeps its occurrence from being claimed again."""
NEWEST = 100
"""How many of a job's successes are kept where a team's volume is thinned and its job does not say."""
THINNEST = 4096
"""At least one success in so many is kept whole, however small a team's volume is."""
_DAY = timedelta(days=1)


def success_kept_until(record: Execution, ended: datetime, whole: datetime, team: Team, job: Job) -> datetime:
    """When the record of a success that ended at `ended` may go; `whole` is the end of the team's retention for it.

    A job's newest ones are told by its cadence: a record may go once so many more occurrences have come. A job that
    does not fire any more keeps what it has.
    """
    newest = _newest(record, team, job)
    least = max(ended, record.due) + FLOOR
    if newest is None or least >= whole or not _goes_on(record, job, newest):
        return whole
    outlived = enough_by(job.schedule, max(ended, record.due), newest, whole)
    return whole if outlived is None else max(least, outlived)


def kept_one_in(max_records: int | None, retention: timedelta, daily: int) -> int:
    """One success in how many a team may keep for its whole retention, if its schedules bring `daily` firings a day: a
    power of two, so that it seldom changes. The first two days of all of them are kept whatever that comes to.
    """
    if max_records is None:
        return 1
    older = daily * max(0, retention // _DAY - FLOOR // _DAY)
    room = max_records - daily * (FLOOR // _DAY)
    one_in = 1
    while one_in < THINNEST and older > room * one_in:
        one_in *= 2
    return one_in


def may_be_thinned(team: Team, since: datetime) -> bool:
    """Whether a success of the team that ended after `since` may have gone before its time."""
    return team.kept_one_in > 1 or (team.thinned_until is not None and team.thinned_until > since)


def thinned_between(team: Team, job: Job, now: datetime) -> tuple[datetime, datetime] | None:
    """From when to when an occurrence of the job's present schedule that has no record succeeded; None for no such time."""
    begin = max(now - team.retention, job.ended_until or job.created_at)
    thinned = job.keep_newest is not None or may_be_thinned(team, begin)
    return (begin, now - FLOOR) if thinned and begin < now - FLOOR else None


def _newest(record: Execution, team: Team, job: Job) -> int | None:
    """How many of the job's successes are kept; None: this one stays for the whole retention."""
    if job.keep_newest is not None:
        return job.keep_newest
    sampled = team.kept_one_in <= 1 or not hashed(str(record.id), team.kept_one_in)
    return None if sampled else NEWEST


def _goes_on(record: Execution, job: Job, newest: int) -> bool:
    """Whether so many more firings are allowed to come."""
    most = job.schedule.max_firings
    if job.state is not JobState.ACTIVE or job.exhausted:
        return False
    return most is None or record.ordinal + newest <= most
