"""What delivery reads, each kind with its freshness, and shared by the messages of a batch.

A batch of firings often comes due in one moment, and each needs its record, its job, its team and its payload. Whoever
is first reads for all: the records when the batch arrives, the rest once they are due.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.codec_job import decode_detail, decode_ended_generation, decode_job
from fencepost.application.store import Item, Key, Store
from fencepost.application.switches.reading import standing_of
from fencepost.domain.backfill import BackfillState
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Detail, EndedGeneration, Execution, Job, Team

TEAM_MEMORY = timedelta(seconds=2)
RECORD_MEMORY = timedelta(seconds=1)
JOB_MEMORY = timedelta(milliseconds=250)
TEAMS_REMEMBERED = 1_000
DETAILS_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class _Seen:
    """An item as it was at `at`."""

    at: datetime
    item: Item

    def fresh(self, now: datetime, life: timedelta) -> bool:
        """Read by another thread a moment from now is fresh as well."""
        return abs(now - self.at) <= life


class Reads:
    """One per batch in flight: on Lambda, one per process. Raises UndecodableError for what cannot be understood.

    `guard` is held while one thread reads for the others: a lock, where threads share this.
    """

    def __init__(self, store: Store, guard: AbstractContextManager[object] | None = None) -> None:
        self._store = store
        self._guard: AbstractContextManager[object] = guard or nullcontext()
        self._expected: dict[ExecutionId, Execution] = {}
        self._records: dict[ExecutionId, _Seen] = {}
        self._jobs: dict[ExecutionId, _Seen] = {}
        self._teams: OrderedDict[str, _Seen] = OrderedDict()
        self._details: OrderedDict[Key, Item] = OrderedDict()
        self._stage: _Seen | None = None

    def expect(self, identities: Sequence[ExecutionId], now: datetime) -> None:
        """Reads the records of a batch at once. A record that is a moment old is safe to judge: every move is a
        compare-and-set on what was read.
        """
        found = self._store.batch_get([keys.execution(identity) for identity in identities])
        read = {identity: found.get(keys.execution(identity)) for identity in dict.fromkeys(identities)}
        self._records = {identity: _Seen(now, item) for identity, item in read.items() if item is not None}
        self._jobs = {}
        self._expected = {}
        for identity, seen in self._records.items():
            try:
                self._expected[identity] = decode_execution(seen.item)
            except UndecodableError:
                continue  # it says so when its own message is looked at

    def record(self, identity: ExecutionId, now: datetime | None = None) -> Execution | None:
        """The execution, read strongly; with `now`, the one that `expect` read for it, once, within a second."""
        expected = self._records.pop(identity, None)
        if expected is not None and now is not None and expected.fresh(now, RECORD_MEMORY):
            return decode_execution(expected.item)
        item = self._store.get(keys.execution(identity))
        return None if item is None else decode_execution(item)

    def due_job(self, record: Execution, now: datetime) -> Job | None:
        """The record's job, read after the record came due (protocol D1), together with those of the batch."""
        with self._guard:
            seen = self._jobs.pop(record.id, None)
            if seen is None or seen.at < record.wake_at or not seen.fresh(now, JOB_MEMORY):
                self._read_together(record, now)
                seen = self._jobs.pop(record.id, None)
        # A batch read proves no absence: what it did not bring is asked for by itself.
        item = self._store.get(keys.job(record.id.uid)) if seen is None else seen.item
        return None if item is None else decode_job(item)

    def job(self, uid: str) -> Job | None:
        """The job or its tombstone, read strongly, for what has begun already: whoever asks goes by defaults where
        there is none, or none that can be understood.
        """
        item = self._store.get(keys.job(uid))
        try:
            return None if item is None else decode_job(item)
        except UndecodableError:
            return None

    def detail(self, uid: str, digest: str) -> Detail | None:
        """The target and payload of a digest. They never change, so the last ones are remembered; what cannot be read is
        not, since its owner may mend it by declaring the job anew.
        """
        key = keys.detail(uid, digest)
        item = self._details.get(key)
        if item is None:
            item = self._store.get(key)
        if item is None:
            return None
        try:
            detail = decode_detail(item)
        except UndecodableError:
            self._details.pop(key, None)
            raise
        self._remember(key, item)
        return detail

    def ended(self, record: Execution, job: Job) -> EndedGeneration | None:
        """The record's generation, where the job's own item no longer tells how it ended."""
        if record.generation >= job.generation - 1:
            return None
        item = self._store.get(keys.ended_generation(record.id.uid, record.generation))
        return None if item is None else decode_ended_generation(item)

    def team(self, name: str, now: datetime) -> Team | None:
        """The team as it stood at most two seconds ago, the stage's switches included: a cap, a pause or a retention
        may take that long.
        """
        seen = self._teams.get(name)
        if seen is None or not seen.fresh(now, TEAM_MEMORY):
            item = self._store.get(keys.team(name))
            if item is None:
                return None
            seen = self._keep_team(name, item, now)
        return standing_of(seen.item, self._switches(now), now)

    def called_off(self, record: Execution) -> bool:
        """Whether the backfill of the record was cancelled; one that is long forgotten was not."""
        item = self._store.get(keys.backfill(record.id.uid, record.id.key.partition("-")[0]))
        return item is not None and item.get("state") == BackfillState.CANCELLED

    def _switches(self, now: datetime) -> Item | None:
        """The stage's item; none is there before the stage's first tick."""
        if self._stage is None or not self._stage.fresh(now, TEAM_MEMORY):
            self._stage = _Seen(now, self._store.get(keys.stage()) or {})
        return self._stage.item or None

    def _read_together(self, record: Execution, now: datetime) -> None:
        """The jobs of all in the batch that are due, their teams, and what they send."""
        due = [other for other in self._expected.values() if other.wake_at <= now and other.id != record.id]
        due.append(record)
        teams = {other.team for other in due if not self._knows_team(other.team, now)}
        wanted = [*(keys.job(other.id.uid) for other in due), *(keys.team(name) for name in sorted(teams))]
        wanted += [] if self._stage is not None and self._stage.fresh(now, TEAM_MEMORY) else [keys.stage()]
        hinted = {
            keys.detail(other.id.uid, digest) for other in due if (digest := other.detail or other.hint)
        }
        ahead = [key for key in sorted(hinted) if key not in self._details]
        found = self._store.batch_get(list(dict.fromkeys([*wanted, *ahead])))
        for key in ahead:
            if key in found:
                self._remember(key, found[key])
        if keys.stage() in found:
            self._stage = _Seen(now, found[keys.stage()])
        for name in teams:
            if keys.team(name) in found:
                self._keep_team(name, found[keys.team(name)], now)
        jobs = {other.id: found.get(keys.job(other.id.uid)) for other in due}
        self._jobs |= {identity: _Seen(now, item) for identity, item in jobs.items() if item is not None}
        self._read_details(due, jobs)

    def _read_details(self, due: Sequence[Execution], jobs: Mapping[ExecutionId, Item | None]) -> None:
        wanted = dict.fromkeys(
            keys.detail(record.id.uid, digest)
            for record in due
            if isinstance(digest := record.detail or (jobs[record.id] or {}).get("detail"), str)
        )
        missing = [key for key in wanted if key not in self._details]
        if missing:
            for key, item in self._store.batch_get(missing).items():
                self._remember(key, item)

    def _knows_team(self, name: str, now: datetime) -> bool:
        seen = self._teams.get(name)
        return seen is not None and seen.fresh(now, TEAM_MEMORY)

    def _keep_team(self, name: str, item: Item, now: datetime) -> _Seen:
        seen = self._teams[name] = _Seen(now, item)
        self._teams.move_to_end(name)
        while len(self._teams) > TEAMS_REMEMBERED:
            self._teams.popitem(last=False)
        return seen

    def _remember(self, key: Key, item: Item) -> None:
        self._details[key] = item
        self._details.move_to_end(key)
        while len(self._details) > DETAILS_REMEMBERED:
            self._details.popitem(last=False)
