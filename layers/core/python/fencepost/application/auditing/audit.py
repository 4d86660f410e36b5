"""Audits one job: its occurrences between two instants, a bounded page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.application.auditing.history import read_history
from fencepost.application.auditing.reading import goes_on, read_by_hand, read_page
from fencepost.application.codec import UndecodableError
from fencepost.application.planting import fire_timer
from fencepost.application.scanning.succession import lies
from fencepost.application.store import Store
from fencepost.domain.auditing.findings import Finding, FindingKind
from fencepost.domain.auditing.history import Era
from fencepost.domain.auditing.ledger import Gap, compare
from fencepost.domain.auditing.single import Moment, by_hand
from fencepost.domain.instants import MINUTE, to_wire
from fencepost.domain.keeping import may_be_thinned
from fencepost.domain.limits import Limits
from fencepost.domain.model import Job, Team
from fencepost.domain.schedule import count_occurrences, next_occurrence

SETTLED = 10 * MINUTE
"""How long after it is due an occurrence must have its record, or a timer that will make one."""
PAGE = 500
"""The most records of one job that a page reads."""
_COUNTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The occurrences in [since, before) are audited, as of `now`. What is younger than `SETTLED` is left alone.

    `thinned`: records of the team's successes may have gone before the end of its retention.
    """

    since: datetime
    before: datetime
    now: datetime
    limits: Limits
    thinned: bool = False

    @property
    def end(self) -> datetime:
        """Where judging ends."""
        return min(self.before, self.now - SETTLED)

    def within(self, team: Team) -> Window:
        """Without the time whose records may be deleted by now."""
        kept = self.now - max(team.retention, self.limits.record_min_life)
        thinned = may_be_thinned(team, kept)
        return replace(self, since=max(self.since, kept), thinned=thinned)

    @property
    def whole_since(self) -> datetime:
        """From here on no record can have gone, thinned or not."""
        return self.now - self.limits.record_min_life


@dataclass(slots=True, kw_only=True)
class JobAudit:
    """What a page of a job's audit came to. `explained`: occurrences, or runs of them, that the ledger explains;
    `pending`: not claimed yet, but a timer is there that will be; `unjudged`: stretches between records that other
    time-zone rules decided about, or whose successes may have been thinned out. `after`: where to go on, None at the end.
    """

    job: Job
    findings: list[Finding] = field(default_factory=list)
    records: int = 0
    explained: int = 0
    pending: int = 0
    unjudged: int = 0
    after: datetime | None = None


def audit_job(store: Store, job: Job, window: Window, *, by_hand_too: bool = True) -> JobAudit:
    """One page from `window.since` on. Runs by hand are looked at with the first page. Raises StoreError."""
    found = JobAudit(job=job)
    try:
        known = read_history(store, job, window.since)
    except UndecodableError as error:
        found.findings.append(Finding(kind=FindingKind.UNREADABLE, at=window.since, says=str(error)))
        return found
    moment = Moment(now=window.now, limits=window.limits)
    if known.since < window.end:
        read = read_page(store, job.uid, known.since, window.end, PAGE)
        compared = compare(known.history, read.page, moment)
        found.findings += [*read.unreadable, *compared.findings]
        found.records, found.after = len(read.page.records), read.after
        found.explained, found.unjudged = compared.explained, compared.unjudged
        thinned = window.thinned or any(terms.keep_newest is not None for terms in known.history.terms)
        for gap in compared.gaps:
            left = _unthinned(gap, window) if thinned else gap
            found.unjudged += left is not gap
            if left is not None:
                _look_into(store, job, left, window, found)
    if by_hand_too:
        records = list(read_by_hand(store, job.uid, window.since, window.before))
        found.records += len(records)
        found.findings += by_hand(records, known.history, moment)
    return found


def _unthinned(gap: Gap, window: Window) -> Gap | None:
    """What is left of a gap without the time of which successes may be gone: what failed still has its record there, so
    what has none succeeded, or nobody can tell.
    """
    if gap.first >= window.whole_since:
        return gap
    first = next_occurrence(gap.era.schedule, window.whole_since)
    return None if first is None or first > gap.last else replace(gap, first=first)


def _look_into(store: Store, job: Job, gap: Gap, window: Window, found: JobAudit) -> None:
    """Occurrences without a record: to be claimed yet, if their timer is there; lost otherwise."""
    era = gap.era
    if gap.open and not goes_on(store, job.uid, era.generation, gap.last):
        then = replace(job, generation=era.generation, schedule=era.schedule)
        timer = fire_timer(then, gap.first, ordinal=1, now=min(window.now, gap.first), limits=window.limits)
        if lies(store, timer, window.now, window.limits):
            found.pending += 1
            return
    found.findings.append(_missing(gap, era))


def _missing(gap: Gap, era: Era) -> Finding:
    count = count_occurrences(era.schedule, gap.first, gap.last, _COUNTED)
    least = "at least " if count >= _COUNTED else ""
    several = f": {least}{count:,} occurrences, up to {to_wire(gap.last)}" if count > 1 else ""
    return Finding(
        kind=FindingKind.MISSING,
        at=gap.first,
        last=gap.last if count > 1 else None,
        says=f"generation {era.generation} has neither a record nor a timer for it{several}",
    )


def pages_of(store: Store, job: Job, window: Window, *, by_hand_too: bool = True) -> Iterator[JobAudit]:
    """Every page of a job's audit, one after the other."""
    since: datetime | None = window.since
    while since is not None:
        page = audit_job(
            store,
            job,
            replace(window, since=since),
            by_hand_too=by_hand_too and since == window.since,
        )
        yield page
        since = page.after
