"""From due to leased: the job as it is now, the circuit, the lock, the slot, the lease. No wait in between (D1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from fencepost.application.admission import Admission, Full, LockBusy, LockHeld, QueueFull, SlotHeld
from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.delivery.attempt import Attempts, Case
from fencepost.application.delivery.circuit import Circuits, Closed, Open, Probe
from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.hosts import Go, Hosts, OtherHand, Wait
from fencepost.application.delivery.lapse import Lapses
from fencepost.application.delivery.long_work import watched_from_waiting
from fencepost.application.delivery.records import Lease, leased
from fencepost.application.delivery.results import Acknowledge, Disposition, PutBack, Raced, no_team
from fencepost.application.delivery.retry import Retries
from fencepost.application.delivery.switched import Switched
from fencepost.application.delivery.tools import Tools
from fencepost.application.keys import overlap_lane
from fencepost.domain.instants import floor_ms, to_ms
from fencepost.domain.judgement import Cancel, Lapsed, eligible, judge, started
from fencepost.domain.manners import limit_of
from fencepost.domain.model import Execution, Origin, Overlap
from fencepost.domain.states import ExecutionState, Reason
from fencepost.domain.targets import target_timeout

BUSY_SECONDS = 30
OTHER_HAND_SECONDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One per process. `Raced`: somebody else moved the record first."""

    tools: Tools
    doors: Admission
    circuits: Circuits
    endings: Endings
    retries: Retries
    lapses: Lapses
    attempts: Attempts
    switched: Switched
    hosts: Hosts

    def run(self, record: Execution) -> Disposition | Raced:
        """Begins an attempt of a record that is due and nobody's, or says why not."""
        now = self.tools.clock.now()
        try:
            case = self._case(record, now)
        except NewerShapeError:
            raise
        except UndecodableError as error:
            return self._unreadable(record, error, now)
        if not isinstance(case, Case):
            return case
        away = self.switched.turned_away(case.record, case.job, case.team)
        return self._circuit(case) if away is None else away

    def _unreadable(self, record: Execution, error: UndecodableError, now: datetime) -> Disposition | Raced:
        """What nobody can read now will not be readable in five minutes: dead after one try, with the reason."""
        team = self.tools.reads.team(record.team, now)
        if team is None:
            return no_team(record)
        return self.endings.undeliverable(record, str(error), team, None)

    def _case(self, record: Execution, now: datetime) -> Case | Disposition | Raced:
        """Everything that the attempt needs, read now: what was read before the wait would prove nothing."""
        job = self.tools.reads.due_job(record, now)
        team = self.tools.reads.team(record.team, now)
        if team is None:
            return no_team(record)
        if job is None:
            return self.endings.undeliverable(record, "its job is no longer known", team, None)
        verdict = eligible(record, job, self.tools.reads.ended(record, job))
        if isinstance(verdict, Cancel):
            return self.endings.cancelled(record, verdict.reason, team, job)
        if record.origin is Origin.BACKFILL and not started(record) and self.tools.reads.called_off(record):
            return self.endings.cancelled(record, Reason.BACKFILL_CANCELLED, team, job)
        detail = self.tools.reads.detail(record.id.uid, record.detail or job.detail)
        if detail is None:
            return self.endings.undeliverable(record, "its target and payload are not there", team, job)
        waited = record.state is ExecutionState.WAITING or record.host_wait is not None
        return Case(record=record, job=job, team=team, detail=detail, permit=Closed(), waited=waited)

    def _circuit(self, case: Case) -> Disposition | Raced:
        """A probe that does not come to its call, since there is no slot or no turn, is left to others, and to its own
        turn: kept, it would be in the way of the very execution that took it.
        """
        now, anew = self.tools.clock.now(), case.record.state is ExecutionState.WAITING
        permit = self.circuits.ask(case.team.name, case.host, now, anew=anew)
        match permit:
            case Open(until):
                return self.retries.deferred(case.record, case.team, case.job, until)
            case Closed():
                return self._host(case)
            case Probe():
                try:
                    return self._host(replace(case, permit=permit))
                finally:
                    self.circuits.give_back(case.team.name, case.host, now)
            case _:
                assert_never(permit)

    def _host(self, case: Case) -> Disposition | Raced:
        """A host that the team spares is asked before anything is taken; a probe of its circuit is never too many."""
        limit = limit_of(case.team.hosts, case.host)
        if limit is None or isinstance(case.permit, Probe):
            return self._lock(case)
        limits = self.tools.limits
        longest = target_timeout(case.detail.target) + limits.lease_margin + limits.slot_margin
        match self.hosts.ask(case.record, limit, self.tools.clock.now() + longest):
            case Wait() as wait:
                return self.hosts.put_off(case.record, case.team, wait)
            case OtherHand():
                return PutBack(
                    seconds=OTHER_HAND_SECONDS, why="another message of it is about to call its host"
                )
            case Go(place):
                try:
                    return self._lock(case)
                finally:
                    self.hosts.leave(place)

    def _lock(self, case: Case) -> Disposition | Raced:
        record, now = case.record, self.tools.clock.now()
        timeout = target_timeout(case.detail.target)
        lease = Lease(
            fence=max(record.fence + 1, to_ms(now)),
            until=floor_ms(now + timeout + self.tools.limits.lease_margin),
            begun=floor_ms(now),
        )
        if record.overlap is Overlap.ALLOW:
            return self._slot(case, lease)
        match self.doors.gate.take(record, fence=lease.fence, until=lease.until, now=now):
            case LockHeld(fence):
                return self._slot(case, replace(lease, fence=fence))
            case LockBusy(holder):
                return self._overlapping(case, holder)
            case other:
                assert_never(other)

    def _overlapping(self, case: Case, holder: Execution | None) -> Disposition | Raced:
        """Another firing of the job is not over. What has started is never skipped: it waits for its turn."""
        record, now = case.record, self.tools.clock.now()
        if holder is not None and isinstance(judge(holder, now, self.tools.limits), Lapsed):
            self.lapses.run(holder)
            return Raced("the lock's holder was lost, and has been judged")
        if record.overlap is Overlap.SKIP and not started(record):
            return self.endings.skipped(record, Reason.OVERLAP, case.team, case.job)
        match self.doors.gate.join(record, now):
            case None:
                return Raced("it moved before it could wait for its turn")
            case QueueFull() if started(record):
                return PutBack(seconds=BUSY_SECONDS, why="too many firings of the job wait for their turn")
            case QueueFull():
                return self.endings.skipped(record, Reason.OVERLAP, case.team, case.job)
            case Execution():
                return Acknowledge(why="it waits for its turn")

    def _slot(self, case: Case, lease: Lease) -> Disposition | Raced:
        record, now = case.record, self.tools.clock.now()
        # Whoever waited for the job's turn has not yet waited for a slot.
        newcomer = record.state is not ExecutionState.WAITING or record.lane == overlap_lane(record.id.uid)
        if newcomer and self.doors.backlog.crowded(case.team, now):
            return self._join(case)
        taken = self.doors.slots.take(record, case.team, fence=lease.fence, lease_until=lease.until, now=now)
        match taken:
            case SlotHeld(number):
                return self._lease(case, lease, number)
            case Full():
                return self._join(case)
            case _:
                assert_never(taken)

    def _join(self, case: Case) -> Disposition | Raced:
        joined = self.doors.backlog.join(case.record, case.team, self.tools.clock.now())
        if joined is None:
            return Raced("it moved before it could wait for a slot")
        return Acknowledge(why="it waits for a slot")

    def _lease(self, case: Case, lease: Lease, slot: str) -> Disposition | Raced:
        write = leased(case.record, lease, slot=slot, detail=case.detail.digest, limits=self.tools.limits)
        waited = case.record.state is ExecutionState.WAITING
        commit = watched_from_waiting if waited else Tools.commit
        if not commit(self.tools, case.record, write):
            self.tools.repeated(lambda: self.doors.slots.forfeit(write.record, self.tools.clock.now()))
            return Raced("somebody else took the lease")
        return self.attempts.run(replace(case, record=write.record))
