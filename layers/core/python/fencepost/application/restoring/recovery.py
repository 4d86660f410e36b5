"""Brings a restored copy up to what is known to have happened after it, and wakes whatever is unfinished.

The ledger that the copy replaces went on after it: what ended there has ended here, what began there goes on here
under a larger fence, and what was claimed there is not claimed again. Without that ledger the copy alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from fencepost.application import keys, moves
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.codec_job import decode_job
from fencepost.application.delivery.dead_letters import (
    dead_letter_key,
    dead_letter_put,
    dead_letter_removed,
)
from fencepost.application.planting import plant, shard_of, wake_timer
from fencepost.application.ports import Clock
from fencepost.application.scanning.succession import expected_occurrence
from fencepost.application.scanning.sweep import Sweep, SweepReport
from fencepost.application.scanning.watermark import Watermark
from fencepost.application.store import Action, Cancelled, Item, Query, Share, Store, Table, items
from fencepost.domain.identity import ExecutionKind, stamp
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job
from fencepost.domain.states import ExecutionState

EARLIER = timedelta(hours=1)
"""How much earlier than the copy's watermark it looks for what came after the copy."""
_TIMED = (ExecutionKind.OCCURRENCE, ExecutionKind.RANGE)
_BY_HAND = (ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL)
_COMPARED = frozenset({"QUEUED", "WAITING", "RUNNING", "RETRY_WAIT", "DEAD"})
S = ExecutionState


@dataclass(slots=True, kw_only=True)
class RecoveryReport:
    """What a share came to. `retired`: unfinished in the copy, ended in the ledger that it replaces; `brought`: other
    records of that ledger; `swept`: what was woken and planted. `finished` is false where time ran out.
    """

    retired: int = 0
    brought: int = 0
    swept: SweepReport = field(default_factory=SweepReport)
    finished: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """One per process. Repeating a share changes nothing that it did. `replaced`: the store whose ledger went on;
    it is only read. `sweep` wonders about everything at once.
    """

    store: Store
    replaced: Store | None
    sweep: Sweep
    clock: Clock
    limits: Limits

    def run(self, number: int, of: int, until: datetime, *, ledger: bool) -> RecoveryReport:
        """Share `number` of `of`, as much of it as can be done by `until`. Not to be asked for the `ledger` once the
        copy has fired: it is the newer one then. Raises StoreError.
        """
        found = RecoveryReport()

        def in_time() -> bool:
            found.finished = found.finished and self.clock.now() < until
            return found.finished

        if ledger and self.replaced is not None:
            self._compare(self.replaced, Share(table=Table.EXECUTIONS, number=number, of=of), found, in_time)
            self._follow(self.replaced, Share(table=Table.JOBS, number=number, of=of), found, in_time)
        if found.finished:
            self.sweep.mend(self.clock.now(), number, of, found.swept, in_time)
        return found

    def _compare(
        self, replaced: Store, share: Share, found: RecoveryReport, in_time: Callable[[], bool]
    ) -> None:
        """What had not ended in the copy, and what had died: either may have come further since."""
        for page in self.store.scan(share):
            if not in_time():
                return
            for item in page:
                if item.get("state") in _COMPARED and not str(item["pk"]).startswith("D#"):
                    with_key = keys.execution(_read(item).id) if _readable(item, found) else None
                    newer = None if with_key is None else replaced.get(with_key)
                    if newer is not None:
                        self._take(newer, found)

    def _follow(
        self, replaced: Store, share: Share, found: RecoveryReport, in_time: Callable[[], bool]
    ) -> None:
        """What each job's ledger holds that came after the copy."""
        for page in self.store.scan(share):
            for item in page:
                if item["sk"] != "J":
                    continue
                if not in_time():
                    return
                try:
                    job = decode_job(item)
                    for newer in self._after(replaced, job):
                        self._take(newer, found)
                except UndecodableError:
                    found.swept.unreadable.append(f"{item['pk']}/{item['sk']}")

    def _after(self, replaced: Store, job: Job) -> Iterator[Item]:
        since = self._watermark(job) - EARLIER
        begins, _ = expected_occurrence(self.store, job)
        first = since if begins is None else min(since, begins)
        for kind in _TIMED:
            span = Query(table=Table.EXECUTIONS, pk=job.uid, first=f"{kind}#{stamp(first)}", last=f"{kind}#~")
            yield from items(replaced, span)
        for kind in _BY_HAND:
            for item in items(
                replaced, Query(table=Table.EXECUTIONS, pk=job.uid, first=f"{kind}#", last=f"{kind}#~")
            ):
                if _read(item).claimed_at >= since:
                    yield item

    def _watermark(self, job: Job) -> datetime:
        mark = Watermark(store=self.store, limits=self.limits)
        return mark.read(shard_of(job.uid, self.limits), self.clock.now())

    def _take(self, item: Item, found: RecoveryReport) -> None:
        """One record of the replaced ledger, if it says more than the copy's own."""
        if not _readable(item, found):
            return
        newer = as_brought(_read(item))
        known = self.store.get(keys.execution(newer.id))
        before = None if known is None else _read(known)
        if before is not None and not further(before, newer):
            return
        actions: list[Action] = [moves.brought(newer, before), *self._duties(newer, before)]
        if isinstance(self.store.transact(actions), Cancelled):
            return  # somebody moved it in this moment; the next run sees what is there then
        ended = before is not None and not before.final and newer.final
        found.retired += ended
        found.brought += not ended

    def _duties(self, newer: Execution, before: Execution | None) -> Iterator[Action]:
        dead, died = newer.state is S.DEAD, before is not None and before.state is S.DEAD
        letter = dead_letter_put(newer) if dead else None
        if before is not None and died and (letter is None or letter.key != dead_letter_key(before)):
            yield dead_letter_removed(before)
        if letter is not None:
            yield letter
        if not newer.final or (dead and not newer.told):
            now = self.clock.now()
            yield from plant(wake_timer(newer, now, now=now, limits=self.limits), now, self.limits).actions


def further(before: Execution, newer: Execution) -> bool:
    """Whether the replaced ledger knows more of an execution than its copy. What has ended in the copy is not begun again."""
    if before.final:
        return newer.final and newer.fence > before.fence
    if newer.final:
        return True
    ran = before.state is S.RUNNING and newer.state is not S.RUNNING
    return (newer.fence, newer.attempt) > (before.fence, before.attempt) or (
        ran and newer.fence == before.fence
    )


def as_brought(record: Execution) -> Execution:
    """Without a place in a lane: the copy's backlog does not know it."""
    if record.state is not S.WAITING:
        return record
    return replace(record, state=S.RETRY_WAIT if record.attempt else S.QUEUED, lane=None, retry_at=None)


def _readable(item: Item, found: RecoveryReport) -> bool:
    try:
        _read(item)
    except UndecodableError:
        found.swept.unreadable.append(f"{item['pk']}/{item['sk']}")
        return False
    return True


def _read(item: Item) -> Execution:
    return decode_execution(item)
