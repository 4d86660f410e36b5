"""Tells teams what they asked to be told. Dead letters go through `dead_letter`; here is the rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.application.ports import Notifier
from fencepost.domain.instants import to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job, Origin, Team
from fencepost.domain.notification import Notification, NotificationKind
from fencepost.domain.outcome import OutcomeKind
from fencepost.domain.states import ExecutionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """One per process."""

    notifier: Notifier
    limits: Limits

    def tell(self, record: Execution, team: Team, job: Job | None, now: datetime) -> bool:
        """Tells of a final record whatever its team asked for; false when somebody did not take it.

        Each kind is told under one id, so telling it again after a crash is the same notification.
        """
        wanted = [kind for kind in self._kinds(record) if wants(kind, team, job)]
        told = [self.send(kind, record, team, now) for kind in wanted]
        return all(told)

    def send(self, kind: NotificationKind, record: Execution, team: Team, now: datetime) -> bool:
        """Tells one thing; true only if every target of the team took it."""
        return self.notifier.notify(notification(kind, record, now), team.notify)

    def _kinds(self, record: Execution) -> list[NotificationKind]:
        asked_late = record.origin is Origin.BACKFILL  # by whoever asked for it
        late = record.lateness is not None and record.lateness > self.limits.misfire_grace and not asked_late
        found = {
            NotificationKind.SUCCEEDED: record.state is ExecutionState.SUCCEEDED,
            NotificationKind.SKIPPED: record.state is ExecutionState.SKIPPED,
            NotificationKind.LATE: late,
        }
        return [kind for kind, holds in found.items() if holds]


def notification(kind: NotificationKind, record: Execution, now: datetime) -> Notification:
    """What is told of a record. The occasion is its fence: a redrive that dies again is a new happening. Where that one had
    no lease, its fence is still the first one's, and its end tells the two apart.
    """
    occasion, ended = str(record.fence), record.ended_at
    if kind is NotificationKind.DEAD and ended is not None and not _called(record):
        occasion = f"{record.fence} {to_ms(ended)}"
    return Notification.of(
        kind,
        team=record.team,
        job=record.job,
        occasion=occasion,
        at=record.ended_at or now,
        execution_id=str(record.id),
        due=record.due,
        reason=None if record.reason is None else record.reason.value,
    )


def _called(record: Execution) -> bool:
    """Whether the record's last attempt since it was last queued was one under its fence."""
    last = record.attempts[-1] if record.attempts and record.attempt else None
    return last is not None and last.fence == record.fence and last.outcome != OutcomeKind.CIRCUIT_OPEN


def wants(kind: NotificationKind, team: Team, job: Job | None) -> bool:
    """The job's own choice where it made one, else the team's."""
    chosen = team.notify_on if job is None or job.notify_on is None else job.notify_on
    return kind.value in chosen
