"""What tells two histories apart, in a few characters."""

from __future__ import annotations

import sys
from hashlib import sha256

from tests.simulation import speed
from tests.simulation.draw import plan_of


def digest(seed: int, profile: str = "mixed") -> str:
    """The same for equal journals."""
    from tests.simulation.world import simulate  # not before `unaided` has had its say

    told = [
        (entry[:3], "" if entry[3] is None else entry[3].name, entry[4:])
        for entry in simulate(plan_of(seed, profile)).journal.entries
    ]
    return sha256(repr(told).encode()).hexdigest()


def unaided(seed: int) -> str:
    """The digest of a history without what makes the code under test quicker; in a process that has seen none."""
    assert "tests.simulation.world" not in sys.modules
    speed.remember = lambda: None
    return digest(seed)
