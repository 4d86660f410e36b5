"""The simulated queues: at least once, in no order. A message surfaces by an event, and whoever serves its queue is told.

What may go wrong with a message is drawn for each: a second copy, a long delay, another hand-out while it is still
in hand, one more after it was acknowledged, a hand-out that nobody gets and that counts. And for some minutes nobody may
poll a queue at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.adapters.queue_settings import QUEUE_SETTINGS, acceptable, check_visibility
from fencepost.application.ports import Outgoing, QueueName, Received
from tests.simulation.dice import Die
from tests.simulation.journal import GONE, SENT, TAKEN, Journal
from tests.simulation.kernel import MS, SECOND, Kernel
from tests.simulation.plan import Trouble

_LIFE = {
    name: (
        int(settings.visibility.total_seconds()) * SECOND,
        int(settings.retention.total_seconds()) * SECOND,
        settings.max_receives,
        settings.dead,
    )
    for name, settings in QUEUE_SETTINGS.items()
}


@dataclass(slots=True)
class Message:
    """A message that a queue keeps; `turn` tells its newest place from older ones."""

    id: str
    queue: QueueName
    body: str
    group: str | None
    sent_at: int
    turn: int = 0
    receives: int = 0
    gone: bool = False
    listed: bool = False
    tags: tuple[str, ...] = ()


class Mail:
    """`Queues`, and what a poller needs. `odds`: how likely each trouble is for one message."""

    def __init__(
        self,
        kernel: Kernel,
        journal: Journal,
        ready: Callable[[QueueName], None],
        odds: Mapping[str, float],
        asleep: Sequence[Trouble] = (),
    ) -> None:
        self._kernel = kernel
        self._journal = journal
        self._ready = ready
        self._odds = odds
        self._die = Die(f"{kernel.seed}/mail")
        self._serial = 0
        self._turns = 0
        self._visible: dict[QueueName, list[Message]] = {name: [] for name in QueueName}
        self._messages: dict[str, Message] = {}
        self._asleep = Counter[QueueName]()
        for stretch in asleep:
            queue = QueueName(stretch.kind)
            kernel.at(stretch.begins, self._sleep, (queue, 1))
            kernel.at(stretch.ends, self._sleep, (queue, -1))

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        return [self._accept(message) for message in messages]

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`."""
        check_visibility(seconds)
        held = self.held(message)
        if held is not None:
            self._place(held, self._kernel.now + seconds * SECOND)

    def take(self, queue: QueueName, limit: int) -> list[tuple[Received, tuple[str, ...]]]:
        """Up to `limit` visible messages, each with what is wrong about it."""
        if self._asleep[queue]:
            return []
        waiting, taken = self._visible[queue], list[tuple[Received, tuple[str, ...]]]()
        while waiting and len(taken) < limit:
            message = waiting.pop(self._die.below(len(waiting)) if "reordered" in self._odds else 0)
            message.listed = False
            received = None if message.gone else self._judge(message)
            if received is not None:
                taken.append((received, message.tags))
        return taken

    def delete(self, message: Received) -> None:
        """Acknowledges; a void receipt deletes nothing. Now and then a message comes once more all the same."""
        held = self.held(message)
        if held is None:
            return
        self._drop(held)
        if self._chance("redelivered") and not held.queue.startswith("dead"):
            self._copy(held, self._die.between(10 * MS, 60 * SECOND), "redelivered")

    def held(self, received: Received) -> Message | None:
        """The message in this hand, unless it was handed out again since."""
        message = self._messages.get(received.message_id)
        return message if message and received.receipt == f"{message.id}/{message.receives}" else None

    def left(self) -> list[Message]:
        """All messages that the queues hold."""
        return list(self._messages.values())

    def _sleep(self, change: tuple[QueueName, int]) -> None:
        """Stretches may lie over each other."""
        queue, more = change
        self._asleep[queue] += more
        if not self._asleep[queue]:
            self._ready(queue)

    def _accept(self, message: Outgoing) -> bool:
        if not acceptable(message):
            return False
        delay = message.delay * SECOND
        kept = self._keep(message.queue, message.body, message.group)
        if self._chance("delayed"):
            delay += self._die.between(SECOND, 600 * SECOND)
            kept.tags = ("delayed",)
        self._place(kept, self._kernel.now + delay)
        if self._chance("duplicated"):
            self._copy(kept, delay + self._die.between(MS, 30 * SECOND), "duplicated")
        return True

    def _keep(self, queue: QueueName, body: str, group: str | None) -> Message:
        self._serial += 1
        kept = Message(f"m{self._serial}", queue, body, group, self._kernel.now)
        self._messages[kept.id] = kept
        self._journal.note(SENT, queue, kept.id, body)
        return kept

    def _copy(self, message: Message, delay: int, tag: str) -> None:
        twin = self._keep(message.queue, message.body, message.group)
        twin.tags = (tag,)
        self._place(twin, self._kernel.now + delay)

    def _place(self, message: Message, visible_at: int) -> None:
        if message.listed:
            self._visible[message.queue].remove(message)
            message.listed = False
        self._turns += 1
        message.turn = self._turns
        late = self._die.between(MS, 200 * MS)
        self._kernel.at(visible_at + late, self._surface, (message, message.turn))

    def _surface(self, place: tuple[Message, int]) -> None:
        message, turn = place
        if message.turn == turn and not message.gone:
            self._visible[message.queue].append(message)
            message.listed = True
            self._ready(message.queue)

    def _judge(self, message: Message) -> Received | None:
        """Hands one visible message out, unless it is too old (it goes) or was received too often (it moves)."""
        visibility, retention, most, dead = _LIFE[message.queue]
        if self._kernel.now - message.sent_at >= retention:
            self._drop(message)
            return None
        if dead is not None and message.receives >= (most or 0):
            self._bury(message, dead)
            return None
        message.receives += 1
        self._journal.note(TAKEN, message.queue, message.id, message.body)
        if dead is not None and self._chance("wasted"):
            self._place(message, self._kernel.now + self._die.between(10 * MS, 5 * SECOND))
            return None
        if self._chance("redelivered"):
            visibility = min(visibility, self._die.between(10 * MS, 60 * SECOND))
            message.tags = ("redelivered",)
        self._place(message, self._kernel.now + visibility)
        return Received(
            queue=message.queue,
            body=message.body,
            receipt=f"{message.id}/{message.receives}",
            receive_count=message.receives,
            message_id=message.id,
        )

    def _bury(self, message: Message, dead: QueueName) -> None:
        """Moves a message that was received too often. It is sent to the one queue before it is gone from the other."""
        self._journal.note(SENT, dead, message.id, message.body)
        message.queue = dead
        self._place(message, self._kernel.now)

    def _drop(self, message: Message) -> None:
        message.gone = True
        del self._messages[message.id]
        self._journal.note(GONE, message.queue, message.id, message.body)

    def _chance(self, trouble: str) -> bool:
        odds = self._odds.get(trouble)
        return odds is not None and self._die.roll() < odds
