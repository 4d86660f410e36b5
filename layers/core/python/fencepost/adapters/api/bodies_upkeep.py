"""What requests about backfills and switches hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fencepost.adapters.api.models import Body, Instant, Note
from fencepost.domain.backfill import DEFAULT_RATE, MAX_RATE

TierName = Literal["critical", "standard", "bulk", "recovery"]
_ALL: list[TierName] = ["critical", "standard", "bulk", "recovery"]


class BackfillBody(Body):
    """The past occurrences from `from` on and before `to`. Without `overlap`: as the job has it. `force`: those that
    succeeded as well, and those under way.
    """

    from_: Instant = Field(alias="from")
    to: Instant
    rate: int = Field(DEFAULT_RATE, ge=1, le=MAX_RATE, description="Runs a minute.")
    overlap: Literal["allow", "skip", "queue"] | None = None
    force: bool = False
    note: Note | None = None


class SwitchOffBody(Body):
    """Why, until when (null: until somebody resumes), and which tiers: what travels in them waits."""

    note: Note | None = None
    until: Instant | None = None
    tiers: list[TierName] = Field(_ALL, min_length=1, max_length=4)


class RecoveryBody(Body):
    """One share of the stage's jobs and records. Without `ledger` what happened after the copy is not looked up."""

    share: int = Field(0, ge=0, le=999_999)
    shares: int = Field(64, ge=1, le=1_000_000)
    ledger: bool = True

    @model_validator(mode="after")
    def _is_a_share(self) -> RecoveryBody:
        if self.share >= self.shares:
            raise ValueError(f"share is counted from 0: there is no {self.share} of {self.shares}")
        return self


class OpeningBody(Body):
    """Why, for the audit trail."""

    note: Note | None = None


class SwitchOnBody(Body):
    """Why, and which tiers."""

    note: Note | None = None
    tiers: list[TierName] = Field(_ALL, min_length=1, max_length=4)
