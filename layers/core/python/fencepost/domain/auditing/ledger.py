"""The ledger beside what should be in it: every occurrence explained, once, and nothing explained that is none."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from fencepost.domain.auditing.findings import Finding, FindingKind, Findings, about
from fencepost.domain.auditing.history import Era, JobHistory
from fencepost.domain.auditing.policy import by_policy, foreign, settled_at_claim
from fencepost.domain.auditing.shelf import Page, first_of
from fencepost.domain.auditing.single import UNCALLED, Moment, alone
from fencepost.domain.model import Attempt, Execution, Origin, Overlap
from fencepost.domain.outcome import NOBODY_CALLED
from fencepost.domain.schedule import latest_occurrence, next_occurrence
from fencepost.domain.states import ExecutionState, Reason

LEFT_BEHIND = frozenset({Reason.SUPERSEDED, Reason.PAUSED})
_TICK = timedelta(milliseconds=1)
_HELD_UP = timedelta(seconds=45)
"""How much later than it says an attempt may have begun: a worker that stood still between its clock and its lock still
calls, while the lease lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Occurrences of an era that no record explains. `open`: the page has no later record of the era, so that a timer
    may still lie there for them."""

    era: Era
    first: datetime
    last: datetime
    open: bool


@dataclass(slots=True)
class Comparison:
    """What one page came to. `gaps` are to be looked into; `unjudged` ones lie beside records that other time-zone
    rules decided about."""

    findings: list[Finding] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    explained: int = 0
    unjudged: int = 0


def compare(history: JobHistory, page: Page, moment: Moment) -> Comparison:
    """Holds a page of the ledger to a job's history."""
    found = Comparison()
    met = {era.generation: _walk(era, page, found) for era in history.eras}
    for record in page.records:
        found.findings += alone(record, history, moment)
        found.findings += by_policy(record, history, moment)
        found.findings += _an_occurrence(record, history, met.get(record.generation, ()))
    found.findings += _told_twice(page)
    found.findings += in_turn(page.records)
    return found


def _walk(era: Era, page: Page, found: Comparison) -> set[datetime]:
    """From one expected occurrence to the next, leaping over whatever explains several, or none. Answers those it met."""
    met: set[datetime] = set()
    last = page.before - _TICK if era.until is None else min(page.before - _TICK, era.until)
    if era.until is None and not era.fires:
        return met  # the change that ends this will explain what falls due meanwhile
    at = _beginning(era, page, last)
    while True:
        expected = next_occurrence(era.schedule, at)
        if expected is None or expected > last or _used_up(era, page, expected):
            return met
        met.add(expected)
        explaining = page.own(expected) or page.covering(expected)
        if explaining is None:
            at = _missed(era, page, expected, last, found)
            continue
        if _died_with_its_predecessor(explaining, era, page):
            found.gaps.append(
                Gap(era=era, first=expected, last=expected, open=not _over(era, page, expected))
            )
        else:
            found.explained += 1
        at = _reach(explaining, expected, page)


def _beginning(era: Era, page: Page, last: datetime) -> datetime:
    """Where to begin. Newer rules chose an era's first occurrence by what its predecessor meant: its record tells."""
    at = max(era.begins, page.since - _TICK)
    if not era.refreshed or any(each.generation == era.generation for each in page.carried):
        return at
    first = next(page.of_era(era.generation), None)
    return last if first is None else max(at, first_of(first) - _TICK)


def _used_up(era: Era, page: Page, expected: datetime) -> bool:
    """The schedule fires only so often, and has. Of an edited job without a record since, nobody can tell."""
    most = era.schedule.max_firings
    if most is None:
        return False
    newest = max(page.planted_by(era.generation, before=expected), key=first_of, default=None)
    if newest is None:
        return era.generation > 1
    skipped = newest.state is ExecutionState.SKIPPED and settled_at_claim(newest)
    return newest.ordinal >= most and not skipped


def _reach(explaining: Execution, expected: datetime, page: Page) -> datetime:
    """The last instant that `explaining` explains, before another record speaks for itself."""
    if explaining.until is None or explaining.until <= expected:
        return expected
    following = page.following(expected)
    return explaining.until if following is None else min(explaining.until, first_of(following) - _TICK)


def _missed(era: Era, page: Page, first: datetime, last: datetime, found: Comparison) -> datetime:
    """Notes a gap that begins at `first`; answers where it ends."""
    before, following = page.preceding(first), page.following(first)
    end = last if following is None else min(last, first_of(following) - _TICK)
    reach = latest_occurrence(era.schedule, end, first) or first
    if any(each is not None and foreign(each, era) for each in (before, following)):
        found.unjudged += 1
        return reach
    over = _over(era, page, first)
    set_aside = era.failed and era.until is None and not over
    if not set_aside:  # else its timer lies in quarantine, and the resume will explain the rest
        found.gaps.append(Gap(era=era, first=first, last=reach, open=not over))
    return reach


def _over(era: Era, page: Page, instant: datetime) -> bool:
    """Whether the era went on to a later occurrence: it has one timer at a time, so none is left for this one."""
    return any(
        first_of(each) > instant and each.planted_generation == era.generation for each in page.records
    )


def _died_with_its_predecessor(record: Execution, era: Era, page: Page) -> bool:
    """An instant that two generations share is one occurrence, which the newer one takes over or at least takes note of.
    What the older one has left behind, cancelled, explains nothing to the newer one.
    """
    noted = record.planted_generation >= era.generation or record.generation >= era.generation
    cancelled = record.state is ExecutionState.CANCELLED and record.reason in LEFT_BEHIND
    return era.fires and cancelled and not noted and page.covering(first_of(record)) is None


def _an_occurrence(record: Execution, history: JobHistory, met: Container[datetime]) -> Findings:
    """What explains something must explain an occurrence of the generation that it names: one that was met, or is found
    by a search of its own."""
    era, nominal = history.era(record.generation), first_of(record)
    if era is None or record.origin is not Origin.SCHEDULE or era.refreshed or foreign(record, era):
        return
    if nominal not in met and next_occurrence(era.schedule, nominal - _TICK) != nominal:
        yield about(record, FindingKind.UNEXPECTED, f"is no occurrence of generation {era.generation}")
    elif nominal <= era.begins:
        says = f"lies before generation {era.generation} began"
        yield about(record, FindingKind.UNEXPECTED, says)


def _told_twice(page: Page) -> Findings:
    """Two records that both speak for one occurrence."""
    here = {record.id for record in page.records}
    for one, other in pairwise(page.ranges):
        if other.id in here and one.until is not None and one.until >= first_of(other):
            yield about(other, FindingKind.DOUBLED, f"explains occurrences that {one.id} explains too")
    for record in page.records:
        wide = page.covering(first_of(record)) if record.until is None else None
        if wide is not None and not _set_apart(record, wide):
            yield about(record, FindingKind.DOUBLED, f"is explained by {wide.id} too")


def _set_apart(record: Execution, wide: Execution) -> bool:
    """A range leaves alone what was cancelled, and what an older generation claimed ahead of it."""
    return record.state is ExecutionState.CANCELLED or record.generation < wide.generation


def in_turn(records: Sequence[Execution]) -> Findings:
    """Under `skip` and `queue` one attempt at a time, each with a larger fence than whoever was before."""
    attempts = sorted(_attempts(records), key=lambda pair: pair[1].fence)
    for (one, earlier), (record, later) in pairwise(attempts):
        if one.id == record.id:
            continue
        if later.fence == earlier.fence or later.started_at < earlier.started_at - _HELD_UP:
            says = f"attempt {later.number} had fence {later.fence}, and {one.id} had {earlier.fence}"
            yield about(record, FindingKind.FENCE_FELL, says)
        elif earlier.ended_at is None or later.started_at < earlier.ended_at - _HELD_UP:
            yield about(record, FindingKind.OVERLAPPED, f"ran while {one.id} ran")


def _attempts(records: Sequence[Execution]) -> Iterator[tuple[Execution, Attempt]]:
    for record in records:
        if record.overlap is not Overlap.ALLOW:
            yield from ((record, each) for each in record.attempts if _called(each))


def _called(attempt: Attempt) -> bool:
    return attempt.outcome not in UNCALLED and attempt.error != NOBODY_CALLED
