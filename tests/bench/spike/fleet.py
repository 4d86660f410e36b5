"""The delivery side: queues, pollers, functions, tables and targets as one event loop.

An invocation takes up to ten messages, reads for all of them, holds each until it is due, takes slots, leases, calls,
records. What the application does is told here in latencies and units; who may start follows its rules: a team's cap,
a backlog that is handed over oldest first, newcomers that queue up while somebody waits.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.bench.spike.claims import Sent
from tests.bench.spike.parameters import AWS, Settings, Target

STEP = 0.01
HOLD = 2.0
OVERDUE = 60.0
HAND_OVER = 3 * AWS.write + AWS.send


@dataclass(slots=True)
class Team:
    """Slots in use, and who waits for one."""

    cap: int
    in_use: int = 0
    waiting: list[tuple[float, int, Sent]] = field(default_factory=list)


@dataclass
class Outcome:
    """What came of a story."""

    lateness: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    hottest_lane: Counter[int] = field(default_factory=Counter)
    invocations: Counter[int] = field(default_factory=Counter)
    waiting: Counter[int] = field(default_factory=Counter)
    batches: int = 0
    cold: int = 0
    billed: float = 0.0
    most_invocations: int = 0
    begun: Counter[int] = field(default_factory=Counter)
    overdue: Counter[int] = field(default_factory=Counter)
    ended_at: float = 0.0

    def beside(self, other: Outcome) -> Outcome:
        """Both, of queues that share nothing but the tables."""
        both = Outcome(
            hottest_lane=self.hottest_lane + other.hottest_lane,
            invocations=self.invocations + other.invocations,
            waiting=self.waiting + other.waiting,
            batches=self.batches + other.batches,
            cold=self.cold + other.cold,
            billed=self.billed + other.billed,
            begun=self.begun + other.begun,
            overdue=self.overdue + other.overdue,
            ended_at=max(self.ended_at, other.ended_at),
        )
        both.most_invocations = max(both.invocations.values(), default=0)
        both.lateness.update({**self.lateness, **other.lateness})
        for table in {*self.writes, *other.writes}:
            both.writes[table] = self.writes[table] + other.writes[table]
        return both


class Fleet:
    """One queue's delivery. `run` plays the messages to the end."""

    def __init__(self, settings: Settings, target: Target, caps: Callable[[int], int], seed: int = 7) -> None:
        self.settings = settings
        self.target = target
        self.caps = caps
        self.random = random.Random(seed)
        self.out = Outcome()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._turn = 0
        self._teams: dict[int, Team] = {}
        self._quiet: deque[Sent] = deque()
        self._noisy: deque[Sent] = deque()
        self._flying: Counter[int] = Counter()
        self._in_flight = 0
        self._running = 0
        self._warm = settings.warm
        self._starts = float(AWS.starts_burst)
        self._starts_at = 0.0
        self._polling = False
        self._polls = 0.0
        self._polled_at = -1.0
        self._table_free = {"executions": 0.0, "control": 0.0}
        self._began: float | None = None

    def run(self, messages: Iterable[Sent]) -> Outcome:
        """Until every message has been delivered."""
        for message in messages:
            surfaces = max(message.surfaces, message.at) + self.random.random() * AWS.surface_jitter
            self.later(surfaces, partial(self._surface, message))
        while self._events:
            self.out.ended_at, _, act = heapq.heappop(self._events)
            act(self.out.ended_at)
        return self.out

    def later(self, at: float, act: Callable[[float], None]) -> None:
        """Calls `act` with the time when it is `at`."""
        self._turn += 1
        heapq.heappush(self._events, (at, self._turn, act))

    def _surface(self, message: Sent, now: float) -> None:
        if not self._polling:
            self._polling = True
            self.later(now, self._poll)
        noisy = self.settings.fair and self._is_noisy(message.team)
        (self._noisy if noisy else self._quiet).append(message)

    def _is_noisy(self, team: int) -> bool:
        mine = self._flying[team]
        return mine >= AWS.fair_in_flight and mine > AWS.fair_share * self._in_flight

    def _poll(self, now: float) -> None:
        """Every poller that may poll now takes a batch; the next look is a step later."""
        pollers = self._pollers(now)
        since = now - self._polled_at
        self._polls = min(max(1.0, pollers), self._polls + pollers * AWS.polls_per_second * since)
        self._polled_at = now
        allowed = min(self.settings.concurrency, math.floor(pollers * AWS.invokes_per_poller))
        while self._polls >= 1 and self._running < allowed and self._visible and self._environment(now):
            self._polls -= 1
            self._invoke([self._take() for _ in range(min(AWS.batch, self._visible))], now)
        self._polling = self._visible > 0
        if self._polling:
            self.later(now + STEP, self._poll)

    @property
    def _visible(self) -> int:
        return len(self._quiet) + len(self._noisy)

    def _pollers(self, now: float) -> float:
        """Provisioned ones are there; those of the default mapping come by and by, counted in invocations."""
        if self.settings.pollers is not None:
            return float(self.settings.pollers)
        self._began = now if self._began is None else self._began
        ramp = AWS.default_start + AWS.default_per_minute * (now - self._began) / 60
        return min(ramp, AWS.default_cap) / AWS.invokes_per_poller

    def _take(self) -> Sent:
        while self._quiet:
            message = self._quiet.popleft()
            if self.settings.fair and self._is_noisy(message.team):
                self._noisy.append(message)
                continue
            break
        else:
            message = self._noisy.popleft()
        self._flying[message.team] += 1
        self._in_flight += 1
        return message

    def _environment(self, now: float) -> bool:
        """Whether an environment can be had: a warm one, or a start within the allowance."""
        if self._warm > 0:
            return True
        self._starts = min(AWS.starts_burst, self._starts + (now - self._starts_at) * AWS.starts_per_second)
        self._starts_at = now
        return self._starts >= 1

    def _invoke(self, batch: Sequence[Sent], now: float) -> None:
        begin = now + AWS.poll
        if self._warm > 0:
            self._warm -= 1
        else:
            self._starts -= 1
            begin += AWS.cold_start
            self.out.cold += 1
        self._running += 1
        self.out.batches += 1
        self.out.most_invocations = max(self.out.most_invocations, self._running)
        self.out.invocations[int(now)] = max(self.out.invocations[int(now)], self._running)
        invocation = _Invocation(self, len(batch), begin)
        ready = begin + AWS.read
        for place, message in enumerate(sorted(batch, key=lambda each: each.ready)):
            due = max(ready, message.ready)
            cpu = (place + 1) * AWS.cpu_before_call / self.settings.share_of_core
            wait = due + 2 * AWS.read + cpu
            self.later(wait, partial(self._start, message, invocation))

    def _start(self, message: Sent, invocation: _Invocation, now: float) -> None:
        """Due: a slot, or the backlog."""
        team = self._teams.setdefault(message.team, Team(self.caps(message.team)))
        if message.at < 0 or (team.in_use < team.cap and not team.waiting):
            if message.at >= 0:
                team.in_use += 1
            self._call(message, team, invocation, now)
            return
        self._turn += 1
        heapq.heappush(team.waiting, (message.due, self._turn, message))
        self.out.waiting[int(now)] = max(self.out.waiting[int(now)], len(team.waiting))
        self._write("executions", now, 2)
        self._write("control", now, 2)
        self._gone(message)
        invocation.done(now + AWS.transaction + 2 * AWS.read)

    def _call(self, message: Sent, team: Team, invocation: _Invocation, now: float) -> None:
        slot = self._write("control", now, 1) + AWS.write
        self.out.hottest_lane[int(slot)] += message.team == 0 and 1
        leased = self._write("executions", slot, 1) + AWS.write
        late = max(0.0, leased - message.due)
        self.out.lateness[message.tier, message.team].append(late)
        self.out.begun[int(leased)] += 1
        self.out.overdue[int(leased)] += late > OVERDUE
        answered = leased + self.random.lognormvariate(math.log(self.target.median), self.target.sigma)
        ended = answered + AWS.write + AWS.cpu_after_call / self.settings.share_of_core
        self.later(ended, partial(self._end, message, team, invocation))

    def _end(self, message: Sent, team: Team, invocation: _Invocation, now: float) -> None:
        self._write("executions", now, 1)
        freed = self._write("control", now, 1) + AWS.write
        self._gone(message)
        invocation.done(freed)
        if not team.waiting:
            team.in_use -= 1
            return
        _, _, turn = heapq.heappop(team.waiting)
        called = Sent(-1.0, freed + HAND_OVER, turn.due, turn.due, turn.tier, turn.team)  # it has its slot
        self.later(freed + HAND_OVER, partial(self._surface, called))

    def _write(self, table: str, now: float, units: int) -> float:
        """When the table takes a write that comes now: at once, or when what came before is through."""
        at = max(now, self._table_free[table])
        self._table_free[table] = at + units / self.settings.table_writes
        self.out.writes[table][int(at)] += units
        return at

    def _gone(self, message: Sent) -> None:
        self._flying[message.team] -= 1
        self._in_flight -= 1

    def left(self, begin: float, now: float) -> None:
        """An invocation is over; its environment is warm."""
        self._running -= 1
        self._warm += 1
        self.out.billed += now - begin


class _Invocation:
    """How many of its messages are not done with."""

    def __init__(self, fleet: Fleet, size: int, begin: float) -> None:
        self._fleet = fleet
        self._left = size
        self._begin = begin
        self._last = begin

    def done(self, at: float) -> None:
        """One message is."""
        self._left -= 1
        self._last = max(self._last, at)
        if self._left == 0:
            self._fleet.later(self._last, partial(self._fleet.left, self._begin))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def summary(lateness: Mapping[tuple[str, int], Sequence[float]]) -> dict[str, float]:
    """Of all of them."""
    values = [each for some in lateness.values() for each in some]
    return {
        "firings": float(len(values)),
        "p50": percentile(values, 0.5),
        "p99": percentile(values, 0.99),
        "max": max(values),
    }
