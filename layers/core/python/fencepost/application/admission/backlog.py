"""The backlog: executions that wait for one of their team's slots, and how a slot finds the next of them."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import waiting
from fencepost.application.admission.context import Context
from fencepost.application.admission.draw import Lines, is_shut
from fencepost.application.admission.holdings import Vacancy, capacity, held_by
from fencepost.application.admission.lanes import Entry
from fencepost.application.admission.marks import Marks
from fencepost.application.admission.overlap import OverlapGate
from fencepost.application.admission.pump import Pump, PumpReport
from fencepost.application.admission.slots import Slots
from fencepost.application.admission.turns import NoTurn, Turns
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.store import Absent
from fencepost.domain.judgement import started
from fencepost.domain.model import Execution, Team


class Backlog:
    """Joining, leaving a turn to the next, and the pump, over the slots of all teams."""

    def __init__(self, context: Context, slots: Slots, marks: Marks, gate: OverlapGate) -> None:
        self._context = context
        self._slots = slots
        self._marks = marks
        self._lines = Lines(context, marks)
        self._turns = Turns(context, slots, self._lines)
        self._pump = Pump(context, slots, marks, self._lines, self._turns, gate)

    def join(self, record: Execution, team: Team, now: datetime) -> Execution | None:
        """`record` waiting for a slot, under a mark; None where the race for the record is lost.

        A record that waits already is marked again. A slot that came free meanwhile is handed over at once, to
        whoever's turn it is. Raises StoreError while it is not certain that the record has its wake-up.
        """
        lane = keys.backlog_lane(record, self._context.limits.backlog_lanes)
        mark = self._marks.beside_move(record, lane, now)
        joined = waiting.enter(self._context, record, lane, *mark)
        if joined is None:
            return None
        first = self._marks.put_up(team.name, lane, now) or bool(mark)
        with suppress(*TRANSIENT):
            if first:
                # Others may believe for a second that nobody waits, and free slots instead of handing them over.
                self._turns.call_pump(team.name, now)
            self._fill(joined, team, now)
        return joined

    def hold(self, record: Execution, note: str, now: datetime) -> Execution | None:
        """`record` waiting for a switch to be back, under a mark, with a note that says which; None where the race for
        the record is lost. What has not begun waits apart from the others of its tier.

        Raises StoreError while it is not certain that the record has its wake-up.
        """
        lanes = self._context.limits.backlog_lanes
        lane = keys.backlog_lane(record, lanes, held=not started(record))
        mark = self._marks.beside_move(record, lane, now)
        joined = waiting.enter(self._context, record, lane, *mark, note=note)
        if joined is not None:
            self._marks.put_up(record.team, lane, now)
        return joined

    def hand_over(self, record: Execution, team: Team, now: datetime) -> None:
        """Gives the slot of a lease that is over to whoever's turn it is, or frees it. Safe to repeat.

        The execution's own move stands whatever happens here. Raises StoreError where the slot may be held still;
        unless it is called again, the slot's expiry and the pump see to it.
        """
        if record.slot is None:
            return
        number = int(record.slot)
        if number >= capacity(team) or not self.crowded(team, now):
            self._slots.release(record, now)
            return
        turn = self._turns.give(team, Vacancy(number, held_by(str(record.id), record.fence)), now)
        if isinstance(turn, Entry):
            self._turns.call([turn])
            return
        self._slots.release(record, now)
        if turn is not NoTurn.SLOT_GONE:
            self._look_again(team, number, now)

    def crowded(self, team: Team, now: datetime) -> bool:
        """Whether somebody may wait who may start, as known for at most a second: newcomers then join, whatever is
        free.
        """
        return any(not is_shut(lane, team.shut) for lane in self._marks.backlog_lanes(team.name, now))

    def pump(self, team_name: str, now: datetime) -> PumpReport:
        """Hands over whatever slots are free or deserted, and clears up. Safe to repeat, and in parallel."""
        return self._pump.run(team_name, now)

    def _look_again(self, team: Team, number: int, now: datetime) -> None:
        """Whoever joined between the look at the line and the slot's release saw no free slot."""
        line = self._lines.read(team, now)
        match self._turns.give(team, Vacancy(number, Absent()), now):
            case Entry() as entry:
                self._turns.call([entry])
            case NoTurn.NOBODY_WAITS:
                for lane in line.empty:
                    self._marks.take_down(team.name, lane)
            case NoTurn.CONTESTED:
                self._turns.call_pump(team.name, now)
            case NoTurn.SLOT_GONE:
                pass

    def _fill(self, joined: Execution, team: Team, now: datetime) -> None:
        """Hands one free slot over, if there is one where the newcomer would have looked."""
        for vacancy in self._slots.vacancies(team, now, near=joined):
            self._lines.forget(team.name)  # it was read before the newcomer joined
            turn = self._turns.give(team, vacancy, now)
            if isinstance(turn, Entry):
                self._turns.call([turn])
            if turn is not NoTurn.SLOT_GONE:
                return
