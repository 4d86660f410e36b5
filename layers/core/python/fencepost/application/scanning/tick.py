"""The minute's wake-up: one scan message per shard, one pump message per marked team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys, messages
from fencepost.application.ports import Queues, QueueUnavailableError
from fencepost.application.store import (
    Absent,
    Compare,
    Lost,
    Query,
    Store,
    StoreError,
    Table,
    Update,
    either,
    items,
)
from fencepost.domain.instants import floor_minute, to_ms
from fencepost.domain.limits import Limits


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one tick sent; `leased` is false where another tick of the same minute was first."""

    leased: bool
    scans: int = 0
    pumps: int = 0


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
        requests = [messages.ScanRequest(shard, now) for shard in range(self.limits.shards)]
        scans = [messages.scan(request) for request in requests]
        pumps = [messages.pump(team, now) for team in sorted(self._marked())]
        try:
            accepted = self.queues.send(scans + pumps)
        except QueueUnavailableError:
            return TickReport(leased=True)
        return TickReport(leased=True, scans=sum(accepted[: len(scans)]), pumps=sum(accepted[len(scans) :]))

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

    def _marked(self) -> set[str]:
        """The teams whose lanes may hold somebody; a partition that cannot be read is pumped by the next tick."""
        teams = set[str]()
        for number in range(keys.MARK_PARTITIONS):
            query = Query(table=Table.CONTROL, pk=f"M#{number:02d}")
            try:
                teams |= {str(item["sk"]).partition("|")[0] for item in items(self.store, query)}
            except StoreError:
                continue
        return teams
