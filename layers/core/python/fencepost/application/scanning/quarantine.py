"""Sets a timer aside that nobody can understand, so that it holds up neither the watermark nor its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys, moves
from fencepost.application.codec import UndecodableError, encode_timer, is_newer
from fencepost.application.codec_job import decode_job
from fencepost.application.errands.telling import notice_put
from fencepost.application.scanning.plan import Stamp, default_retention, never_claimed, quarantined
from fencepost.application.scanning.renewing import as_planted, renewed
from fencepost.application.scanning.report import ScanReport
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Committed,
    Delete,
    InvalidWriteError,
    Item,
    Key,
    Present,
    Put,
    Store,
    StoreError,
    Table,
    Update,
    equals,
    every,
)
from fencepost.domain.identity import UID_PATTERN, ExecutionId
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Timer
from fencepost.domain.notification import Notification, NotificationKind
from fencepost.domain.states import JobState, Move, Reason


@dataclass(frozen=True, slots=True)
class SetAside:
    """What was set aside, and the job (if known) that now stands in ERROR."""

    uid: str | None
    team: str | None
    job: str | None
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spoiled:
    """`failed`: what becomes of its job; `timer`: as it was planted, where that is known."""

    key: Key
    aside: Put
    failed: tuple[Action, ...]
    timer: Timer | None
    now: datetime


def nobody(event: SetAside) -> None:
    """Tells nobody: the metric alone speaks."""
    del event


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Protocol C3: move the timer with its reason in one transaction, fail its job, tell somebody."""

    store: Store
    tell: Callable[[SetAside], None] = nobody
    retention: Callable[[str], timedelta] = default_retention

    def put(self, timer: Timer, why: str, now: datetime, report: ScanReport) -> None:
        """Sets a decoded timer aside."""
        failed = self._failing(timer.uid, timer.generation, why, now)
        if failed is None:
            report.newer += 1
            return
        key = keys.timer(timer)
        aside = quarantined(key, encode_timer(timer), why, timer.bucket.shard)
        if self._move(_Spoiled(key=key, aside=aside, failed=failed, timer=timer, now=now), report):
            self._say(timer.uid, why, now)

    def put_raw(self, item: Item, shard: int, why: str, now: datetime, report: ScanReport) -> Timer | None:
        """Sets an undecodable item aside; its key may still name the job. Where the job has moved on, or the record is
        there that it wakes, a copy is set aside, and the timer is returned as its key makes it anew: to be claimed,
        handed over and dropped like any other.
        """
        key = Key(Table.TIMERS, str(item["pk"]), str(item["sk"]))
        uid, generation = _named_job(key.sk)
        failed = () if uid is None else self._failing(uid, generation, why, now)
        if failed is None:
            report.newer += 1
            return None
        aside = quarantined(key, dict(item), why, shard)
        try:
            timer = renewed(self.store, key)
            if timer is not None:
                self.store.write(aside)
            planted = as_planted(self.store, key) if timer is None else None
        except StoreError:
            report.left += 1  # whether its job has to fail for it, the next pass knows
            return None
        if timer is not None:
            report.quarantined += 1
            self._say(timer.uid, why, now)
            return timer
        spoiled = _Spoiled(key=key, aside=aside, failed=failed, timer=planted, now=now)
        if self._move(spoiled, report) and uid is not None:
            self._say(uid, why, now)
        return None

    def _move(self, spoiled: _Spoiled, report: ScanReport) -> bool:
        """Whether the timer was set aside by this call. Its job fails with it, so that no crash can leave an active
        job without a timer; a job that has moved on stays as it is.
        """
        try:
            settled = self._settled(spoiled)
            try:
                outcome = self._moved(spoiled, settled)
            except InvalidWriteError:  # a record that the store does not take is claimed by nobody
                outcome = self._moved(spoiled, ())
        except StoreError:
            report.left += 1
            return False
        if isinstance(outcome, Cancelled):
            report.left += outcome.transient
            return False
        report.quarantined += 1
        return True

    def _moved(self, spoiled: _Spoiled, settled: tuple[Action, ...]) -> Committed | Cancelled:
        gone = Delete(key=spoiled.key, condition=Present())
        moved = (spoiled.aside, gone, *settled)
        outcome = self.store.transact((*moved, *spoiled.failed))
        refused = bool(spoiled.failed) and _refused_by_the_job(outcome, len(moved))
        return self.store.transact(moved) if refused and not self._moved_on(spoiled.key) else outcome

    def _settled(self, spoiled: _Spoiled) -> tuple[Action, ...]:
        """The record of what was not claimed: a pass that has read the timer before, and stood still, loses to that."""
        timer, now = spoiled.timer, spoiled.now
        if timer is None:
            return ()
        item = self.store.get(keys.job(timer.uid))
        there = self.store.get(keys.execution(ExecutionId.occurrence(timer.uid, timer.instant)))
        try:
            job = None if item is None else decode_job(item)
        except UndecodableError:
            job = None
        if job is None or there is not None or job.generation != timer.generation:
            return ()
        stamp = Stamp(claim_id="", now=now, retention=lambda: self.retention(timer.team), tzdata=timer.tzdata)
        note = f"its timer was set aside: {spoiled.aside.item['why']}"[:200]
        return (moves.created(never_claimed(timer, job, Reason.SUPERSEDED, stamp, note), Move.SETTLE),)

    def _moved_on(self, key: Key) -> bool:
        """Its generation has ended a moment ago: the next pass knows what to do."""
        uid, generation = _named_job(key.sk)
        job = None if uid is None or generation is None else self.store.get(keys.job(uid))
        return job is not None and _later(job, generation)

    def _failing(
        self, uid: str, generation: int | None, why: str, now: datetime
    ) -> tuple[Action, ...] | None:
        """The job's write, first, and what its team will be told of it; None where a later version's job is not to be
        touched, and its timer with it.
        """
        failed = _failed(uid, generation, why, now)
        try:
            job = self.store.get(keys.job(uid))
        except StoreError:
            job = None
        if job is not None and is_newer(job):
            return None
        if job is None or not isinstance(job.get("rev"), int):
            return (failed,)
        if _later(job, generation):
            return ()
        notice = Notification.of(
            NotificationKind.JOB_ERROR,
            team=str(job.get("team")),
            job=str(job.get("name")),
            occasion=str(job["rev"] + 1),
            at=now,
            reason=why[:200],
        )
        return (failed, notice_put(notice))

    def _say(self, uid: str, why: str, now: datetime) -> None:
        try:
            job = self.store.get(keys.job(uid)) or {}
        except StoreError:
            job = {}
        team, name = job.get("team"), job.get("name")
        self.tell(SetAside(uid=uid, team=team, job=name, why=why, at=now))


def _failed(uid: str, generation: int | None, why: str, now: datetime) -> Update:
    """The job of that generation becomes ERROR; resume plants anew."""
    known = () if generation is None else (equals("gen", generation),)
    return Update(
        key=keys.job(uid),
        set={"state": JobState.ERROR.value, "why": why[:200], "updated": to_ms(now)},
        add={"rev": 1},
        condition=every(Present(), equals("state", JobState.ACTIVE.value), *known),
    )


def _later(job: Item, generation: int | None) -> bool:
    """The job has moved on to another generation."""
    current = job.get("gen")
    return generation is not None and isinstance(current, int) and current > generation


def _refused_by_the_job(outcome: Committed | Cancelled, place: int) -> bool:
    """The timer is there, and its job, whose write lies at `place`, has moved on."""
    if not isinstance(outcome, Cancelled):
        return False
    return outcome.reasons[1].cause is Cause.NONE and outcome.reasons[place].cause is Cause.CONDITION


def _named_job(sk: str) -> tuple[str | None, int | None]:
    parts = sk.split("#")
    if len(parts) < 3 or not UID_PATTERN.match(parts[2][:20]):
        return None, None
    generation = int(parts[3]) if len(parts) > 3 and parts[3].isdigit() and parts[1] == "F" else None
    return parts[2][:20], generation
