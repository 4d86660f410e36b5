"""Makes a bad history smaller: parts of its plan are taken away as long as the same thing goes wrong.

What is drawn by one task does not depend on the others, so most of a history stays as it was without a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tests.simulation.campaign import kind_of
from tests.simulation.plan import Plan
from tests.simulation.verdict import judged
from tests.simulation.world import simulate


@dataclass(slots=True)
class Shrinker:
    """Looks for a smaller plan in which `wanted`, a kind of violation, still happens; at most `tries` histories."""

    wanted: str
    tries: int = 400
    told: Callable[[Plan], None] | None = None

    def shrunk(self, plan: Plan) -> Plan:
        """The smallest plan that was found."""
        while self.tries > 0:
            smaller = self._once(plan)
            if smaller is plan:
                return plan
            plan = smaller
        return plan

    def _once(self, plan: Plan) -> Plan:
        for change in (_calmer(plan), *_without(plan)):
            smaller = self._fewer(plan, *change)
            if smaller is not plan:
                plan = smaller
        return plan

    def _fewer(self, plan: Plan, part: str, values: Sequence[object]) -> Plan:
        """Without as many of `values` of a part as can be, in ever smaller pieces."""
        kept, size = list(values), max(1, len(values) // 2)
        while kept and self.tries > 0:
            place, before = 0, len(kept)
            while place < len(kept) and self.tries > 0:
                candidate = kept[:place] + kept[place + size :]
                smaller = _with(plan, part, candidate)
                if self._bad(smaller):
                    kept, plan = candidate, smaller
                else:
                    place += size
            if len(kept) == before and size == 1:
                break
            size = max(1, size // 2)
        return plan

    def _bad(self, plan: Plan) -> bool:
        self.tries -= 1
        bad = any(kind_of(each.rule, each.text) == self.wanted for each in judged(simulate(plan)))
        if bad and self.told is not None:
            self.told(plan)
        return bad


def _calmer(plan: Plan) -> tuple[str, Sequence[object]]:
    return "odds", list(plan.odds.items())


def _without(plan: Plan) -> tuple[tuple[str, Sequence[object]], ...]:
    return tuple((name, getattr(plan, name)) for name in ("troubles", "ops", "faults", "jobs"))


def _with(plan: Plan, part: str, values: Sequence[object]) -> Plan:
    kept: Any = dict(cast("Sequence[tuple[str, float]]", values)) if part == "odds" else tuple(values)
    changes: dict[str, Any] = {part: kept, "whole": False}
    return replace(plan, **changes)
