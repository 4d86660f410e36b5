"""Makes a bad history smaller: parts of its plan are taken away as long as the same thing goes wrong.

What is drawn by one task does not depend on the others, so most of a history stays as it was without a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tests.simulation.campaign import kind_of
from tests.simulation.kernel import MS
from tests.simulation.plan import Plan
from tests.simulation.verdict import judged, undisturbed
from tests.simulation.world import simulate

PARTS = ("jobs", "ops", "faults", "troubles", "asleep", "sweeps")
PLAIN: tuple[tuple[str, object], ...] = (
    ("odds", {}),
    ("deaf", 0.0),
    ("skews", 0),
    ("shards", 1),
    ("page_size", 25),
    ("latency", (2 * MS, 4 * MS)),
)
"""What every plan draws, as it troubles nobody."""


def breaks(wanted: str) -> Callable[[Plan], bool]:
    """Whether a plan's history holds the kind of violation that is `wanted`."""

    def bad(plan: Plan) -> bool:
        with undisturbed():
            return any(kind_of(each.rule, each.text) == wanted for each in judged(simulate(plan)))

    return bad


@dataclass(slots=True)
class Shrinker:
    """Looks for a smaller plan that is still `bad`; at most `tries` histories. `told` hears of each that was found."""

    bad: Callable[[Plan], bool]
    tries: int = 300
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
        for part in PARTS:
            plan = self._fewer(plan, part, getattr(plan, part))
        plan = self._plainer(plan)
        return self._fewer(plan, "odds", list(plan.odds.items()))

    def _plainer(self, plan: Plan) -> Plan:
        for name, value in PLAIN:
            if self.tries > 0 and getattr(plan, name) != value:
                smaller = replace(plan, **cast("dict[str, Any]", {name: value, "whole": False}))
                plan = smaller if self._bad(smaller) else plan
        return plan

    def _fewer(self, plan: Plan, part: str, values: Sequence[object]) -> Plan:
        """Without as many of `values` of a part as can be: all, or ever smaller pieces."""
        kept, size = list(values), len(values)
        while kept and size and self.tries > 0:
            place, before = 0, len(kept)
            while place < len(kept) and self.tries > 0:
                candidate = kept[:place] + kept[place + size :]
                smaller = _with(plan, part, candidate)
                if self._bad(smaller):
                    kept, plan = candidate, smaller
                else:
                    place += size
            if len(kept) == before or size > len(kept):
                size //= 2
        return plan

    def _bad(self, plan: Plan) -> bool:
        self.tries -= 1
        bad = self.bad(plan)
        if bad and self.told is not None:
            self.told(plan)
        return bad


def _with(plan: Plan, part: str, values: Sequence[object]) -> Plan:
    kept: Any = dict(cast("Sequence[tuple[str, float]]", values)) if part == "odds" else tuple(values)
    changes: dict[str, Any] = {part: kept, "whole": False}
    return replace(plan, **changes)


def size_of(plan: Plan) -> str:
    """How much is left of a plan, in a line."""
    counts = ", ".join(f"{len(getattr(plan, part))} {part}" for part in PARTS)
    return f"{counts}, messages {dict(plan.odds) or 'as they should be'}"


def parts_of(plan: Plan) -> Iterator[str]:
    """What is left of a plan, a line each."""
    yield (
        f"begins {plan.begin:%Y-%m-%d %H:%M}, {plan.shards} shards, pages of {plan.page_size}, calls of up to "
        f"{plan.latency[1] // MS} ms, clocks up to {plan.skews // MS} ms wrong, messages {dict(plan.odds)}"
    )
    for team in plan.teams:
        yield f"team {team.name}: cap {team.cap}"
    for job in plan.jobs:
        yield f"job {job.team}/{job.name}: {dict(job.schedule)}, {dict(job.settings)}, target {dict(job.odds)}"
    for op in plan.ops:
        when = f"beside {op.on} from" if op.on else "at"
        yield f"owner wants {op.what} of {op.team}/{op.job} {when} {op.at / 60e6:.3f} min {dict(op.facts)}"
    for fault in plan.faults:
        size = f", {fault.amount // MS} ms" if fault.amount > MS else ""
        yield f"{fault} from {fault.at / 60e6:.3f} min{size}"
    for trouble in plan.troubles:
        yield f"ticks {trouble.kind} from {trouble.begins / 60e6:.1f} to {trouble.ends / 60e6:.1f} min"
    for trouble in plan.asleep:
        yield f"nobody polls {trouble.kind} from {trouble.begins / 60e6:.1f} to {trouble.ends / 60e6:.1f} min"
    for at in plan.sweeps:
        yield f"the second net looks through everything at {at / 60e6:.1f} min"
