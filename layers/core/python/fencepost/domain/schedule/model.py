"""The three kinds of schedule, as frozen values that are valid by construction."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from fencepost.domain.instants import aware
from fencepost.domain.schedule.canonical import canonical_text
from fencepost.domain.schedule.fields import CronFields, parse_cron

SHORTEST_EVERY = timedelta(seconds=5)
LONGEST_EVERY = timedelta(days=3660)
_SECOND = timedelta(seconds=1)


class Gap(StrEnum):
    """What a fixed-time job does with a wall-clock time that the zone skips."""

    AFTER = "after"
    SKIP = "skip"


class DstOverlap(StrEnum):
    """In which pass a fixed-time job runs at a wall-clock time that the zone repeats."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class DstPolicy:
    """How a fixed-time expression meets a change of its zone's offset."""

    gap: Gap = Gap.AFTER
    overlap: DstOverlap = DstOverlap.FIRST


WILD = DstPolicy(gap=Gap.SKIP, overlap=DstOverlap.BOTH)
"""How every expression does whose minute or hour field begins with a star: each real minute that matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What every kind of schedule may carry besides its rule.

    `start_at` and `end_at` include themselves. `max_firings` is counted by whoever plants timers. `jitter_seconds`
    spreads firings (see `effective_instant`). `exclude` names calendars, sorted.
    """

    start_at: datetime | None = None
    end_at: datetime | None = None
    max_firings: int | None = None
    jitter_seconds: int = 0
    exclude: tuple[str, ...] = ()

    def _settle(self) -> None:
        """Brings the bounds into their one form. Raises ValueError."""
        for name in ("start_at", "end_at"):
            instant = getattr(self, name)
            if instant is not None:
                object.__setattr__(self, name, aware(instant))
        object.__setattr__(self, "exclude", tuple(sorted(set(self.exclude))))
        if self.jitter_seconds < 0:
            raise ValueError(f"jitter_seconds is {self.jitter_seconds}; a firing is never early")


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSchedule(Bounds):
    """An expression on the wall clock of one zone. `cron` is kept in canonical form, `text` as it was written.

    Raises CronRefusedError (a ValueError). An expression that begins with a star in minute or hour has no use for
    `dst`, which is then the default.
    """

    cron: str
    timezone: str = "UTC"
    dst: DstPolicy = field(default_factory=DstPolicy)
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        fields = parse_cron(self.cron)
        object.__setattr__(self, "text", self.text or self.cron)
        object.__setattr__(self, "cron", canonical_text(fields))
        if fields.wild:
            object.__setattr__(self, "dst", DstPolicy())
        self._settle()

    @property
    def fields(self) -> CronFields:
        """What the expression means."""
        return parse_cron(self.cron)

    @property
    def policy(self) -> DstPolicy:
        """The policy in force: the wild one for wild expressions, else the owner's."""
        return WILD if self.fields.wild else self.dst


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalSchedule(Bounds):
    """Real time in equal steps: `anchor`, `anchor` + `every`, and so on; nothing before the anchor."""

    every: timedelta
    anchor: datetime

    def __post_init__(self) -> None:
        if not SHORTEST_EVERY <= self.every <= LONGEST_EVERY or self.every % _SECOND:
            raise ValueError(f"every is {self.every}; it must be whole seconds, from 5 seconds to 3,660 days")
        object.__setattr__(self, "anchor", aware(self.anchor))
        self._settle()


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOffSchedule(Bounds):
    """One instant, on a whole second."""

    at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", aware(self.at))
        if self.at.microsecond:
            raise ValueError(f"at is {self.at.isoformat()}; it must be a whole second")
        self._settle()


Schedule = CronSchedule | IntervalSchedule | OneOffSchedule
