"""What comes out of a dead-letter queue: decided by the record, never by the message (protocol D2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.delivery.dead_letters import (
    dead_letter_key,
    dead_letter_notified,
    decode_dead_letter,
)
from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.finish import UNTOLD_SECONDS, Finish
from fencepost.application.delivery.lapse import Lapses
from fencepost.application.delivery.notices import Notices, wants
from fencepost.application.delivery.results import (
    Acknowledge,
    Alone,
    Disposition,
    PutBack,
    Raced,
    facts_of,
    no_team,
)
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.watch import Watch
from fencepost.application.moves import rewritten
from fencepost.application.planting import wake_timer
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import Item, OutcomeUnknownError, StoreBusyError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_ms
from fencepost.domain.judgement import Early, Finished, Hold, Lapsed, LiveLease, Ready, judge
from fencepost.domain.model import Execution, Team
from fencepost.domain.notification import Notification, NotificationKind
from fencepost.domain.states import ExecutionState

ROUNDS = 6
BUSY_SECONDS = 10
LONGEST_UNTOLD_SECONDS = 3_600
MOST_TELLINGS = 24
"""What is no death is told again for a day at most: whoever is deaf for longer asks the ledger."""
REPLANT_AFTER = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """One per process. A message that is put back stays in its queue until the team was told."""

    tools: Tools
    finish: Finish
    lapses: Lapses
    endings: Endings
    watch: Watch
    notices: Notices

    def handle(self, identity: ExecutionId, now: datetime, receives: int = 1) -> Disposition:
        """Finishes, tells, watches, retries or plants anew, as the record asks for; `receives`: how often the message
        came.

        Raises UndecodableError for a record that cannot be understood: its message belongs to an operator.
        """
        try:
            return _patient(self._handle(identity, now), receives)
        except (StoreBusyError, OutcomeUnknownError, QueueUnavailableError) as error:
            return PutBack(seconds=BUSY_SECONDS, why=str(error))

    def tell(self, notification: Notification, now: datetime, receives: int = 1) -> Disposition:
        """Tells what no firing's end tells: a pause, a job that can no longer fire, a host that fails. Whoever does not
        take it is told again after twice the time each time.
        """
        team = self.tools.reads.team(notification.team, now)
        if team is None:
            return Acknowledge(why=f"there is no team {notification.team} any more")
        if not self.notices.notifier.notify(notification, team.notify):
            return PutBack(seconds=_again_after(receives), why="the team could not be told yet")
        return Acknowledge(why="the team is told")

    def _handle(self, identity: ExecutionId, now: datetime) -> Disposition:
        for _ in range(ROUNDS):
            record = self.tools.reads.record(identity)
            if record is None:
                return Acknowledge(why="no such execution: it was over, and has been forgotten")
            team = self.tools.reads.team(record.team, now)
            if team is None:
                return no_team(record)
            result = self._decide(record, team, now)
            if not isinstance(result, Raced):
                return result
        return PutBack(seconds=BUSY_SECONDS, why="others keep moving it")

    def _decide(self, record: Execution, team: Team, now: datetime) -> Disposition | Raced:
        step = judge(record, now, self.tools.limits)
        match step:
            case Finished():
                return self._finished(record, team, now)
            case LiveLease():
                return self.watch.over(record, step)
            case Lapsed():
                return self.lapses.run(record)
            case Early() | Hold() | Ready():
                return self._never_leased(record, team, now)
            case _:
                assert_never(step)

    def _finished(self, record: Execution, team: Team, now: datetime) -> Disposition | Raced:
        if record.state is not ExecutionState.DEAD:
            return self.finish.again(record, buried=True)
        if not record.told:  # this message is the proof that the queue took it
            told = rewritten(record, told=True)
            if not self.tools.commit(record, told):
                return Raced("it was redriven meanwhile")
            record = told.record
        disposition = self.finish.again(record, buried=True)
        if not isinstance(disposition, Acknowledge):
            return disposition
        return self._notified(record, team, now)

    def _notified(self, record: Execution, team: Team, now: datetime) -> Disposition:
        """Tells the team, and notes it only when everybody whom the team named has taken it."""
        facts = facts_of(record)
        item = self.tools.store.get(dead_letter_key(record))
        if item is None or _noted(item):
            return Acknowledge(why="the team was told", facts=facts)
        wanted = wants(NotificationKind.DEAD, team, self.tools.reads.job(record.id.uid))
        if wanted and not self.notices.send(NotificationKind.DEAD, record, team, now):
            untold = replace(facts, untold=True)
            return PutBack(seconds=UNTOLD_SECONDS, why="the team could not be told yet", facts=untold)
        self.tools.store.write(dead_letter_notified(record, now))
        return Acknowledge(
            why="the team is told" if wanted else "the team does not want to be told", facts=facts
        )

    def _never_leased(self, record: Execution, team: Team, now: datetime) -> Disposition | Raced:
        """Its wake-ups were spent by crashes: a new one, a few times; then it is dead."""
        if record.replants >= self.tools.limits.undeliverable_after:
            job = self.tools.reads.job(record.id.uid)
            note = f"its worker crashed before it began, again after {record.replants} new wake-ups"
            return self.endings.undeliverable(record, note, team, job)
        at = max(record.wake_at, floor_ms(now + REPLANT_AFTER))
        limits = self.tools.limits
        planted = self.tools.commit_with_timer(
            record,
            rewritten(record, replants=record.replants + 1),
            lambda moment: wake_timer(record, at, now=moment, limits=limits),
        )
        if planted is None:
            return Raced("somebody moved it after all")
        self.tools.hand_over(record, planted)
        return Acknowledge(why="it has a new wake-up", facts=facts_of(record))


def _noted(item: Item) -> bool:
    """Whether the dead letter says that the team was told. One that nobody can read does not, and the record says all that
    there is to tell. Raises NewerShapeError.
    """
    try:
        return decode_dead_letter(item).notified_at is not None
    except NewerShapeError:
        raise
    except UndecodableError:
        return False


def _patient(disposition: Disposition, receives: int) -> Disposition:
    """Untold ones come back after twice the time each time; but for deaths, not for ever."""
    facts = None if isinstance(disposition, Alone) else disposition.facts
    if not isinstance(disposition, PutBack) or facts is None or not facts.untold:
        return disposition
    if facts.state is not ExecutionState.DEAD and receives >= MOST_TELLINGS:
        return Acknowledge(why="the team could not be told, and is not told any more", facts=facts)
    return replace(disposition, seconds=_again_after(receives))


def _again_after(receives: int) -> int:
    """A minute, then twice as long each time, up to an hour."""
    return int(min(UNTOLD_SECONDS * 2 ** min(receives - 1, 8), LONGEST_UNTOLD_SECONDS))
