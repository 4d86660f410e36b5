"""Instants: aware UTC datetimes inside, epoch milliseconds in storage, RFC 3339 on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
ZERO = timedelta(0)
_MS = timedelta(milliseconds=1)


def aware(instant: datetime) -> datetime:
    """The same instant in UTC. Raises ValueError for a naive datetime: it names no instant."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} is naive: an instant needs an offset")
    return instant.astimezone(UTC)


def to_ms(instant: datetime) -> int:
    """Whole milliseconds since the epoch, rounded down."""
    return ((instant if instant.tzinfo is UTC else aware(instant)) - EPOCH) // _MS


def from_ms(ms: int) -> datetime:
    """The instant `ms` milliseconds after the epoch."""
    return EPOCH + ms * _MS


def floor_minute(instant: datetime) -> datetime:
    """The start of the UTC minute that holds `instant`."""
    return aware(instant).replace(second=0, microsecond=0)


def floor_ms(instant: datetime) -> datetime:
    """`instant` without what is finer than a millisecond, so that stored and computed values compare equal."""
    return from_ms(to_ms(instant))


def to_wire(instant: datetime) -> str:
    """RFC 3339 in UTC with milliseconds, e.g. ``2026-03-01T00:00:00.000Z``."""
    return aware(instant).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def optional_wire(instant: datetime | None) -> str | None:
    """`to_wire`, with None kept."""
    return None if instant is None else to_wire(instant)


def from_wire(text: str) -> datetime:
    """Reads RFC 3339. Raises ValueError when `text` is no instant or has no offset."""
    return aware(datetime.fromisoformat(text))
