"""The simulated store: what DynamoDB promises and no more, every accepted write in the journal.

Reads of many items are read-committed: a batch and a page are put together from several looks, between which others
may write. Items are never changed once they are stored, so readers share them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.algebra import after, copied, holds, judge
from fencepost.adapters.refusals import check_action, check_key, check_transaction
from fencepost.application.store import (
    Action,
    Cancelled,
    Check,
    Committed,
    Delete,
    InvalidWriteError,
    Item,
    Key,
    Lost,
    Put,
    Query,
    Share,
    Table,
    Update,
    Won,
    Write,
)
from fencepost.domain.identity import hashed
from tests.simulation.journal import Journal

TOKEN_LIFE = timedelta(minutes=10)


class Partition:
    """The items of one (table, pk), and their sort keys in order."""

    __slots__ = ("items", "order")

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        self.order: list[str] = []


class Pages:
    """The pages of some queries, one after the other. `over`: there is none left."""

    def __init__(self, store: SimStore, queries: list[Query]) -> None:
        self._store = store
        self._queries = queries[::-1]
        self._cursor: str | None = None
        self._left = self._queries[-1].limit if self._queries else None

    @property
    def over(self) -> bool:
        """No page is left."""
        return not self._queries

    def __iter__(self) -> Iterator[Sequence[Item]]:
        while self._queries:
            yield next(self)

    def __next__(self) -> Sequence[Item]:
        """The next page."""
        page, last = self._store.page(self._queries[-1], self._cursor, self._left)
        if self._left is not None:
            self._left -= len(page)
        if last or self._left == 0:
            self._queries.pop()
            self._cursor = None
            self._left = self._queries[-1].limit if self._queries else None
        elif page:
            self._cursor = str(page[-1]["sk"])
        return page


class SimStore:
    """`Store`. `between` runs between two looks of one read; `strict` refuses and copies as the adapters do."""

    def __init__(
        self,
        journal: Journal,
        now: Callable[[], datetime],
        *,
        between: Callable[[str], None],
        page_size: Callable[[], int],
        strict: bool = False,
    ) -> None:
        self._journal = journal
        self._now = now
        self._between = between
        self._page_size = page_size
        self._strict = strict
        self._partitions: dict[tuple[Table, str], Partition] = {}
        self._tokens: dict[str, tuple[datetime, Sequence[Action]]] = {}

    def get(self, key: Key) -> Item | None:
        """See `Store.get`."""
        if self._strict:
            check_key(key)
        item = self.peek(key)
        if key.sk == "J":
            self._journal.read(key.pk)
        return self._out(item)

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See `Store.batch_get`: each item as it is when its turn comes."""
        found: dict[Key, Item] = {}
        for key in dict.fromkeys(keys):
            if found:
                self._between("batch")
            item = self.get(key)
            if item is not None:
                found[key] = item
        return found

    def pages(self, query: Query) -> Pages:
        """See `Store.pages`. A full page is never known to be the last."""
        return Pages(self, [query])

    def scan(self, share: Share) -> Pages:
        """See `Store.scan`: a page is what a partition holds when its turn comes."""
        owned = sorted(pk for table, pk in self._partitions if table is share.table)
        mine = [pk for pk in owned if hashed(pk, share.of) == share.number]
        return Pages(self, [Query(table=share.table, pk=pk) for pk in mine])

    def page(self, query: Query, cursor: str | None, left: int | None) -> tuple[list[Item], bool]:
        """The next page behind `cursor`, and whether it is the last. An empty one need not be."""
        if (query.table, query.pk) not in self._partitions:
            return [], True
        size = self._page_size()
        size = size if left is None else min(size, left)
        page = self._torn(query, cursor, size) if size else []
        return page, len(page) < size

    def write(self, write: Write) -> Won | Lost:
        """See `Store.write`."""
        if self._strict:
            check_action(write)
        old = self.peek(write.key)
        if not holds(write.condition, old):
            return Lost(self._out(old))
        self._set(write.key, old, after(write, old) if self._strict else quickly(write, old))
        return Won()

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """See `Store.transact`."""
        if self._strict:
            check_transaction(actions, token)
        if token is not None and self._replayed(token, actions):
            return Committed()
        olds = [self.peek(action.key) for action in actions]
        news = self._judge(actions, olds)
        if isinstance(news, Cancelled):
            return news
        same_step = False
        for action, old, new in zip(actions, olds, news, strict=True):
            if not isinstance(action, Check):
                self._set(action.key, old, new, same_step=same_step)
                same_step = True
        if token is not None:
            self._tokens[token] = (self._now(), tuple(actions))
        return Committed()

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """See `Store.batch_delete`; all are processed, one after the other."""
        for key in keys:
            if self._strict:
                check_key(key)
            self._set(key, self.peek(key), None)
        return ()

    def everything(self, table: Table) -> list[Item]:
        """Every item of a table, by key."""
        keys = sorted(pk for owner, pk in self._partitions if owner is table)
        partitions = [self._partitions[table, pk] for pk in keys]
        return [partition.items[sk] for partition in partitions for sk in partition.order]

    def peek(self, key: Key) -> Item | None:
        """The stored item itself."""
        partition = self._partitions.get((key.table, key.pk))
        return None if partition is None else partition.items.get(key.sk)

    def _out(self, item: Item | None) -> Item | None:
        return copied(item) if self._strict and item is not None else item

    def _set(self, key: Key, old: Item | None, new: Item | None, *, same_step: bool = False) -> None:
        if new is None and old is None:
            return
        self._journal.write(key.table, key.pk, key.sk, old, new, same_step=same_step)
        where = (key.table, key.pk)
        partition = self._partitions.get(where)
        if new is not None:
            if partition is None:
                partition = self._partitions[where] = Partition()
            if old is None:
                insort(partition.order, key.sk)
            partition.items[key.sk] = new
        elif partition is not None:
            del partition.items[key.sk]
            del partition.order[bisect_left(partition.order, key.sk)]
            if not partition.order:
                del self._partitions[where]

    def _torn(self, query: Query, cursor: str | None, size: int) -> list[Item]:
        """A page from up to two looks: its second half is what is there a moment later."""
        page = self._page(query, cursor, size)
        if len(page) < 2:
            return page
        kept = page[: len(page) // 2]
        self._between("page")
        return kept + self._page(query, kept[-1]["sk"], size - len(kept))

    def _page(self, query: Query, cursor: str | None, size: int) -> list[Item]:
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
        found = [partition.items[sk] for sk in keys]
        return [copied(item) for item in found] if self._strict else found

    def _judge(self, actions: Sequence[Action], olds: Sequence[Item | None]) -> list[Item | None] | Cancelled:
        pairs = list(zip(actions, olds, strict=True))
        if self._strict or not all(holds(action.condition, old) for action, old in pairs):
            return judge(actions, olds)
        return [quickly(action, old) for action, old in pairs]

    def _replayed(self, token: str, actions: Sequence[Action]) -> bool:
        known = self._tokens.get(token)
        if known is None:
            return False
        at, before = known
        if self._now() - at >= TOKEN_LIFE:
            del self._tokens[token]
            return False
        if before != tuple(actions):
            raise InvalidWriteError("the token was used for another transaction")
        return True


def quickly(action: Action, old: Item | None) -> Item | None:
    """What `algebra.after` gives, without its checks and copies: writers do not touch again what they wrote."""
    if isinstance(action, Put):
        return {**action.item, "pk": action.key.pk, "sk": action.key.sk}
    if isinstance(action, Update):
        new: dict[str, Any] = {"pk": action.key.pk, "sk": action.key.sk} if old is None else dict(old)
        for name, increment in action.add.items():
            new[name] = new.get(name, 0) + increment
        for name in action.remove:
            new.pop(name, None)
        new.update(action.set)
        return new
    return None if isinstance(action, Delete) else old
