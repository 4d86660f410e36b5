"""A restored copy holds every tier until somebody opens it: everybody reads the stage's item so.

Nothing in the copy itself says that it is one. What says it is the name under which its tables were restored, which the
stage's settings know, and which is written into the item when the copy is opened.
"""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.store import Item
from fencepost.application.switches.codec import StageSwitches, encode_halts, encode_stage
from fencepost.domain.instants import EPOCH
from fencepost.domain.policies import Tier
from fencepost.domain.switches import Halt

RESTORER = "fencepost:restore"
OPENED = "opened"
UNOPENED = "unopened"


def as_read(item: Item | None, restored: str) -> Item:
    """The stage's item as it counts in the copy `restored`: as it is once that was opened, with every tier held before."""
    if item is not None and item.get(OPENED) == restored:
        return item
    key = keys.stage()
    bare = {"pk": key.pk, "sk": key.sk, **encode_stage(StageSwitches())}
    held = encode_halts([_halt(tier, restored) for tier in Tier]) or []
    found = dict(bare if item is None else item)
    return {**found, "halts": [*found.get("halts", ()), *held], UNOPENED: restored}


def unopened(item: Item | None) -> str | None:
    """The name of the restored copy that nobody has opened yet, as its stage's item is read."""
    name = None if item is None else item.get(UNOPENED)
    return None if name is None else str(name)


def _halt(tier: Tier, restored: str) -> Halt:
    note = f"the restored copy {restored} is not opened yet: fencepost recover"
    return Halt(tier=tier, since=EPOCH, by=RESTORER, note=note)
