"""What became of one attempt: a closed vocabulary, and how an HTTP answer is read into it.

Delivered     the target took it
Accepted      202: the target works on and reports later
Failed        not delivered, or the target said no for now; try again
Refused       the target said never
TimedOut      unknown: it may have been delivered
Blocked       the egress guard forbade the call; nothing was sent
CircuitOpen   the host was given a rest; nothing was sent
WorkerLost    unknown: the worker went away, its lease lapsed
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import ClassVar, assert_never

EXCERPT_BYTES = 512
ERROR_BYTES = 256
RETRY_AFTER_MAX = timedelta(hours=1)
NEVER_AGAIN = "fencepost-never-again"
NOBODY_CALLED = "the lease was nearly over before the call could be made: nobody was called"


class OutcomeKind(StrEnum):
    """The word that the record holds."""

    DELIVERED = "delivered"
    ACCEPTED = "accepted"
    FAILED = "failed"
    REFUSED = "refused"
    TIMED_OUT = "timed_out"
    BLOCKED = "blocked"
    CIRCUIT_OPEN = "circuit_open"
    WORKER_LOST = "worker_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """The target took it. `status` is the HTTP status, None where the target has none."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.DELIVERED
    status: int | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The target took the work and will report its end with the fence."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.ACCEPTED
    status: int | None = 202
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Not this time. `retry_after` is the target's wish, 0 to 1 h, None if it had none."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.FAILED
    status: int | None = None
    error: str
    retry_after: timedelta | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Never again: no retry, the execution is dead."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.REFUSED
    status: int | None = None
    error: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """No answer in time. The target may have done the work: unknown, not failed."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.TIMED_OUT
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """The guard forbade the call. It follows the retry policy, since a name may be pointed elsewhere."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.BLOCKED
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitOpen:
    """The target's host keeps failing and is left alone for a while."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.CIRCUIT_OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """The attempt's lease lapsed without an outcome: unknown."""

    kind: ClassVar[OutcomeKind] = OutcomeKind.WORKER_LOST


Outcome = Delivered | Accepted | Failed | Refused | TimedOut | Blocked | CircuitOpen | WorkerLost


def status_of(outcome: Outcome) -> int | None:
    """The HTTP status that the record shows, if there was one."""
    match outcome:
        case Delivered() | Accepted() | Failed() | Refused():
            return outcome.status
        case TimedOut() | Blocked() | CircuitOpen() | WorkerLost():
            return None
        case _:
            assert_never(outcome)


def error_of(outcome: Outcome) -> str | None:
    """What the record says went wrong; None when nothing did."""
    match outcome:
        case Delivered() | Accepted():
            return None
        case Failed() | Refused() | TimedOut():
            return outcome.error
        case Blocked():
            return outcome.reason
        case CircuitOpen():
            return "the target's circuit is open"
        case WorkerLost():
            return "the worker was lost; whether the target was reached is unknown"
        case _:
            assert_never(outcome)


def excerpt_of(outcome: Outcome) -> str:
    """The beginning of the target's answer, at most 512 bytes; empty when there was none."""
    match outcome:
        case Delivered() | Accepted() | Failed() | Refused():
            return outcome.excerpt
        case TimedOut() | Blocked() | CircuitOpen() | WorkerLost():
            return ""
        case _:
            assert_never(outcome)


def classify_http(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Outcome:
    """Reads an HTTP answer. `now` is the reader's clock, for a Retry-After that names a date.

    The never-again header counts only on an answer that is not a success: what was taken was taken.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    text = excerpt(body)
    if status == 202:
        return Accepted(status=status, excerpt=text)
    if 200 <= status <= 299:
        return Delivered(status=status, excerpt=text)
    if status == 410 or lowered.get(NEVER_AGAIN, "").strip().lower() == "true":
        return Refused(status=status, error=f"answered {status}: never again", excerpt=text)
    note = "; redirects are not followed" if 300 <= status <= 399 else ""
    wait = retry_after(lowered.get("retry-after"), now)
    return Failed(status=status, error=f"answered {status}{note}", retry_after=wait, excerpt=text)


def retry_after(value: str | None, now: datetime) -> timedelta | None:
    """A Retry-After header, in seconds or as an HTTP date, brought into 0..1 h. None when absent or unreadable."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        seconds = int(text[:9]) if len(text) <= 9 else 10**9
        return min(timedelta(seconds=seconds), RETRY_AFTER_MAX)
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if instant.tzinfo is None:  # "-0000" says that the zone is unknown; HTTP dates are in UTC
        instant = instant.replace(tzinfo=UTC)
    return min(max(instant - now, timedelta(0)), RETRY_AFTER_MAX)


def excerpt(body: bytes, limit: int = EXCERPT_BYTES) -> str:
    """The beginning of an answer as printable text of at most `limit` bytes in UTF-8, whatever the bytes were."""
    text = body[:limit].decode("utf-8", errors="replace")
    printable = "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
    return clip(printable, limit)


def clip(text: str, limit: int = ERROR_BYTES) -> str:
    """`text` cut to `limit` bytes in UTF-8, between characters."""
    return text.encode("utf-8", errors="replace")[:limit].decode("utf-8", errors="ignore")
