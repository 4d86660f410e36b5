"""The minute up to which a shard is proven empty (protocol C1). What is stored is the last such minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.planting import WATERMARK
from fencepost.application.store import Absent, Compare, Lost, Put, Query, Store, StoreError, Table, Update
from fencepost.domain.instants import MINUTE, floor_minute, from_ms, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket

FIRST_LOOK = timedelta(hours=1)
"""How far back a shard without a watermark is first read."""
PROOFS_PER_PASS = 240
"""The most buckets that one pass proves empty; after a long outage the watermark catches up over several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """Moves only upwards, and only over minutes that this proof itself saw empty, each after the one before."""

    store: Store
    limits: Limits

    def read(self, shard: int, now: datetime) -> datetime:
        """The first minute not yet proven empty. A new shard's is written first."""
        begin = floor_minute(now) - FIRST_LOOK
        item = self.store.get(keys.watermark(shard))
        if item is None:
            proven = {"v": 1, WATERMARK: to_ms(begin - MINUTE)}
            outcome = self.store.write(Put(key=keys.watermark(shard), item=proven, condition=Absent()))
            item = outcome.item if isinstance(outcome, Lost) else None
        return begin if item is None else from_ms(item[WATERMARK]) + MINUTE

    def prove(self, shard: int, low: datetime, now: datetime) -> datetime:
        """Reads upwards from `low` while buckets are empty and their end lies `watermark_lag` past; returns
        the first minute that is not proven empty."""
        minute = low
        try:
            for _ in range(PROOFS_PER_PASS):
                if minute + MINUTE + self.limits.watermark_lag > now or not self._empty(
                    Bucket(minute, shard)
                ):
                    break
                minute += MINUTE
            if minute > low:
                self._raise(shard, minute)
        except StoreError:
            return low
        return minute

    def _empty(self, bucket: Bucket) -> bool:
        query = Query(table=Table.TIMERS, pk=keys.bucket_partition(bucket), limit=1)
        return not any(page for page in self.store.pages(query))

    def _raise(self, shard: int, minute: datetime) -> None:
        mark = to_ms(minute - MINUTE)
        self.store.write(
            Update(
                key=keys.watermark(shard),
                set={WATERMARK: mark},
                condition=Compare(WATERMARK, "<", mark),
            )
        )
