"""Which job a path means: its name, or ``~uid``, which finds a deleted job as well."""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.codec_job import decode_job
from fencepost.application.registry.reading import find_job
from fencepost.application.registry.unreadable import UnreadableJobError
from fencepost.application.store import Store
from fencepost.domain.identity import UID_PATTERN
from fencepost.domain.model import Job

BY_UID = "~"


def locate(store: Store, team: str, word: str) -> Job | None:
    """The job of `team` that `word` means; None if there is none, or it is another team's. Raises UnreadableJobError."""
    if not word.startswith(BY_UID):
        return find_job(store, team, word)
    uid = word.removeprefix(BY_UID)
    item = store.get(keys.job(uid)) if UID_PATTERN.fullmatch(uid) else None
    if item is None or item.get("team") != team:
        return None
    try:
        return decode_job(item)
    except NewerShapeError:
        raise
    except UndecodableError as error:
        raise UnreadableJobError(team, str(item.get("name")), uid, str(error), item) from error


def locate_uid(store: Store, team: str, word: str) -> str | None:
    """The uid of that job, for what needs nothing else of it: one that cannot be read has a history nevertheless."""
    try:
        job = locate(store, team, word)
    except UnreadableJobError as error:
        return error.uid
    return None if job is None else job.uid
