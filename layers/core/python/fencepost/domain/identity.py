"""Identities: derived from facts, never drawn twice for one thing.

An execution's id is ``{uid}-{kind}-{key}``. It is URL-safe, fits a Step Functions execution name (80 characters)
and gives the key of the stored item without an index:

- ``s`` an occurrence of the schedule; key = nominal instant in epoch milliseconds, 13 digits
- ``r`` a run now; key = digest of the request key
- ``b`` a backfilled occurrence; key = ``{backfill id}-{instant}``
- ``z`` a range of occurrences that did not run; key = its first instant
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fencepost.domain.instants import from_ms, to_ms

UID_PATTERN = re.compile(r"[a-z2-7]{20}")
NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_KEY_PATTERNS = {
    "s": re.compile(r"\d{13}"),
    "r": re.compile(r"[0-9a-f]{24}"),
    "b": re.compile(r"[0-9a-f]{12}-\d{13}"),
    "z": re.compile(r"\d{13}"),
}


class ExecutionKind(StrEnum):
    """What gives an execution its identity."""

    OCCURRENCE = "s"
    RUN_NOW = "r"
    BACKFILL = "b"
    RANGE = "z"


@dataclass(frozen=True, slots=True, order=True)
class ExecutionId:
    """The identity of one execution; `str()` gives the wire form."""

    uid: str
    kind: ExecutionKind
    key: str

    def __str__(self) -> str:
        return f"{self.uid}-{self.kind}-{self.key}"

    @classmethod
    def occurrence(cls, uid: str, nominal: datetime) -> ExecutionId:
        """The one firing of a nominal instant, whoever claims it and whenever."""
        return cls(uid, ExecutionKind.OCCURRENCE, stamp(nominal))

    @classmethod
    def run_now(cls, uid: str, request_key: str) -> ExecutionId:
        """The one run that a request key asked for."""
        return cls(uid, ExecutionKind.RUN_NOW, digest(request_key)[:24])

    @classmethod
    def backfill(cls, uid: str, backfill: str, nominal: datetime) -> ExecutionId:
        """An occurrence run again by the backfill `backfill` (12 hexadecimal digits)."""
        return cls(uid, ExecutionKind.BACKFILL, f"{backfill}-{stamp(nominal)}")

    @classmethod
    def span(cls, uid: str, first: datetime) -> ExecutionId:
        """A range record that begins at `first`."""
        return cls(uid, ExecutionKind.RANGE, stamp(first))

    @classmethod
    def parse(cls, text: str) -> ExecutionId:
        """Reads the wire form. Raises ValueError that names the rule."""
        uid, _, rest = text.partition("-")
        kind, _, key = rest.partition("-")
        pattern = _KEY_PATTERNS.get(kind)
        if not UID_PATTERN.fullmatch(uid) or pattern is None or not pattern.fullmatch(key):
            raise ValueError(f"{text[:120]!r} is not an execution id ({{uid}}-{{s|r|b|z}}-{{key}})")
        return cls(uid, ExecutionKind(kind), key)

    @property
    def nominal(self) -> datetime | None:
        """The nominal instant that the id holds; None for a run now."""
        if self.kind is ExecutionKind.RUN_NOW:
            return None
        return from_ms(int(self.key[-13:]))


def stamp(instant: datetime) -> str:
    """Epoch milliseconds as 13 digits, so that text order is time order (until the year 2286)."""
    return f"{to_ms(instant):013d}"


def digest(text: str | bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def hashed(text: str, modulus: int) -> int:
    """A stable hash of `text` in 0..modulus-1, the same in every process and version."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % modulus
