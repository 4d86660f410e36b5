"""Writes of a team's item: what differs, so that what a later version keeps beside it survives."""

from __future__ import annotations

from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import differing
from fencepost.application.codec_job import encode_team
from fencepost.application.store import Update, equals
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Team


def team_update(before: Team, after: Team, *, expires: datetime | None = None) -> Update:
    """`before` becomes `after`, unless somebody else has written meanwhile. `expires`: when what is left may go."""
    changed, gone = differing(encode_team(before), encode_team(after))
    if expires is not None:
        changed["expires"] = to_ms(expires) // 1000
    return Update(
        key=keys.team(before.name), set=changed, remove=gone, condition=equals("rev", before.revision)
    )
