"""What a firing sends, and where to."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.application import keys
from fencepost.application.codec_job import decode_detail
from fencepost.application.registry.reading import job_by_uid
from fencepost.application.store import Store
from fencepost.domain.model import Detail, Execution


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """`pinned`: the first lease settled it, and no edit reaches it any more (protocol D5); else it is what the job says
    now.
    """

    pinned: bool
    detail: Detail


def sent(store: Store, record: Execution) -> Sent | None:
    """What `record`'s attempts send; None where its job is no longer kept."""
    digest = record.detail
    if digest is None:
        job = job_by_uid(store, record.id.uid)
        digest = None if job is None else job.detail
    item = None if digest is None else store.get(keys.detail(record.id.uid, digest))
    return None if item is None else Sent(pinned=record.detail is not None, detail=decode_detail(item))
