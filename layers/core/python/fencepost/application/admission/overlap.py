"""The overlap gate: one firing of a job at a time, for jobs that ask for it (protocol E6).

A job's lock item names the execution that holds it, the last fence that was given out under it, and when its holder
is to be looked at. It is kept through retries and waits, and let go with the final state; the item stays, with its
fence, so that fences rise across the firings of the job.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fencepost.application import keys, messages
from fencepost.application.admission import lanes, waiting
from fencepost.application.admission.context import Context
from fencepost.application.admission.lanes import Entry
from fencepost.application.admission.lost_locks import mended
from fencepost.application.admission.marks import Marks
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.codec import (
    VERSION,
    NewerShapeError,
    UndecodableError,
    compact,
    decode_execution,
    decoding,
    ms,
)
from fencepost.application.codec import instant as instant_of
from fencepost.application.store import (
    Absent,
    Condition,
    Item,
    Lacks,
    OutcomeUnknownError,
    Query,
    StoreBusyError,
    Table,
    Update,
    Won,
    equals,
    every,
    items,
)
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Execution, Overlap
from fencepost.domain.states import ExecutionState


@dataclass(frozen=True, slots=True)
class LockHeld:
    """The execution holds its job's lock, and must lease under `fence`."""

    fence: int


@dataclass(frozen=True, slots=True)
class LockBusy:
    """Another firing has the turn: `holder`, where one is known. One that is RUNNING past its lease is to be
    advanced first."""

    holder: Execution | None


@dataclass(frozen=True, slots=True)
class QueueFull:
    """As many firings of the job wait already as may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What the job's lock item says; a job that never had one has fence 0."""

    uid: str
    fence: int = 0
    holder: str | None = None
    until: datetime | None = None
    fresh: bool = False

    @property
    def unchanged(self) -> Condition:
        """Nobody has touched the lock since it was read."""
        if self.fresh:
            return Absent()
        return every(equals("f", self.fence), Lacks("x") if self.holder is None else equals("x", self.holder))


class OverlapGate:
    """The locks and the queues of all jobs."""

    def __init__(self, context: Context, marks: Marks) -> None:
        self._context = context
        self._marks = marks

    def take(self, record: Execution, *, fence: int, until: datetime, now: datetime) -> LockHeld | LockBusy:
        """The job's lock for the lease that `record` is about to get; to be taken before the slot.

        The fence to lease under is at least `fence`, and larger than any that was given out for the job. Raises
        StoreError.
        """
        for _ in range(self._context.limits.conflict_tries):
            lock = self._read(record.id.uid)
            if lock.holder != str(record.id):
                busy = self._busy(lock, record, now)
                if busy is not None:
                    return busy
            given = max(fence, lock.fence + 1)
            if self._write(lock, str(record.id), given, until):
                return LockHeld(given)
        raise StoreBusyError(f"the lock of job {record.id.uid} changed hands each time")

    def join(self, record: Execution, now: datetime) -> Execution | QueueFull | None:
        """`record` waiting for its job's earlier firings, under a mark; None where the race for the record is lost.

        At most 100 wait (rivals that join in the same moment may be more). Where the turn came free meanwhile, it is
        handed to the oldest at once. Raises StoreError while it is not certain that the record has its wake-up.
        """
        lane = keys.overlap_lane(record.id.uid)
        if record.lane != lane and self._full(lane):
            return QueueFull()
        mark = self._marks.beside_move(record, lane, now)
        joined = waiting.enter(self._context, record, lane, *mark)
        if joined is not None:
            self._marks.put_up(record.team, lane, now)
            with suppress(*TRANSIENT):
                self.pump(lane, now)
        return joined

    def release(self, record: Execution, now: datetime) -> None:
        """Lets go of the lock of a record that is final, to the oldest in the job's queue if one waits.

        Safe to repeat. Raises StoreError where the lock may be held still; unless it is called again, the next firing
        and the pump see to it.
        """
        if record.overlap is not Overlap.ALLOW:
            self._release(record, now)

    def pump(self, lane: str, now: datetime) -> bool:
        """Hands the turn of the job whose queue is `lane` to the oldest that waits, if nobody has it.

        A holder that lost its worker is woken, so that it is judged. Returns whether a turn was handed over.
        """
        for _ in range(self._context.limits.conflict_tries):
            passed = self._passed_on(lane, now)
            if passed is not None:
                return passed
        return False

    def _passed_on(self, lane: str, now: datetime) -> bool | None:
        """One look; None where the lock changed hands after it: whoever let go of it saw the entry claimed."""
        lock = self._read(lane.partition("#")[2])
        holder = self._holder(lock)
        if holder is not None and not holder.final:
            return self._remind(lock, holder, lane, now)
        if holder is None and lock.holder is not None and not _lapsed(lock, now):
            return False
        entry = self._oldest(lane, now)
        return False if entry is None else self._pass_on(lock, entry, now)

    def _release(self, record: Execution, now: datetime) -> None:
        lock = self._read(record.id.uid)
        if lock.holder != str(record.id) or not self._over(lock, record):
            return
        lane = keys.overlap_lane(record.id.uid)
        queues = record.overlap is Overlap.QUEUE
        entry = self._oldest(lane, now) if queues else None
        if entry is not None and self._pass_on(lock, entry, now):
            return
        freed = self._write(lock, None, lock.fence, None)
        if freed and queues and not lanes.empty(self._context, lane):
            self.pump(lane, now)  # somebody joined between the look and the release

    def _over(self, lock: Lock, record: Execution) -> bool:
        """The lock is from the lease that ended, or from a rival delivery's that nobody can need any more."""
        if lock.fence == record.fence:
            return True
        holder = self._holder(lock)
        return holder is None or holder.final

    def _busy(self, lock: Lock, record: Execution, now: datetime) -> LockBusy | None:
        """Why `record` may not take a lock that is not its own; None where it may."""
        holder = self._holder(lock)
        if holder is not None and not holder.final:
            return LockBusy(holder)
        if holder is None and lock.holder is not None and not _lapsed(lock, now):
            return LockBusy(None)
        if record.overlap is Overlap.QUEUE and self._others_first(record):
            return LockBusy(None)
        return None

    def _others_first(self, record: Execution) -> bool:
        """Somebody else is at the head of the job's queue."""
        head = lanes.first(self._context, keys.overlap_lane(record.id.uid))
        return head is not None and head.execution != record.id

    def _remind(self, lock: Lock, holder: Execution, lane: str, now: datetime) -> bool | None:
        """Calls a holder that was given the turn and did not come, or whose worker was lost."""
        key = lanes.place(holder)
        if key is not None and key.pk == lane:
            entry = lanes.at(self._context, key)
            return self._pass_on(lock, entry, now) if entry is not None and entry.open(now) else False
        if holder.state is ExecutionState.RUNNING and _lapsed_lease(holder, now, self._context):
            wake = messages.wake(holder, at=now, now=now, limits=self._context.limits)
            lanes.send(self._context, [wake])
        return False

    def _oldest(self, lane: str, now: datetime) -> Entry | None:
        """The oldest in a lane whose turn is not reserved, and that does wait there."""
        for entry in lanes.heads(self._context, lane, now).open:
            if entry.reserved_until is None or not lanes.dismiss(self._context, entry, now):
                return entry
        return None

    def _pass_on(self, lock: Lock, entry: Entry, now: datetime) -> bool | None:
        """Claims the entry, reserves the lock for it, then sends, as protocol E2 has it for slots. False: somebody else
        has the entry; None: the lock is no longer as it was read.
        """
        claimed = lanes.claim(self._context, entry, None, now)
        if claimed is None:
            return False
        if not self._reserved(lock, claimed):
            lanes.unclaim(self._context, claimed)
            return None
        lanes.send(self._context, [lanes.wake_up(claimed)])
        return True

    def _reserved(self, lock: Lock, claimed: Entry) -> bool:
        try:
            return self._write(lock, str(claimed.execution), lock.fence, claimed.reserved_until)
        except OutcomeUnknownError:
            return True  # once called it finds out: the turn is its own, or it goes on waiting

    def _full(self, lane: str) -> bool:
        limit = self._context.limits.overlap_queue
        query = Query(table=Table.CONTROL, pk=lane, limit=limit)
        return sum(1 for _ in items(self._context.store, query)) >= limit

    def _read(self, uid: str) -> Lock:
        item = self._context.store.get(keys.overlap_lock(uid))
        if item is None:
            return Lock(uid=uid, fresh=True)
        try:
            return decode_lock(item)
        except NewerShapeError:
            raise
        except UndecodableError:
            return decode_lock(mended(self._context, uid, item))

    def _holder(self, lock: Lock) -> Execution | None:
        if lock.holder is None:
            return None
        item = self._context.store.get(keys.execution(ExecutionId.parse(lock.holder)))
        try:
            return None if item is None else decode_execution(item)
        except NewerShapeError:
            raise
        except UndecodableError:
            return None  # as for a slot, its own end decides: a job is not blocked for ever by one record

    def _write(self, lock: Lock, holder: str | None, fence: int, until: datetime | None) -> bool:
        """Changes what is the lock's own: that a deleted job's lock expires, somebody else has written there."""
        item = compact({"v": VERSION, "x": holder, "f": fence, "until": ms(until)})
        gone = tuple(name for name in ("x", "until") if name not in item)
        write = Update(key=keys.overlap_lock(lock.uid), set=item, remove=gone, condition=lock.unchanged)
        return isinstance(self._context.store.write(write), Won)


def decode_lock(item: Item) -> Lock:
    """Reads a stored lock. Raises UndecodableError."""
    return decoding("lock", item, _read_lock)


def _read_lock(item: Item) -> Lock:
    holder = item.get("x")
    named = None if holder is None else str(ExecutionId.parse(holder))
    facts: dict[str, Any] = {"holder": named, "until": instant_of(item.get("until"))}
    return Lock(uid=str(item["pk"]).partition("#")[2], fence=item["f"], **facts)


def _lapsed(lock: Lock, now: datetime) -> bool:
    return lock.until is None or lock.until <= now


def _lapsed_lease(holder: Execution, now: datetime, context: Context) -> bool:
    return holder.lease_until is not None and holder.lease_until + context.limits.taker_waits <= now
