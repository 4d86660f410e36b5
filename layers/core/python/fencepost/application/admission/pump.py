"""The pump: the pass over a marked team that hands over what nobody else did, and clears up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import lanes
from fencepost.application.admission.context import Context
from fencepost.application.admission.draw import Line, Lines, is_shut
from fencepost.application.admission.holdings import Vacancy
from fencepost.application.admission.lanes import Entry
from fencepost.application.admission.marks import Marks
from fencepost.application.admission.overlap import OverlapGate
from fencepost.application.admission.slots import Slots
from fencepost.application.admission.turns import NoTurn, Turns
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.codec import UndecodableError, is_newer
from fencepost.application.store import Key, StoreError
from fencepost.application.switches.reading import standing_team
from fencepost.domain.model import Team

MOST_FAILED = 3
"""Slots that could not be given away: with so many the store is in trouble itself, and the pass is better repeated."""


@dataclass(slots=True)
class PumpReport:
    """What one pass did and saw. `unfinished`: its time was over before the work was. `waiting` counts those that
    it read of who waits for a slot, `held` those among them that wait for a switch, `slots_in_use` the slots held or
    reserved when it ended. `trouble`: the first failure of the store among what could not be done."""

    handed_over: int = 0
    turns_of_jobs: int = 0
    discarded: int = 0
    marks_taken_down: int = 0
    waiting: int = 0
    held: int = 0
    slots_in_use: int = 0
    unfinished: bool = False
    trouble: StoreError | None = None


class Pump:
    """One pass for one team; passes may meet each other and everybody else."""

    def __init__(
        self, context: Context, slots: Slots, marks: Marks, lines: Lines, turns: Turns, gate: OverlapGate
    ) -> None:
        self._context = context
        self._slots = slots
        self._marks = marks
        self._lines = lines
        self._turns = turns
        self._gate = gate

    def run(self, team_name: str, now: datetime) -> PumpReport:
        """Until nothing is free, nobody waits, or the time is over. What goes wrong with one entry, lane or job holds up
        no other; when all are seen to, StoreError is raised for what the store did not do, so that the pass is repeated.
        """
        report = PumpReport()
        deadline = self._now(now) + self._context.limits.pump_budget
        team = standing_team(self._context.store, team_name, now) or Team(name=team_name, max_concurrency=0)
        with self._by_itself(report):
            self._held(team, now, report)
        with self._by_itself(report):
            self._rounds(team, deadline, report)
        with self._by_itself(report):
            self._jobs(team_name, now, deadline, report)
        with suppress(*TRANSIENT):  # it is only measured
            report.slots_in_use = self._slots.in_use(team, self._now(now))
        report.waiting += report.held
        if report.trouble is not None:
            raise report.trouble
        return report

    @contextmanager
    def _by_itself(self, report: PumpReport) -> Iterator[None]:
        """What cannot be read stays for those who can read it; what the store did not do is remembered."""
        try:
            yield
        except TRANSIENT as error:
            report.trouble = report.trouble or error
        except UndecodableError:
            return

    def _held(self, team: Team, now: datetime, report: PumpReport) -> None:
        """Those that a switch keeps waiting are only counted."""
        for lane in self._marks.read_backlog_lanes(team.name, now) if team.shut else ():
            if is_shut(lane, team.shut):
                with self._by_itself(report):
                    report.held += len(lanes.heads(self._context, lane, now).open)

    def _rounds(self, team: Team, deadline: datetime, report: PumpReport) -> None:
        strange: set[Key] = set()
        while self._round(team, deadline, report, strange):
            if self._context.clock.now() >= deadline:
                report.unfinished = True
                return

    def _round(self, team: Team, deadline: datetime, report: PumpReport, strange: set[Key]) -> bool:
        """One look at who waits and what is free; whether another may find more: there may be others behind those
        `strange` ones that nobody here can read, however many they are.
        """
        now = self._context.clock.now()
        line = self._lines.read(team, now)
        report.waiting = max(report.waiting, len(line.entries))
        if self._discard(line, now, report, strange):
            self._lines.forget(team.name)
            return True
        for lane in line.empty:
            with self._by_itself(report):
                report.marks_taken_down += self._marks.take_down(team.name, lane)
        before = report.handed_over
        with self._by_itself(report):
            self._fill(team, deadline, report)
        return report.handed_over > before

    def _fill(self, team: Team, deadline: datetime, report: PumpReport) -> None:
        now, called, failed = self._context.clock.now(), list[Entry](), 0
        try:
            for vacancy in self._slots.vacancies(team, now):
                turn = self._given(team, vacancy, now, report)
                if isinstance(turn, Entry):
                    report.handed_over += 1
                    called.append(turn)
                elif turn is None:
                    failed += 1
                if turn in {NoTurn.NOBODY_WAITS, NoTurn.CONTESTED} or failed == MOST_FAILED:
                    break
                if len(called) == self._context.limits.hand_over_batch:
                    self._turns.call(called)
                    called = []
                if self._context.clock.now() >= deadline:
                    break
        finally:
            self._turns.call(called)

    def _given(
        self, team: Team, vacancy: Vacancy, now: datetime, report: PumpReport
    ) -> Entry | NoTurn | None:
        """Who got the slot, or why nobody did; None where the store did not say."""
        try:
            return self._turns.give(team, vacancy, now)
        except TRANSIENT as error:
            report.trouble = report.trouble or error
            return None

    def _discard(self, line: Line, now: datetime, report: PumpReport, strange: set[Key]) -> bool:
        """Deletes entries whose execution does not wait in their lane; the cheap read only raises the suspicion. Whether
        some were put aside, since a later version wrote their records, that were not among the `strange` ones before.
        """
        entries = {keys.execution(entry.execution): entry for entry in line.entries}
        try:
            found = self._context.store.batch_get(list(entries))
        except TRANSIENT as error:
            report.trouble = report.trouble or error
            return False
        known = len(strange)
        for key, entry in entries.items():
            item = found.get(key, {})
            if item.get("lane") == entry.key.pk and not is_newer(item):
                continue
            with self._by_itself(report):
                away = lanes.dismiss(self._context, entry, now)
                report.discarded += away
                if away and is_newer(item):
                    strange.add(key)
        return len(strange) > known

    def _jobs(self, team: str, now: datetime, deadline: datetime, report: PumpReport) -> None:
        """The jobs of the team whose firings wait for each other; from a place drawn anew, so that none is always
        behind the end of the time."""
        for lane in self._rotated(self._marks.read_overlap_lanes(team)):
            if self._now(now) >= deadline:
                report.unfinished = True
                return
            with self._by_itself(report):
                self._job(team, lane, self._now(now), report)

    def _job(self, team: str, lane: str, now: datetime, report: PumpReport) -> None:
        if self._gate.pump(lane, now):
            report.turns_of_jobs += 1
        elif lanes.empty(self._context, lane):
            report.marks_taken_down += self._marks.take_down(team, lane)

    def _rotated(self, marked: Sequence[str]) -> Sequence[str]:
        start = int(self._context.entropy.fraction() * len(marked))
        return [*marked[start:], *marked[:start]]

    def _now(self, asked: datetime) -> datetime:
        return max(asked, self._context.clock.now())
