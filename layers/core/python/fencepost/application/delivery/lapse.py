"""A holder that was lost: its attempt ends with an unknown outcome, and the retry policy decides (protocol D2, D9)."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.application.delivery.results import Disposition, Raced, facts_of, no_team
from fencepost.application.delivery.retry import Retries
from fencepost.application.delivery.tools import Tools
from fencepost.domain.model import Execution
from fencepost.domain.outcome import OutcomeKind, WorkerLost


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapses:
    """One per process."""

    tools: Tools
    retries: Retries

    def run(self, record: Execution) -> Disposition | Raced:
        """Closes the door on the lost holder: from here on its fence is stale."""
        team = self.tools.reads.team(record.team, self.tools.clock.now())
        if team is None:
            return no_team(record)
        job = self.tools.reads.job(record.id.uid)
        facts = facts_of(record, outcome=OutcomeKind.WORKER_LOST.value)
        return self.retries.failed(record, WorkerLost(), team, job, facts)
