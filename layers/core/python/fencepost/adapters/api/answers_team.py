"""What answers about a team's keys, calendars and time zones hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fencepost.adapters.api.answers import Out, UnreadableJob
from fencepost.adapters.api.bodies import Scheme
from fencepost.adapters.api.models import Instant


class SigningKey(Out):
    """A key that signs the team's calls. `public` is what receivers of v1a verify with; secrets are never shown."""

    id: Annotated[str, Field(description="Named as kid in Fencepost-Signature.")]
    scheme: Scheme
    created_at: Instant
    public: str | None


class SigningKeys(Out):
    """All keys that sign now, the oldest first. None is dropped before `overlap_until`."""

    items: list[SigningKey]
    overlap_until: Instant | None


class MadeKey(SigningKeys):
    """The keys, with the new one and its secret: this is the only time that the secret is told (null for v1a)."""

    made: SigningKey
    secret: str | None


class CalendarSummary(Out):
    """A calendar as lists show it."""

    name: str
    version: int
    dated: Instant
    entries: int


class CalendarList(Out):
    """Calendars by name. `unreadable`: the names of those that nobody can read; PUT replaces them."""

    items: list[CalendarSummary]
    unreadable: list[str]
    next: str | None


class Calendar(Out):
    """One version of a calendar, written at `dated`; entries in their normal form: sorted, those that touch joined."""

    team: str
    name: str
    version: int
    dated: Instant
    dates: list[str]
    instants: list[str]
    timezone: str | None


class MovedJob(Out):
    """A job whose next occurrence newer time-zone rules moved; `after` null: nothing follows any more."""

    job: str
    before: Instant
    after: Instant | None


class Refreshed(Out):
    """What one page of a team's jobs came to under the rules `tzdata`. `next`: go on from there; `unreadable`: jobs that
    stay where they are, since nobody can read them.
    """

    tzdata: str
    moved: list[MovedJob]
    unreadable: list[UnreadableJob]
    looked_at: int
    next: str | None
