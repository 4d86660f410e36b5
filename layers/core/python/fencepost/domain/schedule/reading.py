"""Reading single values of the wire form, faults collected instead of raised one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fencepost.domain.faults import Fault

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_FINER = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{4,}(Z|[+-]\d\d:\d\d)?", re.ASCII)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,6})W|(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9})S)?)?)",
    re.ASCII,
)
_CALENDAR_SIZED = re.compile(r"P(?:\d+[YM])+(?:\d+D)?(?:T.*)?", re.ASCII)
_COUNTED = re.compile(
    r"(\d{1,9}) ?(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)", re.ASCII | re.IGNORECASE
)


@dataclass(slots=True)
class Reader:
    """Takes known keys out of `raw`; whatever is wrong is added to `faults` under `path`.key."""

    raw: Mapping[str, object]
    path: str
    faults: list[Fault] = field(default_factory=list)

    def fault(self, key: str, rule: str, suggestion: str | None = None) -> None:
        """Notes a broken rule about `key`."""
        where = f"{self.path}.{key}" if key else self.path
        value = self.raw.get(key) if key else None
        self.faults.append(Fault(field=where, value=value, rule=rule, suggestion=suggestion))

    def text(self, key: str) -> str | None:
        """A string, or None (with a fault unless the key is absent)."""
        value = self.raw.get(key)
        if isinstance(value, str):
            return value
        if key in self.raw:
            self.fault(key, "must be a string")
        return None

    def integer(self, key: str, low: int, high: int) -> int | None:
        """A whole number in low..high, or None (with a fault unless absent or null)."""
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.fault(key, f"must be a whole number from {low:,} to {high:,}")
        return None

    def instant(self, key: str) -> datetime | None:
        """An instant in UTC between 2000 and 2200, or None (with a fault unless absent or null)."""
        value = self.raw.get(key)
        if value is None:
            return None
        try:
            return read_instant(value)
        except ValueError as error:
            hint = f"{value}Z" if isinstance(value, str) and _naive(value) else None
            self.fault(key, str(error), hint)
            return None

    def duration(self, key: str) -> timedelta | None:
        """An exact length of time, or None (with a fault unless absent)."""
        if key not in self.raw:
            return None
        value = self.raw[key]
        try:
            return read_duration(value)
        except ValueError as error:
            self.fault(key, str(error), _likely_duration(value))
            return None

    def one_of(self, key: str, words: tuple[str, ...]) -> str | None:
        """One of `words`, or None (with a fault unless absent)."""
        value = self.raw.get(key)
        if isinstance(value, str) and value in words:
            return value
        if key in self.raw:
            self.fault(key, f"must be one of {', '.join(words)}")
        return None

    def refuse_unknown(self, known: frozenset[str]) -> None:
        """One fault per key that is not `known` (for the first ten)."""
        for key in sorted(key for key in self.raw if key not in known)[:10]:
            self.fault(key[:60], f"is not known here; known are {', '.join(sorted(known))}")


def read_instant(value: object) -> datetime:
    """RFC 3339 with an offset, between 2000 and 2200, in UTC. Raises ValueError that says the rule."""
    if isinstance(value, str) and _FINER.fullmatch(value):
        raise ValueError("has more than three decimals of a second; milliseconds are the finest")
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError("must be an instant as in RFC 3339, e.g. 2026-12-24T18:00:00Z")
    if _naive(value):
        raise ValueError("must end in Z or an offset, or it names no instant")
    try:
        instant = datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is no date on the calendar: {error}") from error
    if not EARLIEST <= instant < LATEST:
        raise ValueError("must lie between the years 2000 and 2200")
    return instant


def read_duration(value: object) -> timedelta:
    """ISO 8601 with weeks, days, hours, minutes, seconds; a day is 24 hours. Raises ValueError that says the rule."""
    if isinstance(value, str) and _CALENDAR_SIZED.fullmatch(value[:100]):
        raise ValueError("has years or months, which are no fixed length; a cron expression can say monthly")
    parts = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if parts is None or value in ("P", "PT"):
        raise ValueError("must be a duration as in ISO 8601, whole numbers only, e.g. PT15M or P1DT12H")
    return timedelta(**{unit: int(number) for unit, number in parts.groupdict(default="0").items()})


def write_duration(length: timedelta) -> str:
    """The shortest ISO 8601 form with hours, minutes and seconds; whole days as days."""
    days, rest = length.days, length.seconds
    clock = "".join(
        f"{count}{unit}"
        for count, unit in ((rest // 3600, "H"), (rest // 60 % 60, "M"), (rest % 60, "S"))
        if count
    )
    return (
        "P"
        + (f"{days}D" if days else "")
        + (f"T{clock}" if clock or not days else "")
        + ("" if rest or days else "0S")
    )


def _naive(value: str) -> bool:
    parts = _INSTANT.fullmatch(value)
    return parts is not None and parts.group(2) is None


def _likely_duration(value: object) -> str | None:
    """``PT90S`` for 90, ``PT5M`` for ``5m`` or ``5 minutes``."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9:
        return f"PT{value}S"
    parts = _COUNTED.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 40 else None
    if parts is None:
        return None
    unit = parts.group(2)[0].upper()
    return f"P{parts.group(1)}D" if unit == "D" else f"PT{parts.group(1)}{unit}"
