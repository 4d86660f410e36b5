"""What an audit may find. Every kind is a promise that was broken: on a healthy stage there are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from fencepost.domain.model import Execution


class FindingKind(StrEnum):
    """In a word."""

    MISSING = "missing"
    DOUBLED = "doubled"
    UNEXPECTED = "unexpected"
    NOT_ALLOWED = "not_allowed"
    EARLY = "early"
    LAPSED = "lapsed"
    STALLED = "stalled"
    FENCE_FELL = "fence_fell"
    OVERLAPPED = "overlapped"
    OVER_BUDGET = "over_budget"
    UNTOLD = "untold"
    WRONG_EXPIRY = "wrong_expiry"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken promise, at the occurrence `at` (to `last`, where it is about several in a row)."""

    kind: FindingKind
    at: datetime
    says: str
    last: datetime | None = None
    execution: str | None = None


Findings: TypeAlias = Iterator[Finding]


def about(record: Execution, kind: FindingKind, says: str) -> Finding:
    """A finding about one record."""
    return Finding(
        kind=kind,
        at=record.id.nominal or record.due,
        last=record.until,
        execution=str(record.id),
        says=says,
    )
