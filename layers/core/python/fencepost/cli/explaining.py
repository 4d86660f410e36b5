"""What became of one instant of a job, in words: by its record, or by the definition that was in force then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fencepost.cli import drawing
from fencepost.client import Execution, FaultsError, Fencepost, Job, Revision

_TICK = timedelta(milliseconds=1)
_REASONS: Mapping[str, str] = {
    "misfire": "nobody claimed it in time, and the job's misfire policy leaves it out",
    "paused": "the job was paused",
    "excluded": "a calendar of the team excludes it",
    "overlap": "the run before was still under way, and the job says not to overlap",
    "restored": "it was due before the store was restored",
    "superseded": "the job was changed before it began",
    "deleted": "the job was deleted before it began",
    "backfill_cancelled": "its backfill was cancelled",
    "budget_spent": "every attempt that the job allows was made",
    "refused": "the target asked never to be called for it again",
    "undeliverable": "it could not be handed to a worker",
}
_UNDER_WAY: Mapping[str, str] = {
    "QUEUED": "it is claimed and on its way",
    "WAITING": "it waits: for a slot of the team, or for the run before it",
    "RUNNING": "it is running",
    "RETRY_WAIT": "an attempt failed, and the next one waits",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One sentence, and the record behind it where there is one."""

    says: str
    record: Execution | None = None


def explain(client: Fencepost, name: str, at: datetime, now: datetime) -> Explanation:
    """Why the job did or did not run at `at`. Raises NotFoundError."""
    handle = client.job(name)
    job = handle.get()
    record = handle.why(at)
    if record is not None:
        return Explanation(says=_recorded(record, at), record=record)
    if at < job.created_at:
        return Explanation(
            says=f"the job did not exist yet: it was created at {drawing.moment(job.created_at)}"
        )
    return Explanation(says=_unrecorded(client, job, at, now))


def _recorded(record: Execution, at: datetime) -> str:
    last = record.attempts[-1] if record.attempts else None
    match record.state:
        case "SUCCEEDED":
            says = f"it ran, {drawing.lateness(record.lateness_ms)} after it was due"
        case "DEAD":
            tries = len(record.attempts) + record.attempts_dropped
            error = f"; the last of {tries}: {last.error or last.outcome}" if last else ""
            says = f"it is a dead letter: {_reason(record)}{error}"
        case "SKIPPED" | "CANCELLED":
            says = f"it did not run: {_reason(record)}"
        case state:
            says = _UNDER_WAY.get(state, state)
            says += f" (again at {drawing.moment(record.retry_at)})" if record.retry_at else ""
    if record.coalesced is not None and record.due != at:
        return f"it is one of {record.coalesced.count:,} that one record stands for: {says}"
    return says


def _reason(record: Execution) -> str:
    return _REASONS.get(record.reason or "", record.reason or "no reason is given")


def _unrecorded(client: Fencepost, job: Job, at: datetime, now: datetime) -> str:
    """No record: by the definition of that time it was no occurrence, or it is not claimed yet."""
    then = next((each for each in client.job(job.name).history() if each.at <= at), None)
    definition = _definition(then, job)
    if definition.get("state") == "PAUSED":
        return "the job was paused then"
    try:
        shown = client.preview(definition["schedule"], after=at - _TICK, count=1)
    except FaultsError:  # a single instant that lies before `at`
        return f"it is not an occurrence of the schedule ({drawing.schedule(definition['schedule'])})"
    following = shown.occurrences[0].at if shown.occurrences else None
    if following != at:
        after = f"the next one is {drawing.moment(following)}" if following else "none follows"
        return f"it is not an occurrence of the schedule ({shown.says}): {after}"
    if at > now:
        return f"it is not due yet: in {drawing.length(at - now)}"
    if definition.get("state") not in {"ACTIVE", None}:
        return f"the job was {definition['state']} then"
    return f"it is due and not claimed yet; the service is {client.health().status}"


def _definition(then: Revision | None, job: Job) -> Mapping[str, Any]:
    """The job as it was: the revision in force, else what it is now."""
    if then is not None and then.after is not None and "schedule" in then.after:
        return then.after
    return job.raw
