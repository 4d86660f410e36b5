"""What every part of delivery works with, and how it writes: insisting where that is safe, never guessing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from fencepost.application import keys, messages
from fencepost.application.admission import waiting
from fencepost.application.admission.context import Context
from fencepost.application.codec import ms
from fencepost.application.delivery.reads import Reads
from fencepost.application.moves import Moved, created
from fencepost.application.planting import plant, wake_timer
from fencepost.application.ports import Clock, Entropy, Queues, QueueUnavailableError
from fencepost.application.store import (
    Action,
    Cancelled,
    Delete,
    Item,
    OutcomeUnknownError,
    Store,
    StoreBusyError,
    StoreError,
    Won,
)
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Timer
from fencepost.domain.states import Move

T = TypeVar("T")
TRIES = 4
FIRST_PAUSE = timedelta(milliseconds=100)


class _Written(StrEnum):
    """What became of one try."""

    WON = "won"
    LOST = "lost"
    BUSY = "busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The ports and limits, and the writes that all parts share. One per process."""

    store: Store
    queues: Queues
    clock: Clock
    entropy: Entropy
    reads: Reads
    limits: Limits

    @property
    def admission(self) -> Context:
        """The same ports, as admission wants them."""
        return Context(
            store=self.store,
            queues=self.queues,
            clock=self.clock,
            entropy=self.entropy,
            limits=self.limits,
        )

    def commit(self, before: Execution, moved: Moved, *extra: Action, insist: bool = False) -> bool:
        """Writes a move, with its entry in a waiting lane and with `extra`, or nothing. False: the race is lost.

        A busy store is asked again, a lost answer is looked up; StoreBusyError when that did not help. `insist`:
        what a target answered cannot be asked for again, so it is worth seconds of asking.
        """
        for turn in range(2 * TRIES if insist else TRIES):
            match self._attempt(before, moved, extra):
                case _Written.WON:
                    return True
                case _Written.LOST:
                    return False
                case _Written.BUSY:
                    self.pause(turn)
        raise StoreBusyError(f"{before.id}: the store stayed busy")

    def commit_with_timer(
        self, before: Execution, moved: Moved, timer_at: Callable[[datetime], Timer], *extra: Action
    ) -> Timer | None:
        """Writes a move together with the timer that will wake it. None: the race is lost, for the record or with the
        proof pass for the timer's bucket; whoever reads the record anew plants with a new now (protocol C2).

        Raises StoreBusyError when the store stayed busy; gives up within 60 s.
        """
        for turn, now in self._turns():
            planted = plant(timer_at(now), now, self.limits)
            match self._attempt(before, moved, (*planted.actions, *extra)):
                case _Written.WON:
                    return planted.timer
                case _Written.LOST:
                    return None
                case _Written.BUSY:
                    self.pause(turn)
        raise StoreBusyError(f"{before.id}: no timer could be planted")

    def create_with_timer(self, record: Execution, timer_at: Callable[[datetime], Timer]) -> Timer | None:
        """Puts a record that nobody has put yet, with the timer that will wake it; None: somebody was first.

        Starts again with a new now as `commit_with_timer` does; a lost answer is told by the claim id.
        """
        for turn, now in self._turns():
            planted = plant(timer_at(now), now, self.limits)
            with suppress(StoreBusyError, OutcomeUnknownError):
                self.store.transact((created(record, Move.CLAIM), *planted.actions))
            there = self.store.get(keys.execution(record.id))
            if there is not None:
                return planted.timer if there.get("claim") == record.claim_id else None
            self.pause(turn)
        raise StoreBusyError(f"{record.id}: no timer could be planted")

    def rearm(self, record: Execution, at: datetime) -> None:
        """Leaves a durable wake-up for `record` at `at`: a delayed message, or a timer where that is too far off or
        the queue does not take it. Raises StoreError when neither could be left.
        """
        if not self.send_wake(record, at):
            self.plant_wake(record, at)

    def send_wake(self, record: Execution, at: datetime) -> bool:
        """Whether the queue took a message that surfaces at `at`; it takes none for longer than 15 minutes."""
        now = self.clock.now()
        if at - now > self.limits.max_delay:
            return False
        try:
            return self.queues.send([messages.wake(record, at=at, now=now, limits=self.limits)])[0]
        except QueueUnavailableError:
            return False

    def plant_wake(self, record: Execution, at: datetime) -> Timer:
        """Plants a `retry` timer by itself; raises StoreBusyError when that could not be done."""
        for turn in range(2 * TRIES):
            now = self.clock.now()
            planted = plant(wake_timer(record, at, now=now, limits=self.limits), now, self.limits)
            with suppress(StoreBusyError, OutcomeUnknownError):
                if not isinstance(self.store.transact(planted.actions), Cancelled):
                    return planted.timer
            self.pause(turn)
        raise StoreBusyError(f"{record.id}: no timer could be planted")

    def hand_over(self, record: Execution, timer: Timer) -> bool:
        """Sends what `timer` stands for and only then deletes it; false: the timer stays and will be scanned."""
        if not self.send_wake(record, timer.instant):
            return False
        self.forget(timer)
        return True

    def forget(self, timer: Timer) -> None:
        """Deletes a timer that is no longer needed; one that stays only repeats a wake-up."""
        try:
            self.store.write(Delete(key=keys.timer(timer)))
        except StoreError:
            return

    def repeated(self, call: Callable[[], T]) -> T:
        """The result of a call that may be made twice, made again while the store is busy or does not answer."""
        for turn in range(TRIES - 1):
            try:
                return call()
            except (StoreBusyError, OutcomeUnknownError):
                self.pause(turn)
        return call()

    def pause(self, turn: int) -> None:
        """Waits with jitter before try number `turn` + 2: 0.1 s, doubled each time up to 1.6 s."""
        self.clock.sleep(FIRST_PAUSE * 2 ** min(turn, 4) * (0.5 + self.entropy.fraction() / 2))

    def _turns(self) -> Iterator[tuple[int, datetime]]:
        """Tries of a writer that plants, each with a new now; the second is made however long the first one took."""
        began = self.clock.now()
        for turn in range(2 * TRIES):
            now = self.clock.now()
            if turn < 2 or now - began <= self.limits.writer_gives_up:
                yield turn, now

    def _attempt(self, before: Execution, moved: Moved, extra: Sequence[Action]) -> _Written:
        try:
            result = waiting.commit(self.admission, before, moved, *extra)
        except StoreBusyError:
            return _Written.BUSY
        except OutcomeUnknownError:
            return self._looked_up(before, moved)
        return _Written.WON if isinstance(result, Won) else _Written.LOST

    def _looked_up(self, before: Execution, moved: Moved) -> _Written:
        """No answer came: the record itself says whether the write took effect."""
        item = self.store.get(keys.execution(before.id))
        write = moved.write
        written = item is not None and all(item.get(name) == value for name, value in write.set.items())
        if item is not None and written and not any(name in item for name in write.remove):
            return _Written.WON
        return _Written.BUSY if _stands(before, item) else _Written.LOST


def _stands(before: Execution, item: Item | None) -> bool:
    """The stored record is still the one that was read."""
    seen = (before.state.value, before.generation, before.fence, before.attempt)
    read = (*seen, before.lane, ms(before.lease_until), before.told or None)
    names = ("state", "gen", "fence", "attempt", "lane", "lease", "told")
    return item is not None and tuple(item.get(name) for name in names) == read
