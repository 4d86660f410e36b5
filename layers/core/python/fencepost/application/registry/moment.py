"""When a change of a job counts, and what it is computed with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from fencepost.domain.limits import Limits
from fencepost.domain.model import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When and under what limits a change is computed. `ordinal`: the firing that follows, counted from 1.

    `effective`: the instant as of which the change counts, where that is earlier than the write (a pause that expired).
    """

    now: datetime
    effective: datetime | None = None
    limits: Limits = field(default_factory=Limits)
    retention: timedelta = timedelta(days=30)
    ordinal: int = 1
    unexplained_since: datetime | None = None

    @property
    def ends(self) -> datetime:
        """When the generation so far ends: what is due later belongs to the next one."""
        return self.effective or self.now

    def of(self, job: Job) -> Moment:
        """The same for a change of `job`, whose generation ends no sooner than it began: clocks differ, and a request may
        stand still while others change the job.
        """
        begun = job.ended_until or job.created_at
        return self if begun <= self.ends else replace(self, effective=begun)
