"""Giving a slot to whoever's turn it is: claim the entry, reserve the slot, then send (protocol E2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum, auto

from fencepost.application import messages
from fencepost.application.admission import lanes
from fencepost.application.admission.context import Context
from fencepost.application.admission.draw import Lines
from fencepost.application.admission.holdings import Vacancy
from fencepost.application.admission.lanes import Entry
from fencepost.application.admission.slots import Slots
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.memory import Memory
from fencepost.application.store import OutcomeUnknownError, StoreBusyError, StoreError
from fencepost.domain.instants import SECOND
from fencepost.domain.model import Team


class NoTurn(Enum):
    """Why a slot was given to nobody."""

    NOBODY_WAITS = auto()
    SLOT_GONE = auto()
    CONTESTED = auto()


class Turns:
    """Hands slots to waiting executions, one entry and one slot at a time."""

    def __init__(self, context: Context, slots: Slots, lines: Lines) -> None:
        self._context = context
        self._slots = slots
        self._lines = lines
        self._asked: Memory[bool] = Memory(context.limits.backlog_memory)

    def give(self, team: Team, vacancy: Vacancy, now: datetime) -> Entry | NoTurn:
        """Reserves the slot for whoever's turn it is; the caller sends. Whoever loses an entry takes the next; so does
        whoever gets no answer about one. Raises StoreError where that left nobody to give the slot to.
        """
        trouble: StoreError | None = None
        for _ in range(self._context.limits.hand_over_batch):
            entry = self._lines.next(team, now)
            if entry is None:
                break
            try:
                claimed = self._claimed(entry, vacancy, now)
            except TRANSIENT as error:
                trouble = error
                continue
            if claimed is not None:
                return self._reserve(team.name, vacancy, claimed, now)
        if trouble is not None:
            raise trouble
        if entry is None:
            return NoTurn.NOBODY_WAITS
        self._lines.forget(team.name)
        return NoTurn.CONTESTED

    def _claimed(self, entry: Entry, vacancy: Vacancy, now: datetime) -> Entry | None:
        """The entry, if it is to be called and nobody else does; one that did not come before may no longer wait."""
        if entry.reserved_until is not None and lanes.dismiss(self._context, entry, now):
            return None
        return lanes.claim(self._context, entry, str(vacancy.number), now)

    def call(self, entries: Sequence[Entry]) -> None:
        """Sends the wake-ups of those whose turn has come, and once more what was not accepted. After that the turn
        is the pump's, once its reservation has lapsed."""
        lanes.send(self._context, [lanes.wake_up(entry) for entry in entries])

    def call_pump(self, team: str, now: datetime) -> None:
        """Asks for a pass over the team's backlog, after everybody has learnt that the team is marked; once a second
        is enough."""
        if self._asked.recall(team, now):
            return
        self._asked.keep(team, True, now)  # noqa: FBT003 - the value that is remembered
        delay = self._context.limits.pump_after_mark // SECOND
        lanes.send(self._context, [replace(messages.pump(team, now), delay=delay)])

    def _reserve(self, team: str, vacancy: Vacancy, claimed: Entry, now: datetime) -> Entry | NoTurn:
        until = claimed.reserved_until or now
        try:
            reserved = self._slots.reserve(team, vacancy, claimed.execution, until)
        except OutcomeUnknownError:
            return claimed  # once called it finds out: the slot is its own, or it goes on waiting
        except StoreBusyError:
            lanes.unclaim(self._context, claimed)
            raise
        if not reserved:
            lanes.unclaim(self._context, claimed)
            return NoTurn.SLOT_GONE
        return claimed
