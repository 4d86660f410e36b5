"""Time zones, from the pinned database only: which names exist, and where a zone's offset changes.

Zone files of the system are often older than the rules in force, so importing this module makes the bundled
database the only source (`use_bundled_tzdata`).
"""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from zoneinfo import ZoneInfo

import tzdata

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_NONE = timedelta(0)
_MARGIN = 2 * _DAY  # no change of an offset moves a clock by more than a day
_FIXED = frozenset({"UTC", "UCT", "Universal", "Zulu", "GMT", "GMT0", "GMT+0", "GMT-0", "Greenwich"})
_NOT_ZONES = frozenset({"Factory", "localtime"})


def use_bundled_tzdata() -> None:
    """Makes the bundled database the only one in this process, for zones already loaded too."""
    zoneinfo.reset_tzpath(to=())
    ZoneInfo.clear_cache()
    _pieces.cache_clear()


TZDATA_RELEASED = {"2026f": datetime(2026, 10, 28, tzinfo=UTC)}
"""When the bundled time-zone rules came out; a test insists that a new version brings its date along."""


def tzdata_age(now: datetime) -> timedelta | None:
    """How long ago the loaded time-zone rules came out; None for a version whose date is not known here."""
    released = TZDATA_RELEASED.get(tzdata_version())
    return None if released is None else now - released


def tzdata_version() -> str:
    """The release of the bundled database, e.g. ``2026f``."""
    return tzdata.IANA_VERSION


@cache
def zone_names() -> frozenset[str]:
    """Every zone that a schedule may name."""
    listing = resources.files("tzdata").joinpath("zones").read_text(encoding="ascii")
    return frozenset(listing.split()) - _NOT_ZONES


def changes_clock(zone: str) -> bool:
    """False for the zones of a fixed offset by definition. The rules of any other may change with the next release."""
    return zone not in _FIXED and not zone.startswith("Etc/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch [start, end) of one offset, within one calendar year of UTC.

    `gap`: how much wall-clock time the change at `start` skipped (0: none, or no change).
    `first_pass_from`: before it, this piece repeats wall-clock times of an earlier one.
    `last_pass_until`: from it on, a later piece will repeat this one's wall-clock times.
    """

    start: datetime
    end: datetime
    offset: timedelta
    gap: timedelta
    first_pass_from: datetime
    last_pass_until: datetime

    def wall(self, instant: datetime) -> datetime:
        """The wall clock (naive) at an instant of this piece."""
        return instant.replace(tzinfo=None) + self.offset

    def instant(self, wall: datetime) -> datetime:
        """The instant at which this piece's offset shows `wall`."""
        return (wall - self.offset).replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    at: datetime
    before: timedelta
    after: timedelta

    @property
    def forward(self) -> timedelta:
        """How far the clock jumps ahead; negative when it is set back."""
        return self.after - self.before


def piece_at(zone: str, instant: datetime) -> Piece:
    """The piece of `zone` that holds `instant` (UTC)."""
    return next(piece for piece in _pieces(zone, instant.year) if instant < piece.end)


@lru_cache(maxsize=4096)
def _pieces(zone: str, year: int) -> tuple[Piece, ...]:
    first, last = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    changes = _changes(zone, first - _MARGIN, last + _MARGIN)
    cuts = [first, *(change.at for change in changes if first < change.at < last), last]
    return tuple(_piece(zone, changes, start, end) for start, end in pairwise(cuts))


def _piece(zone: str, changes: tuple[_Change, ...], start: datetime, end: datetime) -> Piece:
    gap = sum((c.forward for c in changes if c.at == start and c.forward > _NONE), _NONE)
    repeats = [c.at - c.forward for c in changes if c.at <= start and c.forward < _NONE]
    repeated = [c.at + c.forward for c in changes if c.at >= end and c.forward < _NONE]
    return Piece(
        start=start,
        end=end,
        offset=_offset(zone, start),
        gap=gap,
        first_pass_from=max(start, *repeats) if repeats else start,
        last_pass_until=min(end, *repeated) if repeated else end,
    )


def _changes(zone: str, first: datetime, last: datetime) -> tuple[_Change, ...]:
    """The changes of offset in (first, last], found by looking once a day and halving the day in between."""
    found = []
    day, offset = first, _offset(zone, first)
    while day < last:
        following = day + _DAY
        next_offset = _offset(zone, following)
        if next_offset != offset:
            found.append(_Change(at=_halve(zone, day, following), before=offset, after=next_offset))
        day, offset = following, next_offset
    return tuple(found)


def _halve(zone: str, low: datetime, high: datetime) -> datetime:
    """The first second in (low, high] with another offset than `low`'s."""
    offset = _offset(zone, low)
    while high - low > _SECOND:
        middle = low + (high - low) // 2 // _SECOND * _SECOND
        low, high = (middle, high) if _offset(zone, middle) == offset else (low, middle)
    return high


def _offset(zone: str, instant: datetime) -> timedelta:
    return instant.astimezone(ZoneInfo(zone)).utcoffset() or _NONE


use_bundled_tzdata()
