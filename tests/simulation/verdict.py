"""One seed from its plan to its verdict, as plain values that travel between processes."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from tests.simulation.checkers import violations
from tests.simulation.checkers.facts import Violation
from tests.simulation.coverage import Cell, cells_of
from tests.simulation.draw import plan_of
from tests.simulation.journal import STRUCK
from tests.simulation.plan import Plan
from tests.simulation.profiles import MIX
from tests.simulation.trail import Trail
from tests.simulation.world import History, simulate

SEARCH_EACH = 25
_HISTORIES = count(1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a seed. `firings`: executions that were begun; `faults`: strikes of any kind; `cells`: what met what;
    `ran`: the functions of the code under test that ran, where somebody follows them.
    """

    seed: int
    profile: str
    violations: tuple[Violation, ...]
    firings: int
    faults: int
    steps: int
    cells: Counter[Cell] = field(default_factory=Counter)
    ran: int | None = None


def profile_of(seed: int) -> str:
    """The profile of a seed of the drawn mix."""
    chance = random.Random(f"mix/{seed}")
    return chance.choices(list(MIX), list(MIX.values()))[0]


def judged(history: History) -> tuple[Violation, ...]:
    """What the checkers say of a history."""
    plan = history.plan
    return tuple(violations(history.journal.entries, plan.begin, history.ended_at, plan.faults_end))


def verdict_of(plan: Plan, *, covering: bool = False) -> Verdict:
    """Simulates and judges."""
    with undisturbed():
        trail = Trail()
        history = simulate(plan)
        return _verdict(plan, history, covering=covering, ran=trail.ran())


@contextmanager
def undisturbed() -> Iterator[None]:
    """No search for circles of garbage in the midst of a history, which makes many objects and keeps them; what is
    over goes without one, but for tasks that were never finished.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if next(_HISTORIES) % SEARCH_EACH == 0:
            gc.collect()


def _verdict(plan: Plan, history: History, *, covering: bool, ran: int | None) -> Verdict:
    return Verdict(
        seed=plan.seed,
        profile=plan.profile,
        violations=judged(history),
        firings=history.firings,
        faults=sum(entry[0] == STRUCK for entry in history.journal.entries),
        steps=history.journal.step,
        cells=cells_of(history) if covering else Counter(),
        ran=ran,
    )


def judge_seed(seed: int, profile: str | None = None, *, covering: bool = False) -> Verdict:
    """The verdict on a seed; without a profile, of the one that the mix draws for it."""
    return verdict_of(plan_of(seed, profile or profile_of(seed)), covering=covering)
