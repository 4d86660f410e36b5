"""Keeps a team's sample of successes in step with what its jobs bring: written beside the writes, seldom, and read by
every delivery for nothing, since it lies in the team's own item.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import compact, ms
from fencepost.application.registry import usage
from fencepost.application.registry.job_changes import Change
from fencepost.application.store import Store, StoreError, Update, equals
from fencepost.domain.keeping import kept_one_in
from fencepost.domain.teams import Team

GENEROUS = 2
"""How many times as much as it must a team may be thinned before that is taken back: jobs come and go."""


def sampled(team: Team, daily: int, now: datetime) -> Team:
    """`team` with the sample that `daily` firings a day ask for; the team itself where the one it has will do."""
    wanted = kept_one_in(team.max_records, team.retention, daily)
    if wanted <= team.kept_one_in <= (GENEROUS * wanted if wanted > 1 else 1):
        return team
    until = now if team.kept_one_in > 1 else team.thinned_until
    return replace(team, kept_one_in=wanted, thinned_until=until)


def note(store: Store, team: Team, change: Change) -> None:
    """Keeps the count of the team's use after a job's change, and what follows from it."""
    usage.note(store, team.name, change)
    if usage.difference(change).daily_firings:
        follow(store, team, change.job.updated_at)


def follow(store: Store, team: Team, now: datetime) -> None:
    """After its jobs changed. What is lost here is made good by the next change; StoreError is not raised.

    The revision stays: this is no change that anybody made.
    """
    if team.max_records is None:
        return
    with suppress(StoreError):
        after = sampled(team, usage.noted(store, team.name).daily_firings, now)
        if after == team:
            return
        facts = {
            "one_in": None if after.kept_one_in == 1 else after.kept_one_in,
            "thinned": ms(after.thinned_until),
        }
        known = compact(facts)
        store.write(
            Update(
                key=keys.team(team.name),
                set=known,
                remove=tuple(name for name in facts if name not in known),
                condition=equals("rev", team.revision),
            )
        )
