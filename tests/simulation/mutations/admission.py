"""What is taken away of slots, the backlog and a job's turn."""

from __future__ import annotations

from tests.simulation.mutants import Mutant

ADMISSION = (
    Mutant(
        name="one slot above the cap",
        module="application.admission.holdings",
        old="return 0 if team.shut.issuperset(Tier) else team.max_concurrency",
        new="return 0 if team.shut.issuperset(Tier) else team.max_concurrency + 1",
        bites="c",
        profile="slots",
    ),
    Mutant(
        name="a slot is let go without its fence",
        module="application.admission.holdings",
        old='return every(equals("x", execution), equals("f", fence))',
        new='return every(equals("x", execution))',
        bites="c",
        profile="rival slots",
    ),
    Mutant(
        name="whoever comes takes an expired slot",
        module="application.admission.slots",
        old="        return expired and not self._runs_in(holder, holding.number, now)",
        new="        return True",
        bites="c",
        profile="freed late",
    ),
    Mutant(
        name="deserted slots stay lost",
        module="application.admission.slots",
        old="holding.until <= now and self._known_deserted(holding, now):",
        new="holding.until <= now and False:",
        bites="f",
        profile="slots",
    ),
    Mutant(
        name="a mark goes without a second look",
        module="application.admission.marks",
        old="        if not lanes.empty(self._context, lane):\n",
        new="        if False:\n",
        bites="i",
        profile="one lane",
    ),
    Mutant(
        name="waiting without a mark",
        module="application.admission.backlog",
        old="first = self._marks.put_up(team.name, lane, now)",
        new="first = False",
        bites="i",
        profile="slots",
    ),
    Mutant(
        name="the pump hands nothing over",
        module="application.admission.pump",
        old="            self._fill(team, deadline, report)",
        new="            pass",
        bites="f",
        profile="held back",
    ),
    Mutant(
        name="a retry gives the job's turn away",
        module="application.admission.overlap",
        old="        if holder is not None and not holder.final:\n            return LockBusy(holder)\n",
        new="        if holder is not None and holder.state is ExecutionState.RUNNING:\n"
        "            return LockBusy(holder)\n",
        bites="b",
        profile="overlaps",
    ),
    Mutant(
        name="fences of a job fall back",
        module="application.admission.overlap",
        old="given = max(fence, lock.fence + 1)",
        new="given = fence",
        bites="b",
        profile="handed turns",
    ),
)
