"""Hands claimed records and existing executions to their queues; only then are their timers deleted.

A timer that still exists is a firing not yet handed over: the bucket is its own outbox.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys, messages
from fencepost.application.codec import encode_timer
from fencepost.application.ports import Clock, Outgoing, Queues, QueueUnavailableError, tier_queue
from fencepost.application.scanning.report import ScanReport
from fencepost.application.store import Key, Put, Store, StoreError
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Execution, Timer, TimerKind
from fencepost.domain.states import ExecutionState


def nobody_asked(record: Execution) -> bool:
    """Nobody is told of what was skipped at its claim."""
    del record
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Sends, then deletes. A crash in between repeats the sending, which is harmless."""

    store: Store
    queues: Queues
    clock: Clock
    limits: Limits
    tells: Callable[[Execution], bool] = nobody_asked

    def records(self, pairs: Sequence[tuple[Execution, Timer]], report: ScanReport) -> None:
        """Hands over claimed records; those that are final need no message, only their timer deleted, unless somebody
        asked to be told of a skip.
        """
        now = self.clock.now()
        untold = {record.id for record, _ in pairs if self._to_tell(record)}
        far = [pair for pair in pairs if self._far(pair[0], now)]
        near = [pair for pair in pairs if self._to_send(pair[0], now) or pair[0].id in untold]
        done = [keys.timer(timer) for record, timer in pairs if record.final and record.id not in untold]
        done += [keys.timer(timer) for record, timer in far if self._planted(record, timer)]
        outgoing = [
            messages.wake(record, at=record.wake_at, now=now, limits=self.limits) for record, _ in near
        ]
        done += self._sent(outgoing, [keys.timer(timer) for _, timer in near])
        self._forget(done, report)

    def wake_ups(self, timers: Sequence[Timer], report: ScanReport) -> None:
        """Retry and watch timers: sent with the delay to their instant; whoever receives them judges (D7)."""
        now = self.clock.now()
        outgoing = [
            Outgoing(
                queue=tier_queue(timer.tier),
                body=messages.wake_body(timer.execution),
                delay=messages.delay_seconds(timer.instant - now, self.limits),
                group=timer.team or None,
            )
            for timer in timers
            if timer.execution is not None
        ]
        self._forget(self._sent(outgoing, [keys.timer(timer) for timer in timers]), report)

    def _to_tell(self, record: Execution) -> bool:
        """Whoever is woken by the message pays what a final record owes; asking too often does no harm."""
        return record.state is ExecutionState.SKIPPED and self.tells(record)

    def _to_send(self, record: Execution, now: datetime) -> bool:
        return not record.final and not self._far(record, now)

    def _far(self, record: Execution, now: datetime) -> bool:
        return not record.final and record.wake_at - now > self.limits.timer_instead

    def _planted(self, record: Execution, timer: Timer) -> bool:
        """A release too far ahead for a queue's delay becomes a `retry` timer (protocol C4)."""
        later = Timer(
            bucket=Bucket.at(record.wake_at, timer.bucket.shard),
            kind=TimerKind.RETRY,
            instant=record.wake_at,
            uid=record.id.uid,
            sequence=0,
            due=record.wake_at,
            team=record.team,
            tier=record.tier,
            execution=record.id,
        )
        try:
            self.store.write(Put(key=keys.timer(later), item=encode_timer(later)))
        except StoreError:
            return False
        return True

    def _sent(self, outgoing: Sequence[Outgoing], timer_keys: Sequence[Key]) -> list[Key]:
        if not outgoing:
            return []
        try:
            accepted = self.queues.send(outgoing)
        except QueueUnavailableError:
            return []
        return [key for key, taken in zip(timer_keys, accepted, strict=True) if taken]

    def _forget(self, timer_keys: Sequence[Key], report: ScanReport) -> None:
        report.handed_over += len(timer_keys)
        if timer_keys:
            try:
                self.store.batch_delete(timer_keys)
            except StoreError:
                return
