"""One shard's pass: live minutes by due order, then older ones, then the watermark's own proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError, UndecodableError, decode_timer
from fencepost.application.messages import ScanRequest
from fencepost.application.ports import Clock, Entropy
from fencepost.application.scanning.claimer import Claimer
from fencepost.application.scanning.handover import HandOver
from fencepost.application.scanning.pace import Pace
from fencepost.application.scanning.quarantine import Quarantine
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.watermark import Watermark
from fencepost.application.store import (
    Absent,
    Compare,
    Delete,
    Item,
    Lost,
    Query,
    Store,
    StoreError,
    Table,
    Update,
    either,
    equals,
)
from fencepost.domain.instants import MINUTE, floor_minute, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Timer, TimerKind

LOOK_BACK = MINUTE
"""How far behind now a minute still counts as live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Claims and hands over all of a shard that is due inside the horizon. Any number may run at once, at any time:
    the shard's lease only saves money."""

    store: Store
    clock: Clock
    entropy: Entropy
    claimer: Claimer
    handover: HandOver
    quarantine: Quarantine
    watermark: Watermark
    limits: Limits

    def run(self, request: ScanRequest) -> ScanReport:
        """One pass over `request.shard`, within `limits.scan_budget`. What it does not reach stays for the next."""
        report, now = ScanReport(), self.clock.now()
        owner = self._lease(request.shard, now)
        if owner is None:
            report.leased = False
            return report
        pace = Pace.begin(self.clock, self.limits, self.limits.scan_budget)
        low = self.watermark.read(request.shard, now)
        for bucket in minutes(request.shard, low, now, self.limits):
            if pace.over:
                report.finished = False
                break
            self.bucket(bucket, pace, report)
        report.watermark = self.watermark.prove(request.shard, low, self.clock.now())
        self._release(request.shard, owner)
        return report

    def bucket(self, bucket: Bucket, pace: Pace | None, report: ScanReport) -> None:
        """Every page of one bucket, to the end; a page that fails leaves its timers for the next pass."""
        query = Query(table=Table.TIMERS, pk=keys.bucket_partition(bucket))
        try:
            for page in self.store.pages(query):
                self._page(page, bucket.shard, pace, report)
                if pace is not None and pace.over:
                    report.finished = False
                    return
        except StoreError:
            report.finished = False

    def _page(self, page: Sequence[Item], shard: int, pace: Pace | None, report: ScanReport) -> None:
        fire, wake_ups = list[Timer](), list[Timer]()
        for item in page:
            try:
                timer = decode_timer(item)
            except NewerShapeError:
                report.newer += 1  # a later version's scan claims it, and the watermark waits for that
                continue
            except UndecodableError as error:
                anew = self.quarantine.put_raw(item, shard, str(error), self.clock.now(), report)
                if anew is None:
                    continue
                timer = anew
            (fire if timer.kind is TimerKind.FIRE else wake_ups).append(timer)
        self.handover.wake_ups(wake_ups, report)
        self.claimer.claim(fire, report, pace=pace)

    def _lease(self, shard: int, now: datetime) -> str | None:
        """Takes the shard's advisory lease; the owner's token, or None while somebody else holds it."""
        owner = self.entropy.token()
        taken = Update(
            key=keys.scan_lease(shard),
            set={"v": 1, "owner": owner, "until": to_ms(now + self.limits.scan_lease)},
            condition=either(Absent(), Compare("until", "<=", to_ms(now))),
        )
        try:
            return None if isinstance(self.store.write(taken), Lost) else owner
        except StoreError:
            return owner

    def _release(self, shard: int, owner: str) -> None:
        try:
            self.store.write(Delete(key=keys.scan_lease(shard), condition=equals("owner", owner)))
        except StoreError:
            return


def minutes(shard: int, low: datetime, now: datetime, limits: Limits) -> list[Bucket]:
    """The buckets of a pass in order: live ones ascending, then those from the watermark up."""
    live_from = floor_minute(now - LOOK_BACK)
    live_to = floor_minute(now + limits.horizon)
    live = (live_to - live_from) // MINUTE + 1
    older = max(0, (live_from - low) // MINUTE)
    return [Bucket(live_from + n * MINUTE, shard) for n in range(live)] + [
        Bucket(low + n * MINUTE, shard) for n in range(older)
    ]
