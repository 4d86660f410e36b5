"""What a deleted job leaves behind expires with its tombstone: details, revisions, ended generations, backfills, lock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.errands.errand import Errand, ErrandKind
from fencepost.application.store import Item, Key, Lacks, Present, Put, Query, Store, Table, Update, every
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Job

MOST = 500
"""Items marked in one step."""
SETTLED = timedelta(minutes=2)
"""So long after the deletion nobody works any more who read the job before it, and may make its lock."""


def forget_put(job: Job, expires_at: datetime) -> Put:
    """Belongs into the transaction that deletes the job."""
    errand = Errand(kind=ErrandKind.FORGET, subject=job.uid, team=job.team)
    return errand.put(expires=to_ms(expires_at) // 1000, since=to_ms(job.updated_at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """One per process."""

    store: Store

    def run(self, errand: Errand, now: datetime) -> None:
        """Marks some more of what the job left; what was marked before is passed over. Raises UndecodableError."""
        item = self.store.get(errand.key)
        if item is None:
            return
        since = item.get("since")
        if isinstance(since, int) and now - from_ms(since) < SETTLED:
            return
        if self._marked(errand.subject, self._expires(errand, item)) < MOST:
            self.store.write(errand.done())

    def _expires(self, errand: Errand, item: Item) -> int:
        """When all of it may go, which the tombstone says as well. Raises UndecodableError."""
        expires = item.get("expires")
        if not isinstance(expires, int):
            expires = (self.store.get(keys.job(errand.subject)) or {}).get("expires")
        if isinstance(expires, int):
            return expires
        raise UndecodableError(f"errand {errand} does not say when to forget")

    def _marked(self, uid: str, expires: int) -> int:
        """How many items were marked, `MOST` at most."""
        marked = 0
        for page in self.store.pages(Query(table=Table.JOBS, pk=keys.job(uid).pk)):
            for item in page:
                if "expires" in item:
                    continue
                self._mark(Key(Table.JOBS, item["pk"], item["sk"]), expires)
                marked += 1
                if marked == MOST:
                    return marked
        self._mark(keys.overlap_lock(uid), expires)
        return marked

    def _mark(self, key: Key, expires: int) -> None:
        """What has a mark keeps it: nobody writes such an item as a whole any more."""
        self.store.write(
            Update(key=key, set={"expires": expires}, condition=every(Present(), Lacks("expires")))
        )
