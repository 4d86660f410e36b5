"""A stage that admits executions: teams, firings, and workers that behave as delivery does, step by step.

`Office.deliver` is delivery cut down to what admission asks of it: queue while the team is crowded, lock, slot,
lease, and at the end the outcome, the slot handed over and the lock let go. Nothing here decides who may start.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import Around, seamed
from fencepost.application import keys, messages
from fencepost.application.admission import (
    Admission,
    Context,
    Full,
    LockBusy,
    LockHeld,
    SlotHeld,
    admission,
    waiting,
)
from fencepost.application.admission.holdings import Holding, decode_holding
from fencepost.application.codec import decode_execution
from fencepost.application.codec_job import encode_team
from fencepost.application.moves import created, finished, moved
from fencepost.application.ports import QueueName, Queues, tier_queue
from fencepost.application.store import Item, Put, Store, Table, Won
from fencepost.application.switches.codec import StageSwitches
from fencepost.application.switches.reading import standing
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Origin, Overlap, Team, Tier
from fencepost.domain.states import ExecutionState, Move
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.switches import halts

START = "2026-03-02T10:00:00.000Z"
LEASE = timedelta(seconds=25)


def uid_of(name: str) -> str:
    """A uid that says whose it is."""
    return ("".join(c for c in name if c.isalpha()) + "a" * 20)[:20]


class Dice(CountingEntropy):
    """Entropy whose next fractions a test may choose."""

    def __init__(self, fraction: float) -> None:
        super().__init__(fraction)
        self.chosen = fraction

    def fraction(self) -> float:
        """What was chosen."""
        return self.chosen


@dataclass
class Office:
    """One process of the stage; `another` gives a second one, with a memory of its own, over the same store.

    All draw from the same dice, since no two processes draw the same token.
    """

    store: MemoryStore
    queues: MemoryQueues
    clock: SettableClock
    arounds: tuple[Around, ...] = ()
    limits: Limits = field(default_factory=Limits)
    teams: dict[str, Team] = field(default_factory=dict)
    dice: Dice = field(default_factory=lambda: Dice(0.5))

    def __post_init__(self) -> None:
        self.context = Context(
            store=cast("Store", seamed(self.store, "store", *self.arounds)),
            queues=cast("Queues", seamed(self.queues, "queues", *self.arounds)),
            clock=self.clock,
            entropy=self.dice,
            limits=self.limits,
        )
        self.doors: Admission = admission(self.context)

    @classmethod
    def opened(cls, *arounds: Around, **changes: Any) -> Office:
        """An office over a fresh store, `arounds` put around its port calls."""
        clock = SettableClock(START)
        return cls(MemoryStore(clock), MemoryQueues(clock), clock, arounds, **changes)

    def another(self, **changes: Any) -> Office:
        """A second process."""
        return replace(self, **changes)

    @property
    def now(self) -> datetime:
        """The present instant of this test."""
        return self.clock.now()

    def team(self, name: str = "payments", cap: int = 2, *, paused: bool = False, **changes: Any) -> Team:
        """Registers a team, or changes it."""
        held = halts(self.now, whose=name) if paused else changes.pop("halts", ())
        team = Team(name=name, max_concurrency=cap, halts=held, **changes)
        self.store.write(Put(key=keys.team(name), item=encode_team(team)))
        self.teams[name] = standing(team, StageSwitches(), self.now)
        return self.teams[name]

    def firing(
        self, number: int = 0, *, team: str = "payments", job: str = "report", **changes: Any
    ) -> Execution:
        """A claimed execution, due now; `number` seconds later due than the first."""
        due = changes.pop("due", self.now + timedelta(milliseconds=number))
        record = Execution(
            id=ExecutionId.occurrence(uid_of(job), due),
            team=team,
            job=job,
            state=ExecutionState.QUEUED,
            origin=Origin.SCHEDULE,
            tier=changes.pop("tier", Tier.STANDARD),
            due=due,
            generation=1,
            planted_generation=1,
            claimed_at=self.now,
            **changes,
        )
        self.store.write(created(record, Move.CLAIM))
        return record

    def read(self, record: Execution) -> Execution:
        """The record as it is stored."""
        return self.by_id(record.id)

    def by_id(self, identity: ExecutionId) -> Execution:
        """The record of an id, as it is stored."""
        item = self.store.get(keys.execution(identity))
        assert item is not None
        return decode_execution(item)

    def fence(self, record: Execution) -> int:
        """The fence of a lease that begins now (protocol D3)."""
        return max(record.fence + 1, to_ms(self.now))

    def take(self, record: Execution, lease: timedelta = LEASE) -> SlotHeld | Full:
        """Only the slot."""
        until = self.now + lease
        team = self.teams[record.team]
        return self.doors.slots.take(record, team, fence=self.fence(record), lease_until=until, now=self.now)

    def lease(self, record: Execution, slot: str, fence: int, until: datetime) -> Execution | None:
        """Only the lease; None where the race is lost, and then the slot is given back."""
        change = moved(record, Move.LEASE, fence=fence, lease_until=until, slot=slot, attempt=1)
        if isinstance(waiting.commit(self.context, record, change), Won):
            return change.record
        self.doors.slots.forfeit(change.record, self.now)
        return None

    def deliver(self, record: Execution, lease: timedelta = LEASE) -> Execution | None:
        """One delivery up to the lease: the leased record, or None where there is nothing to run now."""
        record = self.read(record)
        if record.state not in {ExecutionState.QUEUED, ExecutionState.WAITING, ExecutionState.RETRY_WAIT}:
            return None
        team, fence, until = self.teams[record.team], self.fence(record), self.now + lease
        if record.overlap is not Overlap.ALLOW:
            match self.doors.gate.take(record, fence=fence, until=until, now=self.now):
                case LockBusy():
                    if record.overlap is Overlap.QUEUE:
                        self.doors.gate.join(record, self.now)
                    return None
                case LockHeld(given):
                    fence = given
        newcomer = record.state is not ExecutionState.WAITING
        if newcomer and self.doors.backlog.crowded(team, self.now):
            self.doors.backlog.join(record, team, self.now)
            return None
        match self.doors.slots.take(record, team, fence=fence, lease_until=until, now=self.now):
            case SlotHeld(number):
                return self.lease(record, number, fence, until)
            case _:
                self.doors.backlog.join(record, team, self.now)
                return None

    def end(self, leased: Execution) -> bool:
        """The attempt succeeded: the outcome, then the slot, then the lock. False where the lease was lost."""
        team = self.teams[leased.team]
        change = finished(leased, Move.SUCCEED, now=self.now, retention=team.retention)
        if not isinstance(waiting.commit(self.context, leased, change), Won):
            return False
        self.finish(change.record)
        return True

    def finish(self, final: Execution) -> None:
        """What a final record owes; safe to repeat."""
        self.doors.backlog.hand_over(final, self.teams[final.team], self.now)
        self.doors.gate.release(final, self.now)

    def lose(self, leased: Execution) -> Execution:
        """The worker died and somebody found out: the record waits for its retry, the slot is left behind."""
        current = self.read(leased)
        retry = moved(current, Move.RETRY, lease_until=None, slot=None, retry_at=self.now)
        waiting.commit(self.context, current, retry)
        return self.read(leased)

    def pump(self, team: str = "payments") -> Any:
        """One pass of the pump."""
        return self.doors.backlog.pump(team, self.now)

    def called(self) -> list[ExecutionId]:
        """Takes the wake-ups that the tier queues have to give now."""
        found: list[ExecutionId] = []
        for queue in map(tier_queue, Tier):
            while received := self.queues.receive(queue, 10, timedelta(0)):
                found.extend(messages.read_wake(message.body) for message in received)
                self.queues.delete(received)
        return found

    def pumps_asked(self) -> list[str]:
        """The teams for which a pump message lies in the queue, delayed ones included."""
        return [messages.read_pump(each.body) for each in self.queues.waiting(QueueName.PUMP)]

    def slots(self, team: str = "payments") -> dict[int, Holding]:
        """The slots that have an item."""
        found = (item for item in self._control() if str(item["pk"]).startswith(f"S#{team}#"))
        return {holding.number: holding for holding in map(decode_holding, found)}

    def entries(self) -> list[Item]:
        """Every entry of every lane."""
        return [item for item in self._control() if str(item["pk"])[:2] in {"B#", "O#"}]

    def marks(self) -> list[str]:
        """Every marked lane, with its team."""
        return [str(item["sk"]) for item in self._control() if str(item["pk"]).startswith("M#")]

    def records(self) -> list[Execution]:
        """Every record."""
        return [decode_execution(item) for item in self.store.everything(Table.EXECUTIONS)]

    def in_flight(self) -> Counter[str]:
        """Per team, how many leases are live."""
        live = ExecutionState.RUNNING
        return Counter(
            record.team
            for record in self.records()
            if record.state is live and record.lease_until is not None and record.lease_until > self.now
        )

    def _control(self) -> list[Item]:
        return self.store.everything(Table.CONTROL)
