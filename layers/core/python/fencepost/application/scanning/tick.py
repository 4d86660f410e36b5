"""The minute's wake-up: a scan message per shard, a pump message per marked team, a message per errand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from fencepost.application import keys, messages
from fencepost.application.errands.errand import Errand, waiting
from fencepost.application.ports import Queues, QueueUnavailableError
from fencepost.application.store import (
    Absent,
    Compare,
    Lost,
    Put,
    Query,
    Store,
    StoreError,
    Table,
    Update,
    either,
    items,
)
from fencepost.application.switches.codec import StageSwitches, encode_stage
from fencepost.domain.instants import MINUTE, SECOND, floor_minute, to_ms
from fencepost.domain.limits import Limits


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one tick sent; `leased` is false where another tick of the same minute was first. `unsent`: messages that no
    queue took; the next tick sends their like.
    """

    leased: bool
    scans: int = 0
    pumps: int = 0
    errands: int = 0
    unsent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Late, doubled, bunched or missing ticks are harmless: correctness never rests on this lease."""

    store: Store
    queues: Queues
    limits: Limits

    def run(self, now: datetime) -> TickReport:
        """Fans out. A message that is not accepted waits for the next minute."""
        if not self._lease(now):
            return TickReport(leased=False)
        even = self._follows(now)
        scans = [
            messages.scan(messages.ScanRequest(shard, now), stagger(shard, self.limits) if even else 0)
            for shard in range(self.limits.shards)
        ]
        pumps = [messages.pump(team, now) for team in sorted(marked_teams(self.store))]
        steps = [messages.step(errand) for errand in self._errands()]
        every = scans + pumps + steps
        try:
            taken = self.queues.send(every)
        except QueueUnavailableError:
            return TickReport(leased=True, unsent=len(every))
        accepted = iter(taken)
        return TickReport(
            leased=True,
            scans=sum(islice(accepted, len(scans))),
            pumps=sum(islice(accepted, len(pumps))),
            errands=sum(accepted),
            unsent=len(every) - sum(taken),
        )

    def _lease(self, now: datetime) -> bool:
        until = now + self.limits.tick_lease
        taken = Update(
            key=keys.tick_lease(floor_minute(now)),
            set={"v": 1, "until": to_ms(until), "expires": to_ms(now) // 1000 + 3600},
            condition=either(Absent(), Compare("until", "<=", to_ms(now))),
        )
        try:
            return not isinstance(self.store.write(taken), Lost)
        except StoreError:
            return True

    def _follows(self, now: datetime) -> bool:
        """Whether the minute before had its tick. If not, or if that cannot be told, no shard waits for its turn.

        Read with it: the item of the stage's switches, which is there from the first tick on, so that whoever reads it
        with others need not ask twice.
        """
        before = keys.tick_lease(floor_minute(now) - MINUTE)
        try:
            found = self.store.batch_get([keys.stage(), before])
            if keys.stage() not in found:
                none = encode_stage(StageSwitches())
                self.store.write(Put(key=keys.stage(), item=none, condition=Absent()))
        except StoreError:
            return False
        return before in found

    def _errands(self) -> list[Errand]:
        """Those that could not be read are asked for by the next tick."""
        try:
            return list(waiting(self.store))
        except StoreError:
            return []


def stagger(shard: int, limits: Limits) -> int:
    """Whole seconds by which a shard's pass begins after the tick: shards follow each other over most of the minute, so
    that their writes are even without a function that sleeps. A shard's passes stay a minute apart.
    """
    return int(shard * min(limits.scan_stagger, limits.scan_spread / limits.shards) / SECOND)


def marked_teams(store: Store) -> set[str]:
    """The teams whose lanes may hold somebody; a partition that cannot be read is pumped by the next tick."""
    teams = set[str]()
    for number in range(keys.MARK_PARTITIONS):
        query = Query(table=Table.CONTROL, pk=f"M#{number:02d}")
        try:
            teams |= {str(item["sk"]).partition("|")[0] for item in items(store, query)}
        except StoreError:
            continue
    return teams
