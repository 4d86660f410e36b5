"""Which instants of a backfill need no run: those that succeeded, those under way, and those that are excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.auditing.reading import read_page
from fencepost.application.backfills.reading import executions, list_backfills
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.store import Item, Store
from fencepost.domain.backfill import Backfill, BackfillState
from fencepost.domain.identity import ExecutionId
from fencepost.domain.judgement import started
from fencepost.domain.model import Execution
from fencepost.domain.schedule import Calendar, is_excluded
from fencepost.domain.states import ExecutionState

PAGE = 2_000
_TICK = timedelta(milliseconds=1)
OTHERS = 20
"""How many other backfills of the same instants are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Looks up what became of instants: under the schedule, and by other backfills. `thinned`: the time in which an
    occurrence without a record succeeded, since only records of successes go before the retention is over.
    """

    store: Store
    backfill: Backfill
    calendars: Mapping[str, Calendar]
    others: tuple[Backfill, ...]
    thinned: tuple[datetime, datetime] | None = None

    @classmethod
    def of(
        cls,
        store: Store,
        backfill: Backfill,
        calendars: Mapping[str, Calendar],
        thinned: tuple[datetime, datetime] | None = None,
    ) -> LeftOut:
        """For one step of `backfill`."""
        others = [] if backfill.force else list_backfills(store, backfill.uid)
        beside = [
            other
            for other in others
            if other.id != backfill.id and other.first < backfill.before and backfill.first < other.before
        ]
        return cls(
            store=store,
            backfill=backfill,
            calendars=calendars,
            others=tuple(beside[:OTHERS]),
            thinned=thinned,
        )

    def without(self, instants: Sequence[datetime]) -> list[datetime]:
        """Those of `instants` that shall run, in order."""
        open_ones = [each for each in instants if self._calendar(each) is None]
        if self.backfill.force or not open_ones:
            return open_ones
        seen_to = self._by_schedule(open_ones) | self._by_backfills(open_ones)
        return [each for each in open_ones if each not in seen_to]

    def _calendar(self, instant: datetime) -> str | None:
        return is_excluded(self.backfill.schedule, instant, self.calendars)

    def _by_schedule(self, instants: Sequence[datetime]) -> set[datetime]:
        """A batch read proves no absence, so what it does not bring is asked for by itself."""
        wanted = {each: keys.execution(ExecutionId.occurrence(self.backfill.uid, each)) for each in instants}
        found = self.store.batch_get(list(wanted.values()))
        items = {each: found.get(key) or self.store.get(key) for each, key in wanted.items()}
        gone = self._thinned([each for each, item in items.items() if item is None])
        return gone | {each for each, item in items.items() if item is not None and _seen_to(_record(item))}

    def _thinned(self, unrecorded: Sequence[datetime]) -> set[datetime]:
        """Those that succeeded long ago; what a range speaks for never ran."""
        if self.thinned is None:
            return set()
        begin, end = self.thinned
        old = [each for each in unrecorded if begin < each < end]
        if not old:
            return set()
        page = read_page(self.store, self.backfill.uid, old[0], old[-1] + _TICK, PAGE).page
        return {each for each in old if page.covering(each) is None}

    def _by_backfills(self, instants: Sequence[datetime]) -> set[datetime]:
        wanted = set(instants)
        return {
            instant
            for other in self.others
            for record in executions(self.store, other, instants[0], instants[-1])
            if (instant := record.id.nominal) in wanted and _seen_to(record) and not _ends(other, record)
        }


def _record(item: Item) -> Execution | None:
    try:
        return decode_execution(item)
    except UndecodableError:
        return None


def _seen_to(record: Execution | None) -> bool:
    """It succeeded, or is on its way to."""
    return record is not None and (record.state is ExecutionState.SUCCEEDED or not record.final)


def _ends(backfill: Backfill, record: Execution) -> bool:
    """It only waits to be cancelled."""
    cancelled = backfill.state is BackfillState.CANCELLED
    return cancelled and not record.final and not started(record)
