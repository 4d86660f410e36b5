"""What a `fire` timer becomes: pure decisions about standing, misfire, catch-up and succession.

`standing` says whose rules a timer falls under; `decide` says what its record is and which occurrence follows. Both
give a reason, and neither reads a clock: two scanners with different `now` may decide differently, but the record's
key is the timer's own instant, so only one of them is written (protocol B11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from fencepost.domain.identity import hashed
from fencepost.domain.limits import Limits
from fencepost.domain.misfire import latest_missed, plan_catch_up
from fencepost.domain.model import EndedGeneration, Job, Misfire, MisfirePolicy, Overlap, Tier, Timer
from fencepost.domain.schedule import Calendar, Schedule, effective_instant, is_excluded, next_occurrence
from fencepost.domain.states import ExecutionState, Reason

ENDED_FOR_GOOD = frozenset({Reason.PAUSED, Reason.DELETED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a generation decides by. `until` bounds a generation that has ended; `ended_by` says what ended it."""

    generation: int
    schedule: Schedule
    misfire: Misfire
    overlap: Overlap
    tier: Tier
    until: datetime | None = None
    ended_by: Reason | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """No positive evidence either way: the timer stays for the next pass (protocol B2)."""

    why: str


@dataclass(frozen=True, slots=True)
class Superseded:
    """The timer's generation ended before its instant: settle its execution, then drop it (protocol B6)."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Stands:
    """The timer is claimed by `rules`."""

    rules: Rules


@dataclass(frozen=True, slots=True)
class AskHistory:
    """The timer's generation ended long ago: its `EndedGeneration` has to be read first."""

    generation: int


Standing: TypeAlias = Leave | Superseded | Stands | AskHistory


def standing(timer: Timer, job: Job | None, ended: EndedGeneration | None = None) -> Standing:
    """Whose rules `timer` falls under. `ended` answers an earlier AskHistory."""
    if job is None:
        return Leave("no job was read, which proves nothing")
    if job.generation < timer.generation:
        return Leave("the job that was read is older than the timer")
    if job.generation == timer.generation:
        return Stands(current_rules(job))
    if ended is None:
        return AskHistory(timer.generation)
    if timer.instant > ended.until:
        return Superseded(ended.ended_by)
    return Stands(
        Rules(
            generation=ended.generation,
            schedule=ended.schedule,
            misfire=ended.misfire,
            overlap=ended.overlap,
            tier=ended.tier,
            until=ended.until,
            ended_by=ended.ended_by,
        )
    )


def current_rules(job: Job) -> Rules:
    """The rules of the job as it is."""
    return Rules(
        generation=job.generation,
        schedule=job.schedule,
        misfire=job.misfire,
        overlap=job.overlap,
        tier=job.tier,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """The occurrence after a claimed one, and what its timer has to carry."""

    instant: datetime
    due: datetime
    ordinal: int
    catch_up_until: datetime | None = None
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the timer's record is. `successor` None: nothing follows in this generation."""

    state: ExecutionState
    why: str
    successor: Successor | None
    reason: Reason | None = None
    note: str | None = None
    until: datetime | None = None
    tier: Tier
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The facts around a claim."""

    now: datetime
    limits: Limits
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    no_fire_before: datetime | None = None


def decide(timer: Timer, rules: Rules, around: Circumstances) -> Decision:
    """What becomes of `timer`, which stands under `rules`."""
    if rules.ended_by in ENDED_FOR_GOOD and rules.until is not None:
        return _ended(rules, rules.until)
    if around.no_fire_before is not None and timer.due < around.no_fire_before:
        return _restored(timer, rules, around.no_fire_before)
    name = is_excluded(rules.schedule, timer.instant, around.calendars)
    if name is not None:
        note = f"calendar {name}, version {around.calendars[name].version}"
        return _excluded(timer, rules, note)
    if timer.catch_up_until is not None and timer.instant <= timer.catch_up_until:
        return _link(timer, rules, around, timer.catch_up_until)
    if around.now - timer.due <= around.limits.misfire_grace:
        return Decision(
            state=ExecutionState.QUEUED,
            why="in time",
            tier=rules.tier,
            successor=_following(timer, rules, timer.instant, ran=True),
        )
    return _misfired(timer, rules, around)


def _ended(rules: Rules, until: datetime) -> Decision:
    return Decision(
        state=ExecutionState.CANCELLED,
        why="due, not started, and its generation was ended by its owner",
        reason=rules.ended_by,
        until=until,
        tier=rules.tier,
        successor=None,
    )


def _restored(timer: Timer, rules: Rules, opened_at: datetime) -> Decision:
    """Everything older than the opening; what is due at that very instant fires."""
    last = latest_missed(timer, rules.schedule, opened_at - datetime.resolution, rules.until)
    return _skipped(timer, rules, Reason.RESTORED, last)


def _excluded(timer: Timer, rules: Rules, note: str) -> Decision:
    """In the midst of a catch-up, the links behind it go on as its first one decided (protocol C4)."""
    decision = _skipped(timer, rules, Reason.EXCLUDED, timer.instant, note=note)
    following, last = decision.successor, timer.catch_up_until
    if following is None or last is None or following.instant > last:
        return decision
    following = replace(following, catch_up_until=last, not_before=timer.not_before)
    return replace(decision, successor=following)


def _skipped(timer: Timer, rules: Rules, reason: Reason, last: datetime, note: str | None = None) -> Decision:
    return Decision(
        state=ExecutionState.SKIPPED,
        why=f"skipped: {reason}",
        reason=reason,
        note=note,
        until=last if last > timer.instant else None,
        tier=rules.tier,
        successor=_following(timer, rules, last, ran=False),
    )


def _misfired(timer: Timer, rules: Rules, around: Circumstances) -> Decision:
    # What is late by no more than the grace is no misfire, whatever was missed before it.
    edge = around.now - around.limits.misfire_grace - datetime.resolution
    last = latest_missed(timer, rules.schedule, edge, rules.until)
    match rules.misfire.policy:
        case MisfirePolicy.SKIP:
            return _skipped(timer, rules, Reason.MISFIRE, last)
        case MisfirePolicy.RUN_ONCE_LATE:
            return _run_once(timer, rules, around, last)
        case MisfirePolicy.CATCH_UP:
            return _catch_up(timer, rules, around, last)


def _run_once(timer: Timer, rules: Rules, around: Circumstances, last: datetime) -> Decision:
    if around.now - effective_instant(rules.schedule, timer.uid, last) > rules.misfire.window:
        return _skipped(timer, rules, Reason.MISFIRE, last, note="older than the misfire window")
    return Decision(
        state=ExecutionState.QUEUED,
        why="one late run for all that was missed",
        until=last if last > timer.instant else None,
        tier=rules.tier,
        not_before=_release(timer.uid, around),
        successor=_following(timer, rules, last, ran=True),
    )


def _catch_up(timer: Timer, rules: Rules, around: Circumstances, last: datetime) -> Decision:
    plan = plan_catch_up(timer.instant, last, rules.schedule, rules.misfire, around.now)
    if plan.begins is None:
        return _skipped(timer, rules, Reason.MISFIRE, last, note="older than the misfire window")
    if plan.begins == timer.instant:
        return _link(timer, rules, around, last)
    due = effective_instant(rules.schedule, timer.uid, plan.begins)
    return Decision(
        state=ExecutionState.SKIPPED,
        why="beyond what catch-up may run",
        reason=Reason.MISFIRE,
        note=plan.why,
        until=plan.skipped_until if plan.skipped_until > timer.instant else None,
        tier=rules.tier,
        successor=Successor(
            instant=plan.begins,
            due=due,
            ordinal=timer.ordinal,
            catch_up_until=last,
            not_before=_release(timer.uid, around),
        ),
    )


def _link(timer: Timer, rules: Rules, around: Circumstances, last: datetime) -> Decision:
    release = timer.not_before or _release(timer.uid, around)
    following = _following(timer, rules, timer.instant, ran=True)
    if following is not None and following.instant <= last:
        following = Successor(
            instant=following.instant,
            due=following.due,
            ordinal=following.ordinal,
            catch_up_until=last,
            not_before=max(release, around.now) + around.limits.catch_up_step,
        )
    return Decision(
        state=ExecutionState.QUEUED,
        why="catching up",
        tier=Tier.RECOVERY,
        not_before=release,
        successor=following,
    )


def _release(uid: str, around: Circumstances) -> datetime:
    """A stable share of the spread per job, so that recovery does not fire everything in one instant."""
    spread = around.limits.release_spread // timedelta(milliseconds=1)
    return around.now + timedelta(milliseconds=hashed(f"release {uid}", max(1, spread)))


def beside(timer: Timer, rules: Rules, *, ran: bool) -> Successor | None:
    """What follows where the record of the timer's instant stands as another generation made it: the very next
    occurrence. It decides for itself and for what is missed after it, which that record does not speak of.
    """
    return _following(timer, rules, timer.instant, ran=ran)


def _following(timer: Timer, rules: Rules, after: datetime, *, ran: bool) -> Successor | None:
    """The occurrence after `after`, unless the generation, its firings or its schedule end first."""
    ordinal = timer.ordinal + 1 if ran else timer.ordinal
    most = rules.schedule.max_firings
    if most is not None and ordinal > most:
        return None
    instant = next_occurrence(rules.schedule, after)
    if instant is None or (rules.until is not None and instant > rules.until):
        return None
    due = effective_instant(rules.schedule, timer.uid, instant)
    return Successor(instant=instant, due=due, ordinal=ordinal)
