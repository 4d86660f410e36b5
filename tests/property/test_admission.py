"""Admission under random programs: rivals, crashes, lost answers, clocks that jump; the cap holds, nobody is forgotten.

Each program lets a handful of processes deliver, end, beat and pump, one port call at a time. Messages come at least
once: a delivery that did not come to its end is made again. After each call the cap is counted from the records; at
the end everything that was asked for has run, and nothing is left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.adapters.seam import PortCall
from fencepost.application.admission import waiting
from fencepost.application.moves import rewritten
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import OutcomeUnknownError, StoreBusyError, StoreError, Won
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Execution, Overlap, Tier
from fencepost.domain.states import ExecutionState
from tests.support.admissions import LEASE, Office
from tests.support.interleaving import Stage

STEPS = st.lists(
    st.tuples(st.integers(min_value=0, max_value=20), st.integers(min_value=0, max_value=30)),
    min_size=20,
    max_size=250,
)
PAUSES = [timedelta(milliseconds=100), timedelta(seconds=1), timedelta(seconds=27), timedelta(seconds=61)]
RUNNING = ExecutionState.RUNNING


@dataclass
class Town:
    """A team with a cap, some firings, and whoever works on them."""

    cap: int
    overlaps: list[Overlap]
    stage: Stage = field(default_factory=Stage)
    messages: list[ExecutionId] = field(default_factory=list)
    received: list[ExecutionId] = field(default_factory=list)
    crashes: int = 0
    actors: int = 0

    def __post_init__(self) -> None:
        self.office = Office.opened(self.stage)
        self.team = self.office.team(cap=self.cap)
        self.offices = [self.office, self.office.another(), self.office.another()]
        for number, overlap in enumerate(self.overlaps):
            tier = list(Tier)[number % 4]
            job = "single" if overlap is Overlap.QUEUE else f"job-{number}"
            record = self.office.firing(number, job=job, overlap=overlap, tier=tier)
            self.messages.append(record.id)

    def step(self, what: int, which: int) -> None:
        """One thing happens."""
        alive = self.stage.alive()
        office = self.offices[which % 3]
        if what <= 11 and alive:
            self.stage.step(alive[which % len(alive)])
        elif what <= 14 and self.messages:
            message = self.messages.pop(which % len(self.messages))
            self._enter(partial(self.deliver, office, message))
        elif what == 15:
            self._enter(partial(self.attempt, office.pump))
        elif what == 16 and self.messages:
            self.messages.append(self.messages[which % len(self.messages)])  # a message comes twice
        elif what == 17 and alive and self.crashes < 5:
            self.crashes += 1
            self.stage.crash(alive[which % len(alive)])
        elif what == 18 and alive:
            self._disturb(alive[which % len(alive)], which)
        elif what in {19, 20}:
            self.office.clock.advance(seconds=PAUSES[which % 4].total_seconds())
        self.look()

    def deliver(self, office: Office, message: ExecutionId) -> None:
        """One delivery of a message: acknowledged when it came to its end, else it comes back."""
        try:
            self._deliver(office, office.by_id(message))
        except BaseException:
            self.messages.append(message)
            raise

    def attempt(self, work: Callable[[], object]) -> None:
        """Work that nobody does again when the store fails."""
        with suppress(StoreError):
            work()

    def _deliver(self, office: Office, record: Execution) -> None:
        try:
            if record.final:
                office.finish(record)
            elif record.state is RUNNING:
                self._judge(office, record)
            else:
                leased = office.deliver(record)
                if leased is not None:
                    self._work(office, leased)
        except StoreError:
            self.messages.append(record.id)

    def _judge(self, office: Office, record: Execution) -> None:
        assert record.lease_until is not None
        self.messages.append(record.id)  # put back until the lease is over; then it is the retry's
        if record.lease_until + timedelta(seconds=2) <= office.now:
            office.lose(record)

    def _work(self, office: Office, leased: Execution) -> None:
        """The target is called, and may take long; one heartbeat; then the outcome."""
        self.stage(PortCall(port="targets", method="call"), lambda: None)
        end, until = leased.lease_until or office.now, office.now + LEASE
        if office.now < end < until and office.doors.slots.extend(leased, until, office.now):
            beat = rewritten(leased, lease_until=until)
            leased = beat.record if isinstance(waiting.commit(office.context, leased, beat), Won) else leased
        self.stage(PortCall(port="targets", method="call"), lambda: None)
        if not office.end(leased):
            self.messages.append(leased.id)

    def _enter(self, work: Callable[[], object]) -> None:
        self.actors += 1
        self.stage.enter(f"actor {self.actors}", work)
        self.stage.step(
            f"actor {self.actors}"
        )  # a message is in somebody's hand before anybody can be killed

    def _disturb(self, name: str, which: int) -> None:
        call = self.stage.before(name)
        if call == "send":
            self.stage.fail(name, QueueUnavailableError("no answer"), after=which % 2 == 1)
        elif call in {"write", "transact"} and which % 3:
            self.stage.fail(name, OutcomeUnknownError("no answer"), after=which % 2 == 1)
        elif call not in {"start", "call"}:
            self.stage.fail(name, StoreBusyError("busy"))

    def look(self) -> None:
        """What holds at every instant."""
        now = self.office.now
        live = [
            record
            for record in self.office.records()
            if record.state is RUNNING and record.lease_until is not None and record.lease_until > now
        ]
        assert len(live) <= self.cap
        slots = self.office.slots()
        for record in live:
            assert slots[int(str(record.slot))].execution == str(record.id)
        waits = [record for record in self.office.records() if record.state is ExecutionState.WAITING]
        assert len(self.office.entries()) == len(waits)
        if not self.stage.alive():
            marked = {mark.partition("|")[2] for mark in self.office.marks()}
            sent = {*self.messages, *self.received}
            assert all(record.lane in marked or record.id in sent for record in waits)

    def settle(self) -> None:
        """No more faults: everybody comes to an end, and what comes then is delivered, until nothing is left."""
        self.stage.finish()
        self.look()
        for _ in range(12 * len(self.overlaps) + 12):
            self.messages.extend(self.office.called())
            self.received, self.messages = list(dict.fromkeys(self.messages)), []
            while self.received:
                message = self.received.pop()
                self._deliver(self.office, self.office.by_id(message))
                self.look()
            if self.messages:
                self.office.clock.advance(seconds=5)
            else:
                self.office.clock.advance(seconds=61)
                self.office.pump()
            if all(record.final for record in self.office.records()):
                break
        assert all(record.state is ExecutionState.SUCCEEDED for record in self.office.records())
        self.office.clock.advance(minutes=2)
        self.office.called()
        self.office.pump()
        assert not self.office.entries()
        assert not self.office.marks()
        assert list(self.office.doors.slots.vacancies(self.team, self.office.now))
        assert len(list(self.office.doors.slots.vacancies(self.team, self.office.now))) == self.cap


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_E_the_cap_holds_and_everybody_comes_to_run(cap: int) -> None:
    @settings(max_examples=80)
    @given(steps=STEPS, firings=st.integers(min_value=1, max_value=7))
    def story(steps: list[tuple[int, int]], firings: int) -> None:
        town = Town(cap, [Overlap.ALLOW] * firings)
        for what, which in steps:
            town.step(what, which)
        town.settle()

    story()


@settings(max_examples=80)
@given(steps=STEPS, firings=st.integers(min_value=2, max_value=5))
def test_E_one_firing_of_a_job_runs_at_a_time_and_all_come_to_run(
    steps: list[tuple[int, int]], firings: int
) -> None:
    town = Town(3, [Overlap.QUEUE] * firings)
    for what, which in steps:
        town.step(what, which)
        running = [record for record in town.office.records() if record.state is RUNNING]
        assert len(running) <= 1
    town.settle()
