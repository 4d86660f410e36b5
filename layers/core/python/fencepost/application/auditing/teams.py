"""Audits a team, page by page, or a share of the whole stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.auditing.audit import JobAudit, Window, audit_job, pages_of
from fencepost.application.codec import UndecodableError
from fencepost.application.codec_job import decode_job
from fencepost.application.ports import Clock
from fencepost.application.registry.reading import find_job, find_team, named_jobs
from fencepost.application.registry.unreadable import Unreadable, UnreadableJobError
from fencepost.application.store import Item, Query, Share, Store, StoreError
from fencepost.domain.auditing.findings import Finding
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Job

JOBS = 50
"""The most jobs that a page looks at."""
RECORDS = 2_000
"""About how many records a page reads before it stops; the last job may bring some hundred more."""

Place: TypeAlias = tuple[str, int | None]
"""Where a page stopped: behind a job's name, or within that job, before an instant in epoch milliseconds."""


@dataclass(slots=True, kw_only=True)
class TeamAudit:
    """What one page of a team's audit came to, job by job. `unreadable`: what could not be audited, since nobody can
    read the job; `after`: where to go on, None at the end.
    """

    jobs: list[JobAudit] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    after: Place | None = None

    @property
    def findings(self) -> list[tuple[Job, Finding]]:
        """Everything that was found, with the job."""
        return [(each.job, finding) for each in self.jobs for finding in each.findings]

    @property
    def records(self) -> int:
        """How many records were looked at."""
        return sum(each.records for each in self.jobs)


def audit_team(
    store: Store,
    team: str,
    window: Window,
    *,
    after: Place | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> TeamAudit:
    """A page of the jobs that hold a name now, by name; one at least, and no more once `enough`. Raises StoreError."""
    window, found = _kept(store, team, window), TeamAudit()
    for name, job in _named(store, team, after):
        if isinstance(job, Unreadable):
            found.unreadable.append(job)
            continue
        resumed = after is not None and after[1] is not None and after[0] == name
        since = from_ms(after[1]) if resumed and after is not None and after[1] is not None else None
        page = audit_job(
            store, job, window if since is None else replace(window, since=since), by_hand_too=not resumed
        )
        found.jobs.append(page)
        if page.after is not None:
            found.after = (name, to_ms(page.after))
            return found
        if len(found.jobs) >= JOBS or found.records >= RECORDS or enough():
            found.after = (name, None)
            return found
    return found


def audit_one(store: Store, job: Job, window: Window, *, after: Place | None = None) -> TeamAudit:
    """A page of one job, a deleted one as well. Raises StoreError."""
    window = _kept(store, job.team, window)
    resumed = after is not None and after[1] is not None
    if after is not None and after[1] is not None:
        window = replace(window, since=from_ms(after[1]))
    page = audit_job(store, job, window, by_hand_too=not resumed)
    place = None if page.after is None else (job.name, to_ms(page.after))
    return TeamAudit(jobs=[page], after=place)


def _kept(store: Store, team: str, window: Window) -> Window:
    found = find_team(store, team)
    return window if found is None else window.within(found)


def _named(store: Store, team: str, after: Place | None) -> Iterator[tuple[str, Job | Unreadable]]:
    """The team's jobs by name, from the place on."""
    first = None if after is None else after[0]
    claim = keys.name_claim(team, "-")
    for page in store.pages(Query(table=claim.table, pk=claim.pk, first=first)):
        jobs = named_jobs(store, team, page)
        for item in page:
            name, passed = str(item["sk"]), after is not None and after[1] is None
            if passed and name == first:
                continue
            try:
                unread = jobs.unreadable.get(name)
                if unread is not None:
                    raise unread
                job = jobs.readable.get(name) or find_job(store, team, name)
            except UnreadableJobError as error:
                yield name, Unreadable(name, error.uid, error.why)
                continue
            if job is not None:
                yield name, job


@dataclass(slots=True, kw_only=True)
class ShareAudit:
    """What the audit of a share of all jobs came to. `unread`: jobs that could not be looked at; `finished` is false
    where time ran out.
    """

    jobs: int = 0
    records: int = 0
    explained: int = 0
    pending: int = 0
    unread: int = 0
    finished: bool = True
    findings: list[tuple[Job, Finding]] = field(default_factory=list)

    def add(self, page: JobAudit) -> None:
        """Takes one page in."""
        self.records += page.records
        self.explained += page.explained
        self.pending += page.pending
        self.findings += [(page.job, finding) for finding in page.findings]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareAuditor:
    """Audits every job of a share, deleted ones too; runs by hand are left to whoever asks for them."""

    store: Store
    clock: Clock

    def run(self, share: Share, window: Window, until: datetime) -> ShareAudit:
        """All of the share, or as much of it as can be done by `until`. No record is deleted within its first two days,
        so `window` shall reach no further back.
        """
        found = ShareAudit()
        for job in self._jobs(share, found):
            if self.clock.now() >= until:
                found.finished = False
                break
            found.jobs += 1
            try:
                for page in pages_of(self.store, job, window, by_hand_too=False):
                    found.add(page)
            except StoreError:
                found.unread += 1
        return found

    def _jobs(self, share: Share, found: ShareAudit) -> Iterator[Job]:
        for page in self.store.scan(share):
            for item in page:
                job = _decoded(item, found) if item["sk"] == "J" else None
                if job is not None:
                    yield job


def _decoded(item: Item, found: ShareAudit) -> Job | None:
    try:
        return decode_job(item)
    except UndecodableError:
        found.unread += 1
        return None
