"""Lanes and their entries: who waits where, whose turn is reserved, and who is called.

An entry lies in its lane for as long as its execution is WAITING there, never longer and never shorter. Whoever hands
a turn over claims the entry first (`res`): the claim decides between rivals, and lapses by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.application import keys
from fencepost.application.admission.context import Context
from fencepost.application.codec import (
    VERSION,
    NewerShapeError,
    UndecodableError,
    compact,
    decode_execution,
    decoding,
    instant,
)
from fencepost.application.messages import wake_body
from fencepost.application.ports import Outgoing, QueueUnavailableError, tier_queue
from fencepost.application.store import (
    Absent,
    Check,
    Committed,
    Compare,
    Condition,
    Delete,
    Item,
    Key,
    Lacks,
    OutcomeUnknownError,
    Present,
    Put,
    Query,
    StoreBusyError,
    Table,
    Update,
    Won,
    either,
    equals,
    every,
    items,
)
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Execution, Tier
from fencepost.domain.states import ExecutionState

AFTER = "!"  # sorts before every character of an id: `sk + AFTER` is the first key behind `sk`
READ_FACTORS = (1, 4, 16, 64)
SENDS = 2
SET_ASIDE = timedelta(hours=1)
LEFT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One execution's place in a lane. `slot` is the slot that was reserved for it until `reserved_until`."""

    key: Key
    execution: ExecutionId
    team: str
    tier: Tier
    due: datetime
    reserved_until: datetime | None = None
    slot: str | None = None

    def open(self, now: datetime) -> bool:
        """Nobody's turn is reserved for it."""
        return self.reserved_until is None or self.reserved_until <= now


def encode_entry(record: Execution) -> dict[str, Any]:
    """The stored form: what a wake-up needs, so that handing over reads no record. What a switch held is called at
    the recovery rate.
    """
    tier = Tier.RECOVERY if keys.is_held_lane(record.lane) else record.tier
    return {"v": VERSION, "team": record.team, "tier": tier.value}


def decode_entry(item: Item) -> Entry:
    """Reads a stored entry. Raises UndecodableError."""
    return decoding("entry", item, _read_entry)


def _read_entry(item: Item) -> Entry:
    due, _, identity = str(item["sk"]).partition("#")
    return Entry(
        key=Key(Table.CONTROL, item["pk"], item["sk"]),
        execution=ExecutionId.parse(identity),
        team=item["team"],
        tier=Tier(item["tier"]),
        due=from_ms(int(due)),
        reserved_until=instant(item.get("res")),
        slot=item.get("slot"),
    )


def place(record: Execution) -> Key | None:
    """The entry of a WAITING record; None for every other."""
    return keys.waiting_entry(record) if record.state is ExecutionState.WAITING else None


@dataclass(frozen=True, slots=True)
class Heads:
    """The open entries at the head of a lane, the oldest due first. `cut`: others may lie behind them."""

    open: Sequence[Entry]
    cut: bool
    empty: bool


def heads(context: Context, lane: str, now: datetime) -> Heads:
    """At least eight open entries of `lane`, if it has as many.

    Reserved ones are read past, within a bound: their turn has come already.
    """
    want = context.limits.hand_over_batch
    found: list[Entry] = []
    start: str | None = None
    for factor in READ_FACTORS:
        limit = want * factor
        page = list(items(context.store, Query(table=Table.CONTROL, pk=lane, first=start, limit=limit)))
        entries = (_readable(context, item) for item in page)
        found.extend(entry for entry in entries if entry is not None and entry.open(now))
        if len(page) < limit:
            return Heads(found, cut=False, empty=start is None and not page)
        if len(found) >= want:
            break
        start = f"{page[-1]['sk']}{AFTER}"
    return Heads(found, cut=True, empty=False)


def empty(context: Context, lane: str) -> bool:
    """Nobody waits in `lane`."""
    return next(items(context.store, Query(table=Table.CONTROL, pk=lane, limit=1)), None) is None


def claim(context: Context, entry: Entry, slot: str | None, now: datetime) -> Entry | None:
    """Protocol E2: `entry` as this caller's to hand a turn to, for 60 s; None where somebody else was first."""
    until = now + context.limits.reservation
    write = Update(
        key=entry.key,
        set=compact({"res": to_ms(until), "slot": slot}),
        remove=("slot",) if slot is None else (),
        condition=every(Present(), either(Lacks("res"), Compare("res", "<=", to_ms(now)))),
    )
    won = isinstance(context.store.write(write), Won)
    return replace(entry, reserved_until=until, slot=slot) if won else None


def unclaim(context: Context, entry: Entry) -> None:
    """Gives a claimed entry back, unless it was claimed anew since. A claim that cannot be given back lapses."""
    if entry.reserved_until is not None:
        mine = equals("res", to_ms(entry.reserved_until))
        with suppress(StoreBusyError, OutcomeUnknownError):
            context.store.write(Update(key=entry.key, remove=("res", "slot"), condition=mine))


def dismiss(context: Context, entry: Entry, now: datetime) -> bool:
    """Whether `entry` is not to be called, since its execution does not wait in its lane; it is then deleted.

    One transaction with a check of what was read: an execution that comes to wait there meanwhile keeps its place.
    Where the record cannot be understood the entry is put aside for an hour, so that it does not hold up the others; a
    minute where a later version's pump will understand it. Whatever became of these writes, it is not called now.
    Raises StoreError where the record could not be read.
    """
    key = keys.execution(entry.execution)
    item = context.store.get(key)
    try:
        record = None if item is None else decode_execution(item)
    except UndecodableError as error:
        aside = to_ms(now + (LEFT if isinstance(error, NewerShapeError) else SET_ASIDE))
        with suppress(StoreBusyError, OutcomeUnknownError):
            context.store.write(Update(key=entry.key, set={"res": aside}, condition=Present()))
        return True
    if record is not None and place(record) == entry.key:
        return False
    check = Check(key=key, condition=Absent() if record is None else _as_read(record))
    with suppress(StoreBusyError, OutcomeUnknownError):
        context.store.transact((check, Delete(key=entry.key)), context.entropy.token())
    return True


def _as_read(record: Execution) -> Condition:
    lane = Lacks("lane") if record.lane is None else equals("lane", record.lane)
    return every(equals("state", record.state.value), lane)


def first(context: Context, lane: str) -> Entry | None:
    """The oldest of `lane`, whether its turn is reserved or not."""
    item = next(items(context.store, Query(table=Table.CONTROL, pk=lane, limit=1)), None)
    return None if item is None else _readable(context, item)


def at(context: Context, key: Key) -> Entry | None:
    """The entry in a place; None where there is none, or none that can be understood. Raises NewerShapeError."""
    item = context.store.get(key)
    try:
        return None if item is None else decode_entry(item)
    except NewerShapeError:
        raise
    except UndecodableError:
        return _mended(context, key)


def _readable(context: Context, item: Item) -> Entry | None:
    """What a later version wrote is passed over; its lane stays marked for those who can read it."""
    try:
        return decode_entry(item)
    except NewerShapeError:
        return None
    except UndecodableError:
        return _mended(context, Key(Table.CONTROL, item["pk"], item["sk"]))


def _mended(context: Context, key: Key) -> Entry | None:
    """An entry that nobody can read, written anew: its key names the record, and the record says all else. Nobody would
    ever call whoever waits under it. One whose execution does not wait there goes. None where that was not to be had now.
    """
    with suppress(ValueError, StoreBusyError, OutcomeUnknownError):  # UndecodableError is a ValueError
        where = keys.execution(ExecutionId.parse(key.sk.partition("#")[2]))
        item = context.store.get(where)
        record = None if item is None else decode_execution(item)
        check = Check(key=where, condition=Absent() if record is None else _as_read(record))
        if record is None or place(record) != key:
            context.store.transact((check, Delete(key=key)), context.entropy.token())
            return None
        anew = encode_entry(record)
        write = Put(key=key, item=anew, condition=Present())
        if isinstance(context.store.transact((check, write), context.entropy.token()), Committed):
            return decode_entry({**anew, "pk": key.pk, "sk": key.sk})
    return None


def wake_up(entry: Entry) -> Outgoing:
    """The message that tells `entry`'s execution that its turn has come."""
    return Outgoing(queue=tier_queue(entry.tier), body=wake_body(entry.execution), group=entry.team)


def send(context: Context, messages: Sequence[Outgoing]) -> None:
    """Sends, and once more what was not accepted. What then is not sent is a hint less: somebody else looks anyway."""
    left = list(messages)
    for _ in range(SENDS):
        if not left:
            return
        try:
            accepted = context.queues.send(left)
        except QueueUnavailableError:
            continue
        left = [message for message, taken in zip(left, accepted, strict=True) if not taken]
