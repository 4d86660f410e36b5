"""What a team is told of changes of its jobs. It is written down with the change, and goes out after it."""

from __future__ import annotations

from dataclasses import replace

from fencepost.application.delivery.notices import notification, wants
from fencepost.application.registry.job_changes import Change
from fencepost.domain.model import Team
from fencepost.domain.notification import Notification, NotificationKind

_RESTS = {"pause": NotificationKind.PAUSED, "resume": NotificationKind.RESUMED}
"""Who asked for `paused` is told of both ends of a pause."""


def notices(change: Change, team: Team, *, always: bool = False) -> Change:
    """`change` with what its team wants to be told of it: that the job is paused or resumed, and that occurrences were
    skipped.
    """
    job, told = change.job, list[Notification]()
    kind = _RESTS.get(change.what)
    if kind is not None and (always or wants(NotificationKind.PAUSED, team, job)):
        told.append(
            Notification.of(
                kind,
                team=job.team,
                job=job.name,
                occasion=str(job.revision),
                at=job.updated_at,
                reason=job.state_reason,
            )
        )
    if change.skipped is not None and wants(NotificationKind.SKIPPED, team, job):
        told.append(notification(NotificationKind.SKIPPED, change.skipped, job.updated_at))
    return replace(change, told=tuple(told))
