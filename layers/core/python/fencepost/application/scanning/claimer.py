"""Claims `fire` timers: decide, write in groups, follow the chain, hand over. Shared by the scan and by job writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.ports import Clock, Entropy
from fencepost.application.scanning.handover import HandOver
from fencepost.application.scanning.pace import Pace
from fencepost.application.scanning.plan import Claim, Stamp, build, default_retention
from fencepost.application.scanning.quarantine import Quarantine
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.resolve import Resolver
from fencepost.application.scanning.standings import JobFacts, read_facts
from fencepost.application.store import Cancelled, Cause, InvalidWriteError, Item, Store, StoreError
from fencepost.domain.claiming import Circumstances, Leave, Stands, Superseded, decide, standing
from fencepost.domain.instants import floor_minute
from fencepost.domain.limits import Limits
from fencepost.domain.model import Timer
from fencepost.domain.schedule import Calendar, tzdata_version
from fencepost.domain.states import ExecutionState, Reason

SUBMISSIONS = 3
"""First try, once more after losers are taken out, once more after a conflict (protocol F1)."""


def no_calendars(team: str) -> Mapping[str, Calendar]:
    """A stage without exclusion calendars."""
    del team
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimer:
    """Turns timers into executions. Repeating it, anywhere and at any time, changes nothing that was done."""

    store: Store
    clock: Clock
    entropy: Entropy
    handover: HandOver
    resolver: Resolver
    quarantine: Quarantine
    limits: Limits
    calendars: Callable[[str], Mapping[str, Calendar]] = no_calendars
    retention: Callable[[str], timedelta] = default_retention
    no_fire_before: datetime | None = None
    tzdata: str = field(default_factory=tzdata_version)

    def claim(self, timers: Sequence[Timer], report: ScanReport, *, pace: Pace | None = None) -> None:
        """Claims `timers` by due order and whatever follows them inside the horizon.

        Round k claims the k-th link of all chains together; a chain goes on only through a link that this call's own
        transaction planted (protocol B7). Ends early, with `report.finished` false, when the pace's time is up.
        """
        claim_id = self.entropy.token()
        round_ = sorted(timers, key=_by_due)
        while round_:
            planted: list[Timer] = []
            left = len(round_)
            for group in groups(round_, self.limits.claim_group):
                if pace is not None and not pace.wait(group, left):
                    report.finished = False
                    return
                planted += self._group(group, claim_id, report)
                left -= len(group)
            round_ = sorted((timer for timer in planted if self._inside_horizon(timer)), key=_by_due)

    def _inside_horizon(self, timer: Timer) -> bool:
        return timer.bucket.minute <= floor_minute(self.clock.now() + self.limits.horizon)

    def _group(self, group: Sequence[Timer], claim_id: str, report: ScanReport) -> list[Timer]:
        """One group from reading to handing over; returns the timers that its own transactions planted."""
        now = self.clock.now()
        try:
            facts = read_facts(self.store, group)
        except StoreError:
            report.left += len(group)
            return []
        claims = [claim for timer in group for claim in self._decide(timer, facts, claim_id, now, report)]
        won, lost = self._submit(claims, report)
        settled = [self._resolve(claim, item, now, report) for claim, item in lost]
        won += [outcome for outcome in settled if outcome is not None]
        self.handover.records([(claim.record, claim.timer) for claim in won], report)
        return [claim.successor for claim in won if claim.successor is not None]

    def _resolve(self, claim: Claim, item: Item | None, now: datetime, report: ScanReport) -> Claim | None:
        """A record that cannot be read is its timer's trouble alone; a later version's is left to that."""
        try:
            return self.resolver.resolve(claim, item, now, report)
        except NewerShapeError:
            report.newer += 1
            return None
        except UndecodableError as error:
            self.quarantine.put(claim.timer, str(error), now, report)
            return None

    def _decide(
        self, timer: Timer, facts: JobFacts, claim_id: str, now: datetime, report: ScanReport
    ) -> Iterator[Claim]:
        """Nothing or one claim. A timer that cannot be decided is set aside alone (protocol C3); one whose
        job or record a later version wrote stays where it is.
        """
        try:
            job = facts.job(timer.uid)
            verdict = standing(timer, job, facts.ended(timer))
            stamp = Stamp(
                claim_id=claim_id, now=now, retention=partial(self.retention, timer.team), tzdata=self.tzdata
            )
            match verdict:
                case Stands(rules) if job is not None:
                    around = Circumstances(
                        now=now,
                        limits=self.limits,
                        calendars=self.calendars(job.team),
                        no_fire_before=self.no_fire_before,
                    )
                    yield build(timer, job, rules, decide(timer, rules, around), stamp)
                case Superseded(reason) if job is not None:
                    self.resolver.supersede(timer, job, reason, stamp, report)
                case Leave():
                    self._leave(timer, now, report, absent=job is None)
                case _:
                    report.left += 1
        except StoreError:
            report.left += 1
        except NewerShapeError:
            report.newer += 1
        except Exception as error:  # noqa: BLE001 - deciding is pure: what fails once fails always, for this timer
            self.quarantine.put(timer, f"{type(error).__name__}: {error}", now, report)

    def _leave(self, timer: Timer, now: datetime, report: ScanReport, *, absent: bool) -> None:
        report.left += 1
        if absent and now - timer.due > self.limits.absent_job_alarm:
            report.absent_jobs += 1

    def _submit(
        self, claims: Sequence[Claim], report: ScanReport
    ) -> tuple[list[Claim], list[tuple[Claim, Item | None]]]:
        """Writes a group all or nothing; losers are taken out, the rest is submitted again (protocol F1)."""
        pending, lost = list(claims), list[tuple[Claim, Item | None]]()
        for submission in range(SUBMISSIONS):
            if not pending:
                break
            if submission:
                self.clock.sleep(timedelta(milliseconds=50 + 150 * self.entropy.fraction()))
            try:
                outcome = self.store.transact([action for claim in pending for action in claim.actions])
            except InvalidWriteError as error:
                return self._singly(pending, lost, error, report)
            except StoreError:
                continue
            if not isinstance(outcome, Cancelled):
                _count(pending, report)
                return pending, lost
            pending = self._without_losers(pending, outcome, lost, report)
        report.left += len(pending)
        return [], lost

    def _without_losers(
        self,
        pending: Sequence[Claim],
        outcome: Cancelled,
        lost: list[tuple[Claim, Item | None]],
        report: ScanReport,
    ) -> list[Claim]:
        """Those of a cancelled group that may still win. A lost succession leaves its timer for the next pass."""
        kept, position = list[Claim](), 0
        for claim in pending:
            reasons = outcome.reasons[position : position + len(claim.actions)]
            position += len(claim.actions)
            if reasons[0].cause is Cause.CONDITION:
                lost.append((claim, reasons[0].item))
            elif any(reason.cause in {Cause.CONDITION, Cause.INVALID} for reason in reasons):
                report.left += 1
            else:
                kept.append(claim)
        return kept

    def _singly(
        self,
        pending: Sequence[Claim],
        lost: list[tuple[Claim, Item | None]],
        error: InvalidWriteError,
        report: ScanReport,
    ) -> tuple[list[Claim], list[tuple[Claim, Item | None]]]:
        """A request refused as a whole is tried claim by claim, and the culprit set aside (protocol F3)."""
        if len(pending) == 1:
            self.quarantine.put(pending[0].timer, f"refused by the store: {error}", self.clock.now(), report)
            return [], lost
        won = list[Claim]()
        for claim in pending:
            one, losing = self._submit([claim], report)
            won += one
            lost += losing
        return won, lost


def groups(timers: Iterable[Timer], size: int) -> Iterator[list[Timer]]:
    """`timers` in order, in groups of at most `size` with at most one timer of a job in each (protocol F3)."""
    waiting = list(timers)
    while waiting:
        group, later, seen = list[Timer](), list[Timer](), defaultdict[str, bool](bool)
        for timer in waiting:
            if len(group) < size and not seen[timer.uid]:
                seen[timer.uid] = True
                group.append(timer)
            else:
                later.append(timer)
        yield group
        waiting = later


def _by_due(timer: Timer) -> tuple[datetime, str]:
    return timer.due, timer.uid


def _count(claims: Sequence[Claim], report: ScanReport) -> None:
    for claim in claims:
        match claim.record.state:
            case ExecutionState.QUEUED:
                report.claimed += 1
                report.claimed_by_tier[claim.record.tier] += 1
            case ExecutionState.SKIPPED:
                report.skipped += 1
            case _:
                report.cancelled += 1
        report.misfired += claim.record.reason is Reason.MISFIRE or claim.record.until is not None
        report.exhausted += claim.successor is None
        report.claim_lag_ms.append(
            max(0, (claim.record.claimed_at - claim.record.due) // timedelta(milliseconds=1))
        )
