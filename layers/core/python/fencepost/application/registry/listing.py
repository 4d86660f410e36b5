"""A team's jobs by name, with filters: a page is bounded by what it looks at, not only by what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from fencepost.application import keys
from fencepost.application.calendars import TeamCalendars
from fencepost.application.registry.reading import named_jobs
from fencepost.application.registry.unreadable import Unreadable
from fencepost.application.registry.views import Outlook, coming, shown_state
from fencepost.application.store import Item, Query, Store, items
from fencepost.domain.model import Job, Tier
from fencepost.domain.states import JobState

MAX_PAGE = 100
LOOK = 1_000
"""How many names one page looks at before it says that it stopped early."""

AT_ONCE = 250
"""How many jobs are read together where filters may refuse most of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a listed job must be. `labels`: all of these; `next_before`: its next occurrence lies before that."""

    prefix: str = ""
    state: JobState | None = None
    tier: Tier | None = None
    labels: tuple[tuple[str, str], ...] = ()
    next_after: datetime | None = None
    next_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A job of a page, with what lies ahead of it."""

    job: Job
    outlook: Outlook


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """`after` is the last name that was looked at, None at the end; `stopped_early`: the page was not filled.
    `unreadable`: those among the names whose jobs nobody can read, whatever was asked for.
    """

    items: tuple[Listed, ...]
    after: str | None
    stopped_early: bool = False
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Look:
    """How far a page has come."""

    found: list[Listed] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    looked: int = 0

    def page(self, after: str | None, *, early: bool = False) -> JobPage:
        """What was found so far."""
        unread = tuple(self.unreadable)
        return JobPage(items=tuple(self.found), after=after, stopped_early=early, unreadable=unread)


def list_jobs(
    store: Store, team: str, wanted: Filter, *, now: datetime, after: str | None = None, limit: int = MAX_PAGE
) -> JobPage:
    """The first `limit` (1..100) jobs whose names follow `after` and that are `wanted`."""
    look, calendars = _Look(), TeamCalendars(store, team)
    size = limit if wanted == Filter(prefix=wanted.prefix) else AT_ONCE
    for claims in name_claims(store, team, size, prefix=wanted.prefix, after=after):
        jobs = named_jobs(store, team, claims)
        for name in (str(item["sk"]) for item in claims):
            look.looked += 1
            unread, job = jobs.unreadable.get(name), jobs.readable.get(name)
            if unread is not None:
                look.unreadable.append(Unreadable(name, unread.uid, unread.why))
            listed = None if job is None else _listed(store, job, wanted, now, calendars)
            if listed is not None:
                look.found.append(listed)
            if len(look.found) >= limit or look.looked >= LOOK:
                return look.page(name, early=len(look.found) < limit)
    return look.page(None)


def name_claims(
    store: Store, team: str, size: int, *, prefix: str = "", after: str | None = None
) -> Iterator[list[Item]]:
    """A team's names, at most `size` at a time, those behind `after`: nothing is read that nobody asks for."""
    claim = keys.name_claim(team, "-")
    last = prefix + "~" if prefix else None
    while True:
        first = max(prefix, after or "") or None
        wanted = size if after is None else size + 1  # the query's beginning is part of what it finds
        found = list(
            items(store, Query(table=claim.table, pk=claim.pk, first=first, last=last, limit=wanted))
        )
        yield [item for item in found if item["sk"] != after]
        if len(found) < wanted:
            return
        after = str(found[-1]["sk"])


def _listed(store: Store, job: Job, wanted: Filter, now: datetime, calendars: TeamCalendars) -> Listed | None:
    if wanted.tier is not None and job.tier is not wanted.tier:
        return None
    if not set(wanted.labels) <= set(job.labels):
        return None
    state = shown_state(store, job)
    if state is JobState.DELETED or (wanted.state is not None and state is not wanted.state):
        return None
    ahead = () if state is JobState.COMPLETED else coming(store, job, now, calendars)
    if not _in_window(ahead[0].at if ahead else None, wanted):
        return None
    return Listed(job=job, outlook=Outlook(state=state, next=ahead))


def _in_window(first: datetime | None, wanted: Filter) -> bool:
    if wanted.next_after is None and wanted.next_before is None:
        return True
    if first is None:
        return False
    later = wanted.next_after is None or first >= wanted.next_after
    return later and (wanted.next_before is None or first < wanted.next_before)
