"""Whether a record is what the job's policies allow: its claim is decided anew, as of when it was decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from fencepost.domain.auditing.findings import FindingKind, Findings, about
from fencepost.domain.auditing.history import Era, JobHistory, Terms
from fencepost.domain.auditing.single import SKEW, Moment
from fencepost.domain.claiming import Circumstances, Decision, Rules, decide
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.instants import MINUTE, to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Execution, MisfirePolicy, Origin, Overlap, Tier, Timer, TimerKind
from fencepost.domain.schedule import Calendar, CronSchedule, next_occurrence, tzdata_version
from fencepost.domain.states import ExecutionState, JobState, Reason

READ_BEFORE = MINUTE
"""How old the job and the calendars may have been that a claim was decided by."""
UNDER_WAY = MINUTE
"""What a change may have overtaken: a lease that was on its way, or whose worker stood still, when it was written."""
_UNSTORED = timedelta(microseconds=999)
"""What the ledger rounds away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A record of the schedule and the era that it names."""

    record: Execution
    era: Era
    history: JobHistory
    limits: Limits


def by_policy(record: Execution, history: JobHistory, moment: Moment) -> Findings:
    """Everything that the job's owner decides: what runs late, what is left out, what is cancelled, and why."""
    era = history.era(record.generation)
    if era is None or record.origin is not Origin.SCHEDULE:
        return
    case = Case(record=record, era=era, history=history, limits=moment.limits)
    if record.state is ExecutionState.CANCELLED:
        yield from _cancelled(case)
    elif record.id.kind is ExecutionKind.RANGE:
        yield from _slept_through(case)
    else:
        yield from _decided(case)
    yield from _begun_too_late(case)


def foreign(record: Execution, era: Era) -> bool:
    """Other time-zone rules decided about it: where they differ from today's, nobody can judge it."""
    return isinstance(era.schedule, CronSchedule) and record.tzdata not in {"", tzdata_version()}


def settled_at_claim(record: Execution) -> bool:
    """It was over from the start."""
    return record.final and record.ended_at == record.claimed_at


def _cancelled(case: Case) -> Findings:
    """By an edit only what was due later; by a pause or a delete only if there was one."""
    record, era, history = case.record, case.era, case.history
    match record.reason:
        case Reason.SUPERSEDED if not _outlived(record, era):
            until = "has not ended" if era.until is None else f"ended at {to_wire(era.until)}"
            says = f"was superseded, though its generation {until}"
        case Reason.PAUSED if not _followed_by(history, era, Reason.PAUSED):
            says = "was cancelled by a pause, though nobody paused the job"
        case Reason.DELETED if history.state is not JobState.DELETED:
            says = "was cancelled by a delete, though the job was not deleted"
        case Reason.SUPERSEDED | Reason.PAUSED | Reason.DELETED:
            return
        case reason:
            says = f"was cancelled for {reason or 'no reason'}, which ends no firing of a schedule"
    yield about(record, FindingKind.NOT_ALLOWED, says)


def _outlived(record: Execution, era: Era) -> bool:
    """It was due after the end of its generation."""
    return era.until is not None and (record.id.nominal or record.due) > era.until


def _followed_by(history: JobHistory, era: Era, reason: Reason) -> bool:
    return any(each.ended_by is reason for each in history.eras if each.generation >= era.generation)


def _slept_through(case: Case) -> Findings:
    """A range that covers what fell due while nothing could fire."""
    if case.record.reason is not Reason.PAUSED:
        yield about(case.record, FindingKind.NOT_ALLOWED, f"a range is skipped for {case.record.reason}")
    elif case.era.fires and not case.era.failed:
        says = "is skipped by a pause, though the job was not paused"
        yield about(case.record, FindingKind.NOT_ALLOWED, says)


def _begun_too_late(case: Case) -> Findings:
    """What began after the change that should have kept it from beginning.

    An attempt that an open circuit refused is one: what it began goes on, though its first lease comes later.
    """
    record, era = case.record, case.era
    if record.started_at is None or era.ended_at is None or era.until is None or record.attempts_dropped:
        return
    began = min([record.started_at, *(each.started_at for each in record.attempts if not each.fence)])
    ends_firings = era.ended_by in {Reason.PAUSED, Reason.DELETED}
    covered = ends_firings or (record.id.nominal or record.due) > era.until
    if covered and began > era.ended_at + UNDER_WAY:
        says = f"began at {to_wire(began)}, after a change at {to_wire(era.ended_at)} had ended it"
        yield about(record, FindingKind.NOT_ALLOWED, says)


def _decided(case: Case) -> Findings:
    record = case.record
    if record.reason is Reason.OVERLAP:
        if record.overlap is Overlap.ALLOW:
            yield about(record, FindingKind.NOT_ALLOWED, "was skipped for an overlap that the job allows")
        return
    if record.state is ExecutionState.SKIPPED and not settled_at_claim(record):
        yield from _held(case)
        return
    if record.reason is Reason.RESTORED or foreign(record, case.era) or _shared(case):
        return
    would = None
    for decision in _decisions(case):
        if _agrees(record, decision):
            return
        would = would or decision
    if would is not None and not _link(case):
        says = f"is {_shown(record)}; the policies in force said: {_said(would)}"
        yield about(record, FindingKind.NOT_ALLOWED, says)


def _shared(case: Case) -> bool:
    """Two generations have this instant: the newer one may have taken it over, and decided at another time."""
    before, nominal = case.history.before(case.era), case.record.id.nominal or case.record.due
    return before is not None and next_occurrence(before.schedule, nominal - _UNSTORED) == nominal


def _held(case: Case) -> Findings:
    """A switch held it until it was missed."""
    record, ended = case.record, case.record.ended_at
    late = None if ended is None else ended - record.due
    if record.reason is not Reason.MISFIRE or late is None or late <= case.limits.misfire_grace:
        yield about(record, FindingKind.NOT_ALLOWED, f"was left out after its claim for {record.reason}")


def _decisions(case: Case) -> Iterator[Decision]:
    """What the claim may have come to, by whatever its scanner may have read."""
    record = case.record
    for rules in _rules(case):
        for calendars in _calendars(case):
            for now in (record.claimed_at, record.claimed_at + _UNSTORED):
                around = Circumstances(now=now, limits=case.limits, calendars=calendars)
                yield decide(_timer(record), rules, around)


def _rules(case: Case) -> Iterator[Rules]:
    history = case.history
    terms = history.terms_around(case.record.claimed_at, READ_BEFORE)
    for era in (case.era, history.before(case.era)):
        if era is not None:
            for said in terms:
                yield from _in_force(era, said)


def _in_force(era: Era, said: Terms) -> Iterator[Rules]:
    """Before the era's end was written, and after it."""
    yield Rules(
        generation=era.generation,
        schedule=era.schedule,
        misfire=said.misfire,
        overlap=said.overlap,
        tier=said.tier,
    )
    if era.until is not None and era.ended_by not in {Reason.PAUSED, Reason.DELETED}:
        yield Rules(
            generation=era.generation,
            schedule=era.schedule,
            misfire=era.ended_with or said.misfire,
            overlap=said.overlap,
            tier=said.tier,
            until=era.until,
            ended_by=era.ended_by,
        )


def _calendars(case: Case) -> tuple[dict[str, Calendar], ...]:
    """A scanner remembers calendars for a few seconds."""
    if not case.era.schedule.exclude:
        return ({},)
    pages, claimed = case.history.pages, case.record.claimed_at
    return pages.at(claimed), pages.at(claimed - READ_BEFORE), pages.at(claimed + SKEW)


def _timer(record: Execution) -> Timer:
    """The timer that the record was made of."""
    nominal = record.id.nominal or record.due
    return Timer(
        bucket=Bucket.at(record.due, 0),
        kind=TimerKind.FIRE,
        instant=nominal,
        uid=record.id.uid,
        sequence=record.generation,
        due=record.due,
        ordinal=record.ordinal,
    )


def _agrees(record: Execution, decision: Decision) -> bool:
    if record.until != decision.until:
        return False
    if record.state is ExecutionState.SKIPPED:
        return decision.state is ExecutionState.SKIPPED and decision.reason is record.reason
    return decision.state is ExecutionState.QUEUED


def _link(case: Case) -> bool:
    """A link of a catch-up chain: its first link decided for all of them."""
    record = case.record
    catches_up = any(rules.misfire.policy is MisfirePolicy.CATCH_UP for rules in _rules(case))
    runs = record.state is not ExecutionState.SKIPPED and record.until is None
    return catches_up and runs and record.tier is Tier.RECOVERY


def _shown(record: Execution) -> str:
    reason = f" ({record.reason})" if record.reason else ""
    return f"{record.state}{reason}" + (f" until {to_wire(record.until)}" if record.until else "")


def _said(decision: Decision) -> str:
    return decision.why + (f", until {to_wire(decision.until)}" if decision.until else "")
