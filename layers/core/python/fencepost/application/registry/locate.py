"""Which job a path means: its name, or ``~uid``, which finds a deleted job as well."""

from __future__ import annotations

from fencepost.application.registry.reading import find_job, job_by_uid
from fencepost.application.store import Store
from fencepost.domain.identity import UID_PATTERN
from fencepost.domain.model import Job

BY_UID = "~"


def locate(store: Store, team: str, word: str) -> Job | None:
    """The job of `team` that `word` means; None if there is none, or it is another team's."""
    if not word.startswith(BY_UID):
        return find_job(store, team, word)
    uid = word.removeprefix(BY_UID)
    job = job_by_uid(store, uid) if UID_PATTERN.fullmatch(uid) else None
    return job if job is not None and job.team == team else None
