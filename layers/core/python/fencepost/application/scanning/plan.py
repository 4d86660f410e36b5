"""One timer's claim as data: the record, the transaction's actions, and the timer that follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fencepost.application import keys, moves
from fencepost.application.codec import VERSION, encode_timer
from fencepost.application.planting import offset_seconds
from fencepost.application.store import Action, Key, Put, Update, equals
from fencepost.domain import claiming
from fencepost.domain.claiming import Decision, Rules, Successor
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_minute
from fencepost.domain.model import Bucket, Execution, Job, Origin, Timer
from fencepost.domain.states import ExecutionState, Move, Reason


def default_retention(team: str) -> timedelta:
    """How long records live where nobody says otherwise."""
    del team
    return timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a timer becomes: `record` is put if absent, and in the same transaction `succession` happens.

    `successor` is the next timer; with none, the current generation marks its job exhausted and an older one writes
    the record alone.
    """

    timer: Timer
    record: Execution
    job: Job
    rules: Rules
    tzdata: str
    successor: Timer | None
    succession: Action | None

    @property
    def actions(self) -> tuple[Action, ...]:
        """At most two actions (protocol F1 groups up to 33 claims)."""
        move = Move.CLAIM if self.record.state is ExecutionState.QUEUED else _CREATING[self.record.state]
        record = moves.created(self.record, move)
        return (record,) if self.succession is None else (record, self.succession)


_CREATING = {ExecutionState.SKIPPED: Move.SKIP_AT_CLAIM, ExecutionState.CANCELLED: Move.SETTLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What every record of one pass carries. `retention` is the team's, asked for by what ends at its claim alone."""

    claim_id: str
    now: datetime
    retention: Callable[[], timedelta]
    tzdata: str


def build(timer: Timer, job: Job, rules: Rules, decision: Decision, stamp: Stamp) -> Claim:
    """The claim of `timer` as decided."""
    successor = (
        None
        if decision.successor is None
        else successor_timer(timer, rules, decision.successor, stamp.tzdata)
    )
    return Claim(
        timer=timer,
        record=record_of(timer, job, rules, decision, stamp),
        job=job,
        rules=rules,
        tzdata=stamp.tzdata,
        successor=successor,
        succession=_succession(job, rules, successor),
    )


def beside(claim: Claim, there: Execution) -> Claim:
    """`claim` of an instant whose record stands as another generation made it: the next occurrence follows, whatever
    the claim's own decision had skipped or joined together.
    """
    ran = there.state not in {ExecutionState.SKIPPED, ExecutionState.CANCELLED}
    following = claiming.beside(claim.timer, claim.rules, ran=ran)
    successor = (
        None if following is None else successor_timer(claim.timer, claim.rules, following, claim.tzdata)
    )
    return replace(claim, successor=successor, succession=_succession(claim.job, claim.rules, successor))


def record_of(timer: Timer, job: Job, rules: Rules, decision: Decision, stamp: Stamp) -> Execution:
    """The record of `timer`; one that will not run is final from the start and carries its expiry."""
    record = Execution(
        id=ExecutionId.occurrence(timer.uid, timer.instant),
        team=job.team,
        job=job.name,
        state=decision.state,
        origin=Origin.SCHEDULE,
        tier=decision.tier,
        due=timer.due,
        generation=rules.generation,
        planted_generation=rules.generation,
        reason=decision.reason,
        note=decision.note,
        until=decision.until,
        not_before=decision.not_before,
        ordinal=timer.ordinal,
        tzdata=timer.tzdata or stamp.tzdata,
        offset=timer.offset if decision.until is None else offset_seconds(rules.schedule, decision.until),
        claim_id=stamp.claim_id,
        claimed_at=stamp.now,
        overlap=rules.overlap,
    )
    if not record.final:
        return replace(record, hint=job.detail)
    expires = moves.expiry(record.due, stamp.now, stamp.retention())
    return replace(record, ended_at=stamp.now, expires_at=expires)


def never_claimed(timer: Timer, job: Job, reason: Reason, stamp: Stamp, note: str | None = None) -> Execution:
    """The record of a timer that goes without being claimed: whoever has read it already, and is late, loses to that."""
    rules = replace(claiming.current_rules(job), generation=timer.generation, tier=timer.tier)
    decision = Decision(
        state=ExecutionState.CANCELLED,
        why="its generation ended before it was due",
        reason=reason,
        tier=timer.tier,
        successor=None,
        note=note,
    )
    return record_of(timer, job, rules, decision, stamp)


def successor_timer(timer: Timer, rules: Rules, successor: Successor, tzdata: str) -> Timer:
    """The next timer of the chain: same shard, never in an earlier bucket than its predecessor's (protocol C1)."""
    minute = max(
        timer.bucket.minute,
        floor_minute(successor.due),
        floor_minute(successor.not_before or successor.due),
    )
    return Timer(
        bucket=Bucket(minute, timer.bucket.shard),
        kind=timer.kind,
        instant=successor.instant,
        uid=timer.uid,
        sequence=timer.sequence,
        due=successor.due,
        team=timer.team,
        tier=timer.tier,
        ordinal=successor.ordinal,
        tzdata=tzdata,
        offset=offset_seconds(rules.schedule, successor.instant),
        catch_up_until=successor.catch_up_until,
        not_before=successor.not_before,
    )


def _succession(job: Job, rules: Rules, successor: Timer | None) -> Action | None:
    if successor is not None:
        return Put(key=keys.timer(successor), item=encode_timer(successor))
    if rules.generation != job.generation:
        return None
    return exhausted(job)


def exhausted(job: Job) -> Update:
    """Nothing follows (protocol B8): sets this one flag, if the generation is unchanged."""
    return Update(key=keys.job(job.uid), set={"exhausted": True}, condition=equals("gen", job.generation))


def quarantined(timer_key: Key, item: dict[str, object], why: str, shard: int) -> Put:
    """A timer set aside with its reason and all that was in it (protocol C3)."""
    kept = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
    return Put(key=keys.quarantine(shard, timer_key), item={"v": VERSION, "why": why[:500], "timer": kept})
