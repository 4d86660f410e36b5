"""Slots: a team's concurrency as leases of its own, in lanes of 32, so that a storm heats no single partition.

A slot that nobody holds has no item. An item names the execution that holds it, the fence under which, and when
somebody else may take it: ten seconds past the lease, and only after the holder's record was read. A slot that is
reserved for a waiting execution names it with fence 0.

What keeps the cap: an execution runs under a live lease only while the slot that its record names is its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import waiting
from fencepost.application.admission.context import Context
from fencepost.application.admission.holdings import (
    RESERVED,
    Holding,
    Vacancy,
    capacity,
    decode_holding,
    encode_holding,
    read_lane,
)
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.memory import Memory
from fencepost.application.store import Absent, Condition, Delete, Key, Lost, Put, either
from fencepost.domain.identity import ExecutionId, hashed
from fencepost.domain.model import Execution, Team
from fencepost.domain.states import ExecutionState


@dataclass(frozen=True, slots=True)
class SlotHeld:
    """The execution holds slot `number`; its lease must write it down."""

    number: str


@dataclass(frozen=True, slots=True)
class Full:
    """No slot was free where it was looked for."""


class Slots:
    """The slots of all teams.

    Most teams use few of their slots at a time, so the first try is made without a look at a lane, at a slot drawn by
    the execution's own hash that this process holds for nobody else. What goes wrong with it is remembered for a
    second, and lanes are read instead; that a team is full is remembered for 200 ms.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        self._limits = context.limits
        self._full: Memory[bool] = Memory(context.limits.full_memory)
        self._busy: Memory[bool] = Memory(context.limits.busy_memory)
        self._ours: Memory[str] = Memory(context.limits.slot_memory)

    def take(
        self, record: Execution, team: Team, *, fence: int, lease_until: datetime, now: datetime
    ) -> SlotHeld | Full:
        """A slot for the lease that `record` is about to get, under the lease's own fence and end.

        A slot that the execution holds already, from an earlier try or a reservation, is taken over. Raises
        StoreError; a slot may then be held, and comes free by itself.
        """
        until = lease_until + self._limits.slot_margin
        wanted = Holding(number=0, execution=str(record.id), fence=fence, until=until)
        held = self._take_reserved(record, wanted, capacity(team))
        if held is None and not self._full.recall(team.name, now):
            held = self._take_unseen(record, team, wanted, now)
            held = self._take_near(record, team, wanted, now) if held is None else held
        return Full() if held is None else SlotHeld(str(held))

    def extend(self, record: Execution, until: datetime, now: datetime) -> bool:
        """Holds the slot for a lease that will last until `until`; to be called before the lease is extended.

        False: the slot is somebody else's, and the lease must not be extended. True where the record has none.
        """
        if record.slot is None:
            return True
        if until <= now:
            return False
        wanted = self._holding_of(record, record.slot, until)
        lost = self._hold(record.team, wanted, wanted.owned)
        if lost is None:
            return True
        # A rival delivery of the same execution took the slot over, and lost the lease to this record.
        return self._retake(record.team, wanted, _seen(lost)) is not None

    def release(self, record: Execution, now: datetime) -> None:
        """Frees the slot that `record`'s lease held, if it is still its own. Safe to repeat.

        Where a rival delivery of the same execution took the slot over, it is freed once nobody can need it.
        """
        if record.slot is None:
            return
        mine = self._holding_of(record, record.slot, now)
        lost = self._free(record.team, mine.number, mine.owned)
        seen = None if lost is None else _seen(lost)
        if seen is not None and seen.execution == mine.execution and self._deserted(seen, now):
            self._free(record.team, seen.number, seen.unchanged)

    def forfeit(self, attempted: Execution, now: datetime) -> None:
        """Gives back the slot of a lease that was lost to another delivery of the same execution.

        `attempted` is the record as the lost write would have made it. A winner that runs in the same slot gets it
        under its own fence; where nobody can need it, it is freed; else it comes free by itself, since a rival may
        be about to write its lease.
        """
        if attempted.slot is None:
            return
        mine = self._holding_of(attempted, attempted.slot, now)
        winner = self._record(mine.execution)
        if winner is None or winner.final or _runs_elsewhere(winner, attempted.slot):
            self._free(attempted.team, mine.number, mine.owned)
        elif winner.state is ExecutionState.RUNNING and winner.lease_until is not None:
            theirs = self._holding_of(winner, attempted.slot, winner.lease_until)
            if self._hold(attempted.team, theirs, mine.owned) is None:
                self._free_if_ended(winner, now)

    def vacancies(self, team: Team, now: datetime, near: Execution | None = None) -> Iterator[Vacancy]:
        """Slots that may be taken, free ones and deserted ones: in all lanes, or where `near` would look.

        A lane that cannot be read holds up no other. Raises StoreError at the end, where there was one.
        """
        cap, trouble = capacity(team), None
        every_lane = range(-(-cap // self._limits.slots_per_lane))
        for lane in every_lane if near is None else self._lanes(near, cap):
            try:
                holdings = self._lane(team.name, lane)
            except TRANSIENT as error:
                trouble = error
                continue
            yield from self._vacant(holdings, lane, cap, now)
        if trouble is not None:
            raise trouble

    def in_use(self, team: Team, now: datetime) -> int:
        """How many slots below the cap are held or reserved now."""
        lanes = range(-(-team.max_concurrency // self._limits.slots_per_lane))
        return sum(held.until > now for lane in lanes for held in self._lane(team.name, lane))

    def reserve(self, team: str, vacancy: Vacancy, execution: ExecutionId, until: datetime) -> bool:
        """Keeps a slot for a waiting execution until `until`; false where somebody was first."""
        wanted = Holding(number=vacancy.number, execution=str(execution), fence=RESERVED, until=until)
        return self._hold(team, wanted, vacancy.condition) is None

    def _take_reserved(self, record: Execution, wanted: Holding, cap: int) -> int | None:
        number = waiting.reserved_slot(self._context, record)
        if number is None or int(number) >= cap:
            return None
        here = replace(wanted, number=int(number))
        lost = self._hold(record.team, here, replace(here, fence=RESERVED).owned)
        if lost is None or self._retake(record.team, here, _seen(lost)) is not None:
            return here.number
        return None

    def _take_unseen(self, record: Execution, team: Team, wanted: Holding, now: datetime) -> int | None:
        cap = capacity(team)
        if cap == 0 or self._busy.recall(team.name, now):
            return None
        here = replace(wanted, number=self._drawn(record, team.name, cap, now))
        lost = self._hold(team.name, here, either(Absent(), here.renewing))
        if lost is None or self._retake(team.name, here, _seen(lost)) is not None:
            return here.number
        self._busy.keep(team.name, True, now)  # noqa: FBT003 - the value that is remembered
        return None

    def _drawn(self, record: Execution, team: str, cap: int, now: datetime) -> int:
        """The record's last slot or one drawn by hash, or the next that this process holds for nobody else."""
        last = None if record.slot is None else int(record.slot)
        first = hashed(str(record.id), cap) if last is None or last >= cap else last
        for step in range(min(cap, self._limits.slots_per_lane)):
            number = (first + step) % cap
            name = _ours(team, number)
            if self._ours.recall(name, now) in {None, str(record.id)}:
                self._ours.keep(name, str(record.id), now)
                return number
        return first

    def _take_near(self, record: Execution, team: Team, wanted: Holding, now: datetime) -> int | None:
        cap = capacity(team)
        for lane in self._lanes(record, cap):
            holdings = self._lane(team.name, lane)
            for seen in holdings:
                if seen.number < cap and self._retake(team.name, wanted, seen) is not None:
                    return seen.number
            vacant = self._vacant(holdings, lane, cap, now)
            for _, vacancy in zip(range(self._limits.slot_tries), vacant, strict=False):
                here = replace(wanted, number=vacancy.number)
                if self._hold(team.name, here, vacancy.condition) is None:
                    return here.number
        self._full.keep(team.name, True, now)  # noqa: FBT003 - the value that is remembered
        return None

    def _lanes(self, record: Execution, cap: int) -> Sequence[int]:
        """Where to look for a slot: the lane of the record's last one or one drawn by hash, then the next."""
        if cap == 0:
            return ()
        size = self._limits.slots_per_lane
        lanes = -(-cap // size)
        last = None if record.slot is None else int(record.slot)
        first = (hashed(str(record.id), cap) if last is None or last >= cap else last) // size
        return [(first + step) % lanes for step in range(min(lanes, self._limits.slot_lanes_read))]

    def _lane(self, team: str, lane: int) -> list[Holding]:
        return read_lane(self._store, keys.slot_lane(team, lane), self._context.clock.now())

    def _vacant(self, holdings: Sequence[Holding], lane: int, cap: int, now: datetime) -> Iterator[Vacancy]:
        """Free slots first, from a place drawn anew each time so that rivals seldom meet; then deserted ones."""
        size = self._limits.slots_per_lane
        numbers = range(lane * size, min((lane + 1) * size, cap))
        taken = {holding.number for holding in holdings}
        free = [number for number in numbers if number not in taken]
        start = int(self._context.entropy.fraction() * len(free))
        for number in free[start:] + free[:start]:
            yield Vacancy(number, Absent())
        for holding in holdings:
            if holding.number in numbers and holding.until <= now and self._known_deserted(holding, now):
                yield Vacancy(holding.number, holding.unchanged)

    def _known_deserted(self, holding: Holding, now: datetime) -> bool:
        """One whose holder cannot be read now is not taken now."""
        try:
            return self._deserted(holding, now)
        except TRANSIENT:
            return False

    def _deserted(self, holding: Holding, now: datetime) -> bool:
        """Nobody needs the slot: its holder, read strongly, is over, or let it expire and runs under no live lease
        in it. Where the record cannot be understood the slot's own expiry decides."""
        expired = holding.until <= now
        if not holding.execution:
            return expired
        try:
            holder = self._record(holding.execution)
        except UndecodableError:
            return expired
        if holder is None or holder.final:
            return True
        return expired and not self._runs_in(holder, holding.number, now)

    def _runs_in(self, holder: Execution, number: int, now: datetime) -> bool:
        if holder.state is not ExecutionState.RUNNING or holder.lease_until is None:
            return False
        return holder.slot == str(number) and now < holder.lease_until + self._limits.taker_waits

    def _free_if_ended(self, winner: Execution, now: datetime) -> None:
        """The winner may have ended, and missed its slot, while it was being given back."""
        after = self._record(str(winner.id))
        if after is None or after.state is not ExecutionState.RUNNING or after.fence != winner.fence:
            self.release(winner, now)

    def _retake(self, team: str, wanted: Holding, seen: Holding | None) -> Holding | None:
        """The slot that this execution holds already, now under `wanted`'s fence."""
        if seen is None or seen.execution != wanted.execution:
            return None
        here = wanted.after(seen)
        return here if self._hold(team, here, seen.unchanged) is None else None

    def _hold(self, team: str, wanted: Holding, condition: Condition) -> Lost | None:
        key = self._key(team, wanted.number)
        outcome = self._store.write(Put(key=key, item=encode_holding(wanted), condition=condition))
        return outcome if isinstance(outcome, Lost) else None

    def _free(self, team: str, number: int, condition: Condition) -> Lost | None:
        self._ours.forget(_ours(team, number))
        outcome = self._store.write(Delete(key=self._key(team, number), condition=condition))
        return outcome if isinstance(outcome, Lost) else None

    def _holding_of(self, record: Execution, slot: str, lease_until: datetime) -> Holding:
        until = lease_until + self._limits.slot_margin
        return Holding(number=int(slot), execution=str(record.id), fence=record.fence, until=until)

    def _record(self, execution: str) -> Execution | None:
        item = self._store.get(keys.execution(ExecutionId.parse(execution)))
        return None if item is None else decode_execution(item)

    def _key(self, team: str, number: int) -> Key:
        return keys.slot(team, number, self._limits.slots_per_lane)


def _seen(lost: Lost) -> Holding | None:
    return None if lost.item is None else decode_holding(lost.item)


def _runs_elsewhere(winner: Execution, slot: str) -> bool:
    return winner.state is ExecutionState.RUNNING and winner.slot != slot


def _ours(team: str, number: int) -> str:
    """Under which name a slot is remembered."""
    return f"{team}/{number}"
