"""The store in memory: serializable, deterministic, and as strict about requests as DynamoDB."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fencepost.adapters.algebra import after, copied, holds, judge
from fencepost.adapters.refusals import check_action, check_key, check_transaction
from fencepost.application.ports import Clock
from fencepost.application.store import (
    Action,
    Cancelled,
    Check,
    Committed,
    InvalidWriteError,
    Item,
    Key,
    Lost,
    Query,
    Share,
    Table,
    Won,
    Write,
)
from fencepost.domain.identity import hashed

TOKEN_LIFE = timedelta(minutes=10)


@dataclass(slots=True)
class _Partition:
    """The items of one (table, pk), and their sort keys in order."""

    items: dict[str, Item] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


class MemoryStore:
    """`Store` in this process. Thread-safe: one lock, held for one call or one page.

    Pages are small, and a full page is never known to be the last, so that a reader who forgets pages is found out.
    Without a clock a transaction's token is remembered for ever.
    """

    def __init__(self, clock: Clock | None = None, *, page_size: int = 25) -> None:
        self._clock = clock
        self._page_size = page_size
        self._partitions: dict[tuple[Table, str], _Partition] = {}
        self._tokens: dict[str, tuple[datetime | None, Sequence[Action]]] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> Item | None:
        """See `Store.get`."""
        check_key(key)
        with self._lock:
            item = self._read(key)
            return None if item is None else copied(item)

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See `Store.batch_get`; all are processed."""
        found = ((key, self.get(key)) for key in dict.fromkeys(keys))
        return {key: item for key, item in found if item is not None}

    def pages(self, query: Query) -> Iterator[Sequence[Item]]:
        """See `Store.pages`. Each page sees the store as it is when the page is asked for."""
        left = query.limit
        cursor: str | None = None
        while left is None or left > 0:
            size = self._page_size if left is None else min(self._page_size, left)
            page = self._page(query, cursor, size)
            yield page
            if len(page) < size:
                return
            cursor = page[-1]["sk"]
            left = None if left is None else left - size

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        """See `Store.scan`: a page is what a partition holds when its turn comes."""
        with self._lock:
            owned = [pk for table, pk in self._partitions if table is share.table]
        for pk in sorted(owned):
            if hashed(pk, share.of) == share.number:
                yield from self.pages(Query(table=share.table, pk=pk))

    def write(self, write: Write) -> Won | Lost:
        """See `Store.write`."""
        check_action(write)
        with self._lock:
            old = self._read(write.key)
            if not holds(write.condition, old):
                return Lost(None if old is None else copied(old))
            self._set(write.key, after(write, old))
            return Won()

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """See `Store.transact`. Only a committed transaction is remembered: a cancelled one had no effect."""
        check_transaction(actions, token)
        with self._lock:
            if token is not None and self._replayed(token, actions):
                return Committed()
            news = judge(actions, [self._read(action.key) for action in actions])
            if isinstance(news, Cancelled):
                return news
            for action, new in zip(actions, news, strict=True):
                if not isinstance(action, Check):
                    self._set(action.key, new)
            if token is not None:
                self._tokens[token] = (self._now(), tuple(actions))
            return Committed()

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """See `Store.batch_delete`; all are processed."""
        for key in keys:
            check_key(key)
        with self._lock:
            for key in keys:
                self._set(key, None)
        return ()

    def everything(self, table: Table) -> list[Item]:
        """Every item of a table, by key: for tests and invariants, no part of the port."""
        with self._lock:
            keys = sorted(pk for owner, pk in self._partitions if owner is table)
            partitions = [self._partitions[table, pk] for pk in keys]
            return [copied(part.items[sk]) for part in partitions for sk in part.order]

    def _read(self, key: Key) -> Item | None:
        partition = self._partitions.get((key.table, key.pk))
        return None if partition is None else partition.items.get(key.sk)

    def _set(self, key: Key, item: Item | None) -> None:
        where = (key.table, key.pk)
        partition = self._partitions.get(where)
        if item is not None:
            partition = partition or self._partitions.setdefault(where, _Partition())
            if key.sk not in partition.items:
                insort(partition.order, key.sk)
            partition.items[key.sk] = item
        elif partition is not None and partition.items.pop(key.sk, None) is not None:
            del partition.order[bisect_left(partition.order, key.sk)]
            if not partition.order:
                del self._partitions[where]

    def _page(self, query: Query, cursor: str | None, size: int) -> list[Item]:
        with self._lock:
            partition = self._partitions.get((query.table, query.pk))
            if partition is None:
                return []
            order = partition.order
            low = 0 if query.first is None else bisect_left(order, query.first)
            high = len(order) if query.last is None else bisect_right(order, query.last)
            if query.forward:
                low = low if cursor is None else max(low, bisect_right(order, cursor))
                keys = order[low : min(high, low + size)]
            else:
                high = high if cursor is None else min(high, bisect_left(order, cursor))
                keys = order[max(low, high - size) : max(low, high)][::-1]
            return [copied(partition.items[sk]) for sk in keys]

    def _replayed(self, token: str, actions: Sequence[Action]) -> bool:
        known = self._tokens.get(token)
        if known is None:
            return False
        at, before = known
        now = self._now()
        if at is not None and now is not None and now - at >= TOKEN_LIFE:
            del self._tokens[token]
            return False
        if before != tuple(actions):
            raise InvalidWriteError("the token was used for another transaction")
        return True

    def _now(self) -> datetime | None:
        return None if self._clock is None else self._clock.now()
