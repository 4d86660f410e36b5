"""What delivery reads, each kind with its freshness: records and jobs strongly, teams from a short memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.codec_job import decode_detail, decode_ended_generation, decode_job, decode_team
from fencepost.application.store import Store
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Detail, EndedGeneration, Execution, Job, Team

TEAM_MEMORY = timedelta(seconds=2)
TEAMS_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Reads:
    """One per process. Every method raises UndecodableError for what this version cannot understand."""

    store: Store
    _teams: dict[str, tuple[datetime, Team | None]] = field(default_factory=dict, compare=False)

    def record(self, identity: ExecutionId) -> Execution | None:
        """The execution, read strongly."""
        item = self.store.get(keys.execution(identity))
        return None if item is None else decode_execution(item)

    def job(self, uid: str) -> Job | None:
        """The job or its tombstone, read strongly: what is not there was forgotten long after it was deleted."""
        item = self.store.get(keys.job(uid))
        return None if item is None else decode_job(item)

    def detail(self, uid: str, digest: str) -> Detail | None:
        """The immutable target and payload of a digest."""
        item = self.store.get(keys.detail(uid, digest))
        return None if item is None else decode_detail(item)

    def ended(self, record: Execution, job: Job) -> EndedGeneration | None:
        """The record's generation, where the job's own item no longer tells how it ended."""
        if record.generation >= job.generation - 1:
            return None
        item = self.store.get(keys.ended_generation(record.id.uid, record.generation))
        return None if item is None else decode_ended_generation(item)

    def team(self, name: str, now: datetime) -> Team | None:
        """The team as it was at most two seconds ago: a cap, a pause or a retention may take that long."""
        known = self._teams.get(name)
        if known is not None and abs(now - known[0]) <= TEAM_MEMORY:
            return known[1]
        item = self.store.get(keys.team(name))
        team = None if item is None else decode_team(item)
        if len(self._teams) >= TEAMS_REMEMBERED:
            self._teams.clear()
        self._teams[name] = (now, team)
        return team
