"""What every wake-up runs, whatever its kind: read the record, judge it, do the one next step (protocol A1)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.lapse import Lapses
from fencepost.application.delivery.results import (
    Acknowledge,
    Alone,
    Disposition,
    PutBack,
    Raced,
    facts_of,
    whole_seconds,
)
from fencepost.application.delivery.start import Start
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.watch import Watch
from fencepost.application.ports import Outgoing, QueueUnavailableError, Received, dead_queue
from fencepost.application.store import OutcomeUnknownError, StoreBusyError, StoreError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import ZERO
from fencepost.domain.judgement import Early, Finished, Hold, Lapsed, LiveLease, Ready, Step, judge
from fencepost.domain.model import Execution, Tier

ROUNDS = 6
BUSY_SECONDS = 2
NEWER_SECONDS = 60
"""When a message is looked at again whose record a later version wrote: that version may be the next to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """One per process; any number of threads may run it."""

    tools: Tools
    finish: Finish
    lapses: Lapses
    watch: Watch
    start: Start

    def expect(self, identities: Sequence[ExecutionId]) -> None:
        """Reads the records of a batch at once, before `run` is called for each of them."""
        with suppress(StoreError):  # then each reads its own
            self.tools.reads.expect(identities, self.tools.clock.now())

    def run(self, identity: ExecutionId, received: Received | None, *, alone: bool = False) -> Disposition:
        """Takes the execution as far as it goes now, and says what to do with the message that woke it.

        Nothing in the message is trusted but the id. `alone`: no other execution is in flight in this process.
        Raises nothing that a repeat would heal; UndecodableError where there is no message to bury.
        """
        try:
            disposition = self._advance(identity, alone=alone)
        except NewerShapeError as error:
            disposition = PutBack(seconds=NEWER_SECONDS, why=str(error))
        except UndecodableError as error:
            return self._buried(received, error)
        except (StoreBusyError, OutcomeUnknownError, QueueUnavailableError) as error:
            disposition = PutBack(seconds=BUSY_SECONDS, why=str(error))
        return self._kept_from_burial(disposition, received)

    def _advance(self, identity: ExecutionId, *, alone: bool) -> Disposition:
        for _ in range(ROUNDS):
            record = self.tools.reads.record(identity, self.tools.clock.now())
            if record is None:
                return Acknowledge(why="no such execution: it was over, and has been forgotten")
            step = judge(record, self.tools.clock.now(), self.tools.limits)
            result = self._step(record, step, alone=alone)
            if not isinstance(result, Raced):
                return result
        return PutBack(seconds=BUSY_SECONDS, why="others keep moving it")

    def _step(self, record: Execution, step: Step, *, alone: bool) -> Disposition | Raced:
        match step:
            case Finished():
                return self.finish.again(record)
            case Early():
                return self._early(record, step)
            case LiveLease():
                return self._live_lease(record, step)
            case Lapsed():
                return self.lapses.run(record)
            case Hold() | Ready():
                if record.losses >= self.tools.limits.single_after_losses and not alone:
                    return Alone(why=f"{record.losses} workers were lost with it")
                if not self._held(record):
                    return PutBack(seconds=1, why="it is not yet due by this clock")
                return self.start.run(record)
            case _:
                assert_never(step)

    def _early(self, record: Execution, step: Early) -> Disposition:
        if step.remaining > self.tools.limits.timer_instead:
            self.tools.plant_wake(record, record.wake_at)
            return Acknowledge(why=f"{step.why}: a timer will wake it")
        early = self.tools.limits.early_send
        return PutBack(seconds=whole_seconds(step.remaining - early), why=step.why, facts=facts_of(record))

    def _live_lease(self, record: Execution, step: LiveLease) -> Disposition | Raced:
        """Somebody holds it: this wake-up becomes the one that judges the lease's end, unless there is a watch."""
        if step.remaining <= self.tools.limits.hold_at_most:
            self.tools.clock.sleep(step.remaining)
            return Raced("its lease was about to end")
        if step.watched:
            return self.watch.over(record, step)
        return PutBack(seconds=whole_seconds(step.remaining), why=step.why, facts=facts_of(record))

    def _held(self, record: Execution) -> bool:
        """Waits until it is due by this process's own clock, whatever a sleep returns; false: it still is not."""
        for _ in range(ROUNDS):
            remaining = record.wake_at - self.tools.clock.now()
            if remaining <= ZERO:
                return True
            self.tools.clock.sleep(remaining)
        return record.wake_at <= self.tools.clock.now()

    def _buried(self, received: Received | None, error: UndecodableError) -> Disposition:
        """What cannot be understood now will not be in five minutes: to the dead-letter queue after one try."""
        if received is None:
            raise error
        grave = dead_queue(Tier(received.queue.value))
        if not self.tools.queues.send([Outgoing(queue=grave, body=received.body)])[0]:
            return PutBack(seconds=BUSY_SECONDS, why=str(error))
        return Acknowledge(why=f"{error}: sent to {grave}")

    def _kept_from_burial(self, disposition: Disposition, received: Received | None) -> Disposition:
        """Only crashes may bring a message to the dead-letter queue: what is put back on purpose is sent anew."""
        if not isinstance(disposition, PutBack) or received is None:
            return disposition
        if received.receive_count < self.tools.limits.resend_at_receive:
            return disposition
        longest = whole_seconds(self.tools.limits.max_delay)
        anew = Outgoing(
            queue=received.queue,
            body=received.body,
            delay=min(disposition.seconds, longest),
            group=disposition.facts.team if disposition.facts else None,
        )
        try:
            taken = self.tools.queues.send([anew])[0]
        except QueueUnavailableError:
            taken = False
        return (
            Acknowledge(why=f"{disposition.why}: sent anew", facts=disposition.facts)
            if taken
            else disposition
        )
