"""What an audit answers, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fencepost.client.calls import Call, Caller
from fencepost.client.decoding import Result, decode
from fencepost.client.results import UnreadableJob
from fencepost.domain.instants import to_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding(Result):
    """One broken promise, at the occurrence `at` (to `last`, where it is about several in a row)."""

    job: str
    uid: str
    kind: str
    at: datetime
    last: datetime | None
    execution: str | None
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage(Result):
    """What one page came to. `judged_to`: what was due later is too young; `pending`: not claimed yet, its timer is
    there; `unjudged`: decided by other time-zone rules; `unreadable`: could not be audited. A page may hold no finding and still have a next one.
    """

    items: tuple[AuditFinding, ...]
    judged_to: datetime
    jobs: int
    records: int
    explained: int
    pending: int
    unjudged: int
    unreadable: tuple[UnreadableJob, ...] = ()
    next: str | None = None


def audit_pages(
    caller: Caller, at: str, *, job: str | None, since: datetime | None, before: datetime | None
) -> Iterator[AuditPage]:
    """Every page of an audit of the team at path `at`."""
    asked = {
        "job": job,
        "from": None if since is None else to_wire(since),
        "to": None if before is None else to_wire(before),
    }
    cursor: str | None = None
    while True:
        answer = caller.call(Call(method="GET", path=at, query={**asked, "cursor": cursor})).body
        page = decode(AuditPage, answer)
        yield page
        cursor = page.next
        if cursor is None:
            return
