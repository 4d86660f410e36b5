"""Claims by the real scan over a store in memory: when each firing is sent, and to surface when.

One shard after the other, each on a clock of its own that store and queue move on by what a call takes. Shards are
alike, so a few are scanned and stand for all.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.seam import PortCall, seamed
from fencepost.application import keys
from fencepost.application.codec import decode_execution, encode_timer
from fencepost.application.codec_job import encode_job
from fencepost.application.messages import read_wake
from fencepost.application.planting import WATERMARK
from fencepost.application.ports import Outgoing, Received
from fencepost.application.scanning.tick import stagger
from fencepost.application.store import Put
from fencepost.domain.instants import MINUTE, floor_minute, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.schedule import Schedule, parse_schedule
from fencepost.domain.sizing.bill import pass_seconds
from tests.bench.jobs import first_timer, job_of
from tests.bench.spike.parameters import AWS
from tests.support.clock import SettableClock
from tests.support.shard import Shard

T = TypeVar("T")
ALL_STANDARD: Mapping[str, float] = {"standard": 1.0}
_COST = {
    "get": AWS.read,
    "batch_get": AWS.read,
    "pages": AWS.query,
    "write": AWS.write,
    "transact": AWS.transaction,
    "batch_delete": AWS.write,
}


@dataclass(frozen=True, slots=True)
class Sent:
    """One firing on its way: seconds from the story's beginning. `ready`: the earliest it may start."""

    at: float
    surfaces: float
    due: float
    ready: float
    tier: str
    team: int


@dataclass
class Watched:
    """A queue that remembers what was sent and when, and a store whose calls take time."""

    clock: SettableClock
    store: MemoryStore
    begin: datetime
    timer_writes: float
    sent: list[tuple[float, Outgoing]] = field(default_factory=list)
    writes: Counter[int] = field(default_factory=Counter)

    def around(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """The seam's: every call of the store takes its time."""
        written = len(call.args[0]) if call.method in {"transact", "batch_delete"} else 0
        units = written * (2 if call.method == "transact" else 1)
        on_timers = written  # half of a transaction's actions, at two units; all of the deletions, at one
        self.clock.sleep(timedelta(seconds=max(_COST[call.method], on_timers / self.timer_writes)))
        self.writes[int(self.seconds())] += units
        return proceed()

    def seconds(self) -> float:
        """Since the story began."""
        return (self.clock.now() - self.begin) / timedelta(seconds=1)

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        for start in range(0, len(messages), 10):
            self.clock.sleep(timedelta(seconds=AWS.send))
            self.sent += [(self.seconds(), message) for message in messages[start : start + 10]]
        return [True] * len(messages)

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What the shards together sent, and claim-side write units, both by seconds from `begin` on."""

    begin: datetime
    sent: tuple[Sent, ...]
    writes: Counter[int]

    def beside(self, other: Claims) -> Claims:
        """Both, from this one's beginning on."""
        shift = (other.begin - self.begin) / timedelta(seconds=1)
        moved = [
            replace(
                each,
                at=each.at + shift,
                surfaces=each.surfaces + shift,
                due=each.due + shift,
                ready=each.ready + shift,
            )
            for each in other.sent
        ]
        writes = Counter({second + int(shift): units for second, units in other.writes.items()}) + self.writes
        return Claims(self.begin, tuple(sorted([*self.sent, *moved], key=_surfaces)), writes)


def claimed(
    dues: Sequence[datetime],
    *,
    first_pass: datetime,
    shards: int,
    teams: Callable[[int], int],
    sample: int = 4,
    timer_writes: float,
    tiers: Mapping[str, float] = ALL_STANDARD,
    after_outage: bool = False,
) -> Claims:
    """`dues`: of the firings of all shards; passes begin at `first_pass`, a minute apart, until nothing is left.

    Shards begin one after the other, as the tick tells them; all at once where no tick was before. `tiers`: the share of each among what is on time.
    `timer_writes`: write units a second that the timers' table takes; shards at work share them.
    """
    rng = random.Random(len(dues))
    share = [due for due in dues if rng.random() < sample / shards]
    begin = min(*dues, first_pass)
    takes = min(
        AWS.partition_writes, timer_writes / (shards if after_outage else _at_once(len(dues), shards))
    )
    sent, writes = list[Sent](), Counter[int]()
    for number in range(sample):
        place = number * shards // sample
        later = first_pass + timedelta(seconds=stagger(place, Limits(shards=shards)) + rng.uniform(0, 2))
        passes = (first_pass if after_outage else later, later)
        one = _shard(share[number::sample], passes, begin, takes)
        sent += _sent(one)
        writes.update(one.writes)
    writes = _evened(writes, shards, sample, 1 if after_outage else None)
    return Claims(begin, _spread(sent, len(dues), (teams, tiers), rng), writes)


def _at_once(firings: int, shards: int) -> int:
    """How many shards claim at the same time: they share what the table takes."""
    apart = stagger(shards - 1, Limits(shards=shards)) / max(1, shards - 1)
    return max(1, min(shards, math.ceil(pass_seconds(firings / shards) / max(apart, 0.1))))


def _evened(writes: Counter[int], shards: int, sample: int, apart: int | None) -> Counter[int]:
    """Of all shards: each sampled one stands for its likes, which begin at the seconds until the next sampled one."""
    apart = apart or max(1, stagger(shards // sample, Limits(shards=shards)))
    even: defaultdict[int, float] = defaultdict(float)
    for second, units in writes.items():
        for later in range(apart):
            even[second + later] += units * shards / sample / apart
    return Counter({second: round(units) for second, units in even.items()})


def _spread(
    sent: list[Sent],
    wanted: int,
    likeness: tuple[Callable[[int], int], Mapping[str, float]],
    rng: random.Random,
) -> tuple[Sent, ...]:
    """As many as were wanted: each sampled one stands for its likes on the other shards, of other teams and tiers."""
    teams, tiers = likeness
    whole, rest = divmod(wanted, len(sent))
    names, shares = list(tiers), list(tiers.values())

    def like(each: Sent) -> Sent:
        tier = rng.choices(names, shares)[0] if each.tier in tiers else each.tier
        return replace(each, team=teams(rng.randrange(10**9)), tier=tier)

    return tuple(sorted(map(like, [*sent * whole, *rng.sample(sent, rest)]), key=_surfaces))


def _surfaces(sent: Sent) -> float:
    return sent.surfaces


def _shard(
    dues: Sequence[datetime], passes: tuple[datetime, datetime], begin: datetime, timer_writes: float
) -> Watched:
    """`passes`: when the first one begins, and from when on the others do, a minute apart."""
    first_pass, later = passes
    clock = SettableClock(first_pass)
    store = MemoryStore(clock)
    watched = Watched(clock, store, begin, timer_writes)
    limits = Limits(shards=1)
    for number, due in enumerate(dues):
        job = job_of(number, due - timedelta(hours=1), schedule=_daily(due))
        timer = first_timer(job, due - timedelta(minutes=30), limits)
        store.write(Put(key=keys.job(job.uid), item=encode_job(job)))
        store.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
    oldest = floor_minute(min(dues)) - MINUTE
    store.write(Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(oldest)}))
    shard = Shard(
        _wire(first_pass), store=seamed(store, "store", watched.around), queues=watched, clock=clock
    )
    for number in range(240):
        clock.set(max((later if number else first_pass) + number * MINUTE, clock.now()))
        shard.scan()
        if len(watched.sent) >= len(dues):
            return watched
    raise AssertionError(f"{len(watched.sent)} of {len(dues)} were claimed in four hours")


def _daily(due: datetime) -> Schedule:
    wire = _wire(due)
    return parse_schedule({"every": "P1D", "anchor": wire}, now=due - timedelta(days=1))


def _sent(watched: Watched) -> list[Sent]:
    found = []
    for at, message in watched.sent:
        item = watched.store.get(keys.execution(read_wake(message.body)))
        assert item is not None
        record = decode_execution(item)
        due, ready = ((each - watched.begin) / timedelta(seconds=1) for each in (record.due, record.wake_at))
        found.append(Sent(at, at + message.delay, due, ready, message.queue.value, 0))
    return found


def _wire(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")
