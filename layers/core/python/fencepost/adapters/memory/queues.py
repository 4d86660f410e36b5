"""Standard queues in memory, on the clock they are given: delay, visibility, receive counts, dead letters."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.adapters.queue_settings import (
    BATCH_ENTRIES,
    QUEUE_SETTINGS,
    QueueSettings,
    acceptable,
    check_visibility,
)
from fencepost.application.ports import Clock, Outgoing, QueueName, Received

_POLL = timedelta(milliseconds=100)


@dataclass(slots=True, kw_only=True)
class _Message:
    """A message that a queue keeps; `turn` tells its newest place in the queue's order from older ones."""

    id: str
    body: str
    group: str | None
    sent_at: datetime
    visible_at: datetime
    turn: int
    receives: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A message as tests and the local console see it."""

    body: str
    group: str | None
    visible_at: datetime
    receives: int


class MemoryQueues:
    """`Queues` and `QueueConsumer` in this process, thread-safe.

    The message that became visible first comes first, ties in the order of sending: an order, so that tests repeat,
    where real queues promise none. A receipt is void once its message was received again.
    """

    def __init__(self, clock: Clock, settings: Mapping[QueueName, QueueSettings] = QUEUE_SETTINGS) -> None:
        self._clock = clock
        self._settings = settings
        self._messages: dict[QueueName, dict[str, _Message]] = {name: {} for name in settings}
        self._orders: dict[QueueName, list[tuple[datetime, int, str]]] = {name: [] for name in settings}
        self._turns = 0
        self._lock = threading.Lock()

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        now = self._clock.now()
        with self._lock:
            return [self._accept(message, now) for message in messages]

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`; nothing happens when the message is no longer in this hand."""
        check_visibility(seconds)
        now = self._clock.now()
        with self._lock:
            held = self._held(message)
            if held is not None:
                self._place(message.queue, held, now + timedelta(seconds=seconds))

    def receive(self, queue: QueueName, limit: int, wait: timedelta) -> Sequence[Received]:
        """See `QueueConsumer.receive`."""
        for _ in range(wait // _POLL):
            received = self._take(queue, min(limit, BATCH_ENTRIES))
            if received:
                return received
            self._clock.sleep(_POLL)
        return self._take(queue, min(limit, BATCH_ENTRIES))

    def delete(self, messages: Sequence[Received]) -> None:
        """See `QueueConsumer.delete`; a void receipt deletes nothing."""
        with self._lock:
            for message in messages:
                if self._held(message) is not None:
                    del self._messages[message.queue][message.message_id]

    def depth(self, queue: QueueName) -> int:
        """How many messages the queue holds, hidden and delayed ones included."""
        with self._lock:
            return len(self._messages[queue])

    def waiting(self, queue: QueueName) -> Sequence[Waiting]:
        """What the queue holds, in the order in which it will surface."""
        with self._lock:
            held = sorted(self._messages[queue].values(), key=lambda each: (each.visible_at, each.turn))
        return [
            Waiting(body=each.body, group=each.group, visible_at=each.visible_at, receives=each.receives)
            for each in held
        ]

    def next_visible(self) -> datetime | None:
        """The earliest instant at which some queue has something to give (it may be past); None: all are empty."""
        with self._lock:
            heads = [self._head(queue) for queue in self._orders]
        return min((head for head in heads if head is not None), default=None)

    def _accept(self, message: Outgoing, now: datetime) -> bool:
        if not acceptable(message):
            return False
        self._turns += 1
        kept = _Message(
            id=f"m-{self._turns}",
            body=message.body,
            group=message.group,
            sent_at=now,
            visible_at=now,
            turn=self._turns,
        )
        self._messages[message.queue][kept.id] = kept
        self._place(message.queue, kept, now + timedelta(seconds=message.delay))
        return True

    def _take(self, queue: QueueName, limit: int) -> list[Received]:
        now = self._clock.now()
        received: list[Received] = []
        with self._lock:
            while len(received) < limit and (head := self._head(queue)) is not None and head <= now:
                message = self._messages[queue][heapq.heappop(self._orders[queue])[2]]
                given = self._judge(queue, message, now)
                received += [] if given is None else [given]
        return received

    def _judge(self, queue: QueueName, message: _Message, now: datetime) -> Received | None:
        """Hands one visible message out, unless it is too old (it goes) or was received too often (it moves)."""
        settings = self._settings[queue]
        if now - message.sent_at >= settings.retention:
            del self._messages[queue][message.id]
            return None
        if settings.dead is not None and message.receives >= (settings.max_receives or 0):
            self._bury(queue, settings.dead, message, now)
            return None
        return self._hand_out(queue, message, now + settings.visibility)

    def _head(self, queue: QueueName) -> datetime | None:
        """When the queue's first message surfaces; places that messages have left are cleared on the way."""
        order = self._orders[queue]
        while order:
            visible_at, turn, message_id = order[0]
            message = self._messages[queue].get(message_id)
            if message is not None and message.turn == turn:
                return visible_at
            heapq.heappop(order)
        return None

    def _hand_out(self, queue: QueueName, message: _Message, hidden_until: datetime) -> Received:
        message.receives += 1
        self._place(queue, message, hidden_until)
        return Received(
            queue=queue,
            body=message.body,
            receipt=f"{message.id}/{message.receives}",
            receive_count=message.receives,
            message_id=message.id,
        )

    def _bury(self, queue: QueueName, dead: QueueName, message: _Message, now: datetime) -> None:
        """Moves a message that was received too often; its receive count and its age go with it."""
        del self._messages[queue][message.id]
        self._messages[dead][message.id] = message
        self._place(dead, message, now)

    def _held(self, received: Received) -> _Message | None:
        message = self._messages[received.queue].get(received.message_id)
        return message if message and received.receipt == f"{message.id}/{message.receives}" else None

    def _place(self, queue: QueueName, message: _Message, visible_at: datetime) -> None:
        self._turns += 1
        message.turn = self._turns
        message.visible_at = visible_at
        heapq.heappush(self._orders[queue], (visible_at, message.turn, message.id))
