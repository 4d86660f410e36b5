"""A team as it stands now: its own switches and the stage's together."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec_job import decode_team
from fencepost.application.store import Item, Store
from fencepost.application.switches.codec import StageSwitches, decode_stage
from fencepost.domain.switches import shut
from fencepost.domain.teams import Team


def standing(team: Team, stage: StageSwitches, now: datetime) -> Team:
    """`team` with the switches of the stage among its own, and with the tiers in which nothing may start at `now`."""
    halts = (*team.halts, *stage.halts)
    return replace(team, halts=halts, shut=shut(halts, now)) if halts else team


def standing_of(item: Item, stage: Item | None, now: datetime) -> Team:
    """The team of an item, as it stands. Raises UndecodableError."""
    return standing(decode_team(item), decode_stage(stage), now)


def standing_team(store: Store, name: str, now: datetime) -> Team | None:
    """The team, read now, as it stands."""
    item = store.get(keys.team(name))
    return None if item is None else standing_of(item, store.get(keys.stage()), now)


def stage_switches(store: Store) -> StageSwitches:
    """The stage's own, read now."""
    return decode_stage(store.get(keys.stage()))
