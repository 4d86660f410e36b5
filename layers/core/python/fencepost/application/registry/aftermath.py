"""What a job's owner wants to happen once a firing is over: a pause after too many deaths, a delete after the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.application.registry import lifecycle
from fencepost.application.registry.jobs import JobRequest
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import job_by_uid
from fencepost.application.registry.results import Conflict
from fencepost.application.registry.sweep import newest
from fencepost.application.registry.views import shown_state
from fencepost.application.store import StoreBusyError
from fencepost.domain.identity import ExecutionId, ExecutionKind
from fencepost.domain.model import Caller, Execution, Job, Team
from fencepost.domain.states import ExecutionState, JobState

KEEPER = Caller(principal="fencepost", source="aftermath")
_TRIED = frozenset({ExecutionState.SUCCEEDED, ExecutionState.DEAD})
_LOOK_BEYOND = 50
TRIES = 3
"""How often a job is looked at that others change meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """One per process. It may be asked again about the same record, and may raise StoreError."""

    ports: RegistryPorts

    def settled(self, record: Execution, team: Team, job: Job) -> None:
        """Does what the job wants done after `record`. It is read anew, for `job` is as it was when the run began: what its
        owner has come to want since counts, and after the last firing nobody looks again.
        """
        del team  # a pause tells it by itself
        last = job.exhausted or job.delete_after_completion
        if not last and record.state is not ExecutionState.DEAD:
            return
        for _ in range(TRIES):
            fresh = job_by_uid(self.ports.store, record.id.uid)
            if fresh is None or not isinstance(self._done(record, fresh), Conflict):
                return
        raise StoreBusyError(f"{record.id.uid}: others keep changing it")

    def _done(self, record: Execution, job: Job) -> object:
        """What came of it; None where nothing is to be done. Whoever changed the job meanwhile may have left it as it is."""
        dead = record.state is ExecutionState.DEAD and job.pause_after_dead
        paused = self._after_death(job, record, dead) if dead else None
        if paused is not None:
            return paused
        if job.delete_after_completion and shown_state(self.ports.store, job) is JobState.COMPLETED:
            return lifecycle.delete(self.ports, self._request(job, "its last firing is over"))
        return None

    def _after_death(self, job: Job, died: Execution, most: int) -> object:
        if job.state is not JobState.ACTIVE or not self._dead_in_row(job, died, most):
            return None
        request = self._request(job, f"{most} firings in a row ended dead")
        return lifecycle.pause(self.ports, request, always_told=True)

    def _dead_in_row(self, job: Job, died: Execution, most: int) -> bool:
        """Whether the newest `most` firings that were tried, since the job last began to fire, are all dead. Where those
        that are claimed ahead or still retried hide them, it looks farther back, and at last from the one that died.
        """
        tried: dict[ExecutionId, ExecutionState] = {}
        for place, look in _looks(died, most):
            found = list(newest(self.ports.store, job.uid, ExecutionKind.OCCURRENCE, look, last=place))
            ours = (record for record in found if record.generation >= job.generation)
            tried |= {record.id: record.state for record in ours if record.state in _TRIED}
            last = list(tried.values())[:most]
            if len(last) == most or len(found) < look or ExecutionState.SUCCEEDED in last:
                return len(last) == most and all(state is ExecutionState.DEAD for state in last)
        return False

    def _request(self, job: Job, note: str) -> JobRequest:
        return JobRequest(
            caller=KEEPER, team=job.team, name=job.name, uid=job.uid, expected=job.revision, note=note
        )


def _looks(died: Execution, most: int) -> Iterator[tuple[str, int]]:
    """From where on how many records are looked at: few nearly always tell."""
    yield "~", most + _LOOK_BEYOND
    yield "~", most + 20 * _LOOK_BEYOND
    if died.id.kind is ExecutionKind.OCCURRENCE:
        yield died.id.key, most + _LOOK_BEYOND
