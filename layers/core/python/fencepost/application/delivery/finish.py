"""What a final record still owes: its slot, its lock, its dead letter, what the team asked to be told.

Every wake-up that meets a final record pays again what may be unpaid; each duty may be paid twice without harm, so a
crash at any point is healed by the message that was not acknowledged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, assert_never

from fencepost.application import messages
from fencepost.application.admission import Admission, waiting
from fencepost.application.admission.holdings import RESERVED
from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.delivery.notices import Notices
from fencepost.application.delivery.results import Acknowledge, Disposition, Facts, PutBack, facts_of, no_team
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import Moved, rewritten
from fencepost.application.planting import wake_timer
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import StoreError
from fencepost.domain.judgement import Duty, duties
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.states import ExecutionState

UNPAID_SECONDS = 5
UNTOLD_SECONDS = 60


class Aftermath(Protocol):
    """What a job's owner wants done once a firing is over. It may be asked again, and may raise StoreError."""

    def settled(self, record: Execution, team: Team, job: Job) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """One per process. Without `aftermath` nothing is done to jobs."""

    tools: Tools
    doors: Admission
    notices: Notices
    aftermath: Aftermath | None = None

    def again(self, record: Execution, *, buried: bool = False) -> Disposition:
        """Pays the duties of a record that was found final; `buried`: by a message of a dead-letter queue."""
        now = self.tools.clock.now()
        team = self.tools.reads.team(record.team, now)
        if team is None:
            return no_team(record)
        return self.run(record, team, self.tools.reads.job(record.id.uid), buried=buried)

    def run(
        self,
        record: Execution,
        team: Team,
        job: Job | None,
        facts: Facts | None = None,
        *,
        buried: bool = False,
    ) -> Disposition:
        """Pays the duties of `record`; what could not be paid keeps the message. What nobody took, whoever empties the
        dead-letter queues tells again.
        """
        now = self.tools.clock.now()
        known = replace(facts or facts_of(record), state=record.state)
        unpaid = [duty for duty in duties(record) if not self._paid(duty, record, team, now)]
        if unpaid:
            return PutBack(seconds=UNPAID_SECONDS, why=f"unpaid: {', '.join(unpaid)}", facts=known)
        known = replace(known, untold=not self.notices.tell(record, team, job, now))
        if job is not None and not self._settled(record, team, job):
            return PutBack(seconds=UNPAID_SECONDS, why="its job is not seen to", facts=known)
        if known.untold and (buried or not self._told_later(record)):
            return PutBack(seconds=UNTOLD_SECONDS, why="the team could not be told yet", facts=known)
        return Acknowledge(why=f"it is {record.state}", facts=known)

    def _told_later(self, record: Execution) -> bool:
        """Whether a dead-letter queue took the message, which stays there until the team is told."""
        try:
            return bool(self.tools.queues.send([messages.dead(record)])[0])
        except QueueUnavailableError:
            return False

    def _settled(self, record: Execution, team: Team, job: Job) -> bool:
        try:
            if self.aftermath is not None:
                self.aftermath.settled(record, team, job)
        except StoreError:
            return False
        return True

    def waits(
        self,
        record: Execution,
        after: Moved,
        team: Team,
        at: datetime,
        *,
        in_hand: bool,
        insist: bool = False,
    ) -> bool:
        """Whether a move to a wait until `at` was written: then the slot is free, for others are waiting; then it has its
        wake-up, before the message in hand goes, or in the same write where none is `in_hand`.
        """
        held, limits = self.giving_up(record), self.tools.limits
        if in_hand:
            if not self.tools.commit(record, after, insist=insist):
                return False
            self.freed(held, team)
            self.tools.rearm(after.record, at)
            return True
        timer = self.tools.commit_with_timer(
            record, after, lambda now: wake_timer(after.record, at, now=now, limits=limits)
        )
        if timer is None:
            return False
        self.freed(held, team)
        self.tools.hand_over(after.record, timer)
        return True

    def giving_up(self, record: Execution) -> Execution:
        """`record` with the slot that it leaves behind when it moves on: its own, or one reserved for its turn."""
        if record.state is not ExecutionState.WAITING:
            return record
        number = waiting.reserved_slot(self.tools.admission, record)
        return replace(record, slot=number, fence=RESERVED)

    def freed(self, record: Execution, team: Team) -> None:
        """Gives up the slot of a record that goes on without it. Failing blocks nothing: a slot expires."""
        if record.slot is not None:
            self._paid(Duty.FREE_SLOT, record, team, self.tools.clock.now())

    def _paid(self, duty: Duty, record: Execution, team: Team, now: datetime) -> bool:
        try:
            match duty:
                case Duty.FREE_SLOT:
                    self.doors.backlog.hand_over(record, team, now)
                case Duty.RELEASE_LOCK:
                    self.doors.gate.release(record, now)
                case Duty.TELL_DEAD_LETTERS:
                    return self._told(record)
                case _:
                    assert_never(duty)
        except NewerShapeError:
            return False
        except UndecodableError:
            return True  # what nobody can read, nobody can give back: it keeps no other duty from being paid
        except (StoreError, QueueUnavailableError):
            return False
        return True

    def _told(self, record: Execution) -> bool:
        """The dead-letter queue took the message, and only then the record says so."""
        if not self.tools.queues.send([messages.dead(record)])[0]:
            return False
        self.tools.commit(record, rewritten(record, told=True))
        return True
