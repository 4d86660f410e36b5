"""What requests about a team's keys and calendars hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fencepost.adapters.api.models import Body, Note

Scheme = Literal["v1", "v1a"]


class KeyBody(Body):
    """Which kind of key: v1 is a shared secret (HMAC-SHA256), v1a a pair whose public half receivers hold (ed25519)."""

    scheme: Scheme = "v1"
    note: Note | None = None


_DATES = "Local dates, each one (2026-12-25) or first and last joined by a slash (2026-12-24/2026-12-26), both included."
_INSTANTS = "Instants, each one, or begin and end joined by a slash; the end is left out."
_ZONE = "Whose dates these are; by default those of the schedule's own zone, or UTC."


class CalendarBody(Body):
    """When nothing runs, declared in full. `dates` or `instants` must hold something."""

    dates: list[str] = Field([], max_length=1000, description=_DATES)
    instants: list[str] = Field([], max_length=1000, description=_INSTANTS)
    timezone: str | None = Field(None, description=_ZONE)
    note: Note | None = None
