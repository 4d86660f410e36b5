"""Targets that fail, hang, answer late, lie, or take work and report on it later; and teams that are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from fencepost.domain.delivery import Delivery
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification
from fencepost.domain.outcome import Accepted, Delivered, Failed, Outcome, Refused, TimedOut
from tests.simulation.dice import Die
from tests.simulation.journal import ANSWER, CALL, TOLD, Journal
from tests.simulation.kernel import MS, SECOND, Kernel

ANSWERS = ("ok", "fail", "busy", "never", "hang", "late", "lie", "accept")
Odds = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Call:
    """What a target was called with. `clock` is the latest that the caller's clock can have shown, in true
    time's microseconds; `slowest` the earliest."""

    number: int
    execution: str
    fence: int
    attempt: int
    team: str
    job: str
    body: bytes
    clock: int
    slowest: int


class SimTargets:
    """`Targets`. `work` starts a worker for whoever answered 202."""

    def __init__(
        self,
        kernel: Kernel,
        journal: Journal,
        *,
        odds: Callable[[str], Odds],
        work: Callable[[Call], None],
        slowest: int,
    ) -> None:
        self._kernel = kernel
        self._journal = journal
        self._odds = odds
        self._work = work
        self._slowest = slowest
        self._calls = 0

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """See `Targets.call`."""
        task, facts = self._kernel.current, delivery.facts
        assert task is not None
        self._calls += 1
        call = Call(
            number=self._calls,
            execution=facts.execution_id,
            fence=facts.fence,
            attempt=facts.attempt,
            team=facts.team,
            job=facts.job,
            body=facts.body,
            clock=self._kernel.now + task.host.fastest,
            slowest=self._kernel.now + task.host.slowest,
        )
        self._journal.note(CALL, call)
        die = Die(f"{self._kernel.seed}/{facts.execution_id}/{facts.attempt}")
        kind = _drawn(self._odds(f"{facts.team}/{facts.job}"), die)
        outcome = self._answer(kind, call, die, timeout // timedelta(microseconds=1))
        self._journal.note(ANSWER, call, kind, outcome.kind.value)
        return outcome

    def _answer(self, kind: str, call: Call, die: Die, timeout: int) -> Outcome:
        if kind in {"hang", "late"}:
            self._kernel.pause(timeout)
            return TimedOut(error="no answer in time")
        takes = die.between(5 * MS, self._slowest)
        self._kernel.pause(min(takes, timeout))
        if takes > timeout:
            return TimedOut(error="no answer in time")
        match kind:
            case "accept":
                self._work(call)
                return Accepted()
            case "fail":
                return Failed(status=500, error="answered 500")
            case "busy":
                wish = timedelta(seconds=die.below(60))
                return Failed(status=429, error="answered 429", retry_after=wish)
            case "never":
                return Refused(status=410, error="answered 410: never again")
            case "lie":
                return Failed(error="the connection broke after the request was sent")
            case _:
                return Delivered(status=200)


def _drawn(odds: Odds, die: Die) -> str:
    left = die.roll()
    for kind, share in odds.items():
        left -= share
        if left < 0:
            return kind
    return "ok"


class SimNotifier:
    """`Notifier`. `deaf`: how often a notice is not taken."""

    def __init__(self, kernel: Kernel, journal: Journal, deaf: float) -> None:
        self._kernel = kernel
        self._journal = journal
        self._deaf = deaf

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """See `Notifier.notify`."""
        task = self._kernel.current
        assert task is not None
        taken = targets.sns is not None and task.die.roll() >= self._deaf
        facts = (notification.id, notification.kind.value, notification.execution_id, notification.team)
        self._journal.note(TOLD, facts, taken)
        return taken


@dataclass(frozen=True, slots=True)
class Shift:
    """What a worker does: (after so many microseconds, what it says), in order. It may simply stop."""

    steps: tuple[tuple[int, str], ...]


def shift(die: Die, lease: int) -> Shift:
    """A worker's whole life, drawn: `lease` is how long its job's leases last."""
    kind = die.roll()
    beat = max(SECOND, lease // (2 + die.below(3)))
    beats = tuple((beat, "heartbeat") for _ in range(die.below(4)))
    if kind < 0.45:
        return Shift((*beats, (die.between(100 * MS, lease // 2), "complete")))
    if kind < 0.55:
        return Shift(((die.between(MS, 200 * MS), "complete"),))
    if kind < 0.7:
        return Shift((*beats, (die.between(SECOND, lease // 2), "fail")))
    if kind < 0.75:
        return Shift((*beats, (die.between(SECOND, lease // 2), "give_up")))
    if kind < 0.85:
        late = lease + die.between(SECOND, 3 * lease)
        return Shift((*beats, (late, "complete"), (SECOND, "complete")))
    if kind < 0.92:
        return Shift((*beats, (lease + die.between(SECOND, lease), "heartbeat"), (SECOND, "fail")))
    return Shift(beats)
