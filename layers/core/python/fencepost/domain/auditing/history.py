"""A job's past as an audit needs it: one era per generation, and what the declaration said at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fencepost.domain.model import Misfire, Overlap, Tier
from fencepost.domain.schedule import Calendar, Schedule
from fencepost.domain.states import JobState, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """One generation of a job: its occurrences are those in (begins, until], all later ones while `until` is None.

    `ended_at`: when the change that ended it was written; `ended_with`: the misfire policy it had then. `fires`: it was
    active. `failed`: its last timer was set aside, so what followed waited for a resume. `refreshed`: newer time-zone
    rules began it, and chose its first occurrence.
    """

    generation: int
    schedule: Schedule
    begins: datetime
    until: datetime | None = None
    ended_by: Reason | None = None
    ended_at: datetime | None = None
    ended_with: Misfire | None = None
    fires: bool = True
    failed: bool = False
    refreshed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the job's declaration said from `since` on."""

    since: datetime
    misfire: Misfire
    overlap: Overlap
    max_attempts: int
    tier: Tier = Tier.STANDARD
    keep_newest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Every version of the calendars that a job names, each with the instant from which it counted, the oldest first."""

    versions: Mapping[str, Sequence[tuple[datetime, Calendar | None]]] = field(default_factory=dict)

    def at(self, instant: datetime) -> dict[str, Calendar]:
        """The calendars as they were."""
        found: dict[str, Calendar] = {}
        for name, versions in self.versions.items():
            then = [calendar for since, calendar in versions if since <= instant]
            if then and then[-1] is not None:
                found[name] = then[-1]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHistory:
    """Eras and terms, the oldest first; both reach at least as far back as the audit does."""

    uid: str
    state: JobState
    eras: tuple[Era, ...]
    terms: tuple[Terms, ...]
    pages: Pages = field(default_factory=Pages)

    def era(self, generation: int) -> Era | None:
        """The era of a generation."""
        return next((era for era in self.eras if era.generation == generation), None)

    def before(self, era: Era) -> Era | None:
        """The era that it followed."""
        return self.era(era.generation - 1)

    def terms_between(self, first: datetime, last: datetime) -> tuple[Terms, ...]:
        """Whatever was in force at some time in [first, last]; at least one."""
        ends = [*(terms.since for terms in self.terms[1:]), datetime.max.replace(tzinfo=first.tzinfo)]
        found = [
            terms for terms, end in zip(self.terms, ends, strict=True) if terms.since <= last and end >= first
        ]
        return tuple(found) or self.terms[:1]

    def terms_around(self, instant: datetime, slack: timedelta) -> tuple[Terms, ...]:
        """What a reader at `instant` may have seen: reads are not quite of the moment."""
        return self.terms_between(instant - slack, instant + slack)
