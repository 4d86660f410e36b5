"""What answers about audits hold."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.adapters.api.answers import Out, UnreadableJob
from fencepost.adapters.api.models import Instant

Kind = Literal[
    "missing",
    "doubled",
    "unexpected",
    "not_allowed",
    "early",
    "lapsed",
    "stalled",
    "fence_fell",
    "overlapped",
    "over_budget",
    "untold",
    "wrong_expiry",
    "unreadable",
]


class AuditFinding(Out):
    """One broken promise, at the occurrence `at` (to `last`, where it is about several in a row)."""

    job: str
    uid: str
    kind: Kind
    at: Instant
    last: Instant | None
    execution: str | None
    says: str


class Audited(Out):
    """What one page of an audit came to. `pending`: stretches not claimed yet, whose timer is there; `unjudged`:
    stretches between records that other time-zone rules decided about, or whose successes may be gone before their time;
    `unreadable`: jobs that could not be audited.
    """

    items: list[AuditFinding]
    next: str | None
    unreadable: list[UnreadableJob]
    judged_to: Annotated[Instant, Field(description="What was due later is too young to be judged.")]
    jobs: int
    records: int
    explained: int
    pending: int
    unjudged: int
