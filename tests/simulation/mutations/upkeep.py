"""What is taken away of switches, backfills, calendars, spared hosts, pauses that end, and refreshes of time zones."""

from __future__ import annotations

from tests.simulation.mutants import Mutant

UPKEEP = (
    Mutant(
        name="a switch is not asked",
        module="application.delivery.switched",
        old="halt = active(team.halts, record.tier, now)",
        new="halt = active((), record.tier, now)",
        bites="h",
        profile="switches",
    ),
    Mutant(
        name="what a switch held runs all the same",
        module="domain.held",
        old='return LeftOut("its job skips what it missed")',
        new="return Runs()",
        bites="h",
        profile="switches",
    ),
    Mutant(
        name="a backfill without an errand",
        module="application.backfills.asking",
        old="[created(made), errand_of(made).put()]",
        new="[created(made)]",
        bites="fi",
        profile="backfills",
    ),
    Mutant(
        name="what was called off begins",
        module="application.delivery.start",
        old="not started(record) and self.tools.reads.called_off(record):",
        new="not started(record) and False:",
        bites="h",
        profile="backfills",
    ),
    Mutant(
        name="a host is called once too often",
        module="application.delivery.hosts",
        old="self._place(record, limit, limit.max_parallel, until)",
        new="self._place(record, limit, limit.max_parallel + 1, until)",
        bites="c",
        profile="manners",
    ),
    Mutant(
        name="a calendar is not asked",
        module="domain.claiming",
        old="name = is_excluded(rules.schedule, timer.instant, around.calendars)",
        new="name = is_excluded(rules.schedule, timer.instant, {})",
        bites="h",
        profile="calendars",
    ),
    Mutant(
        name="a pause goes on past its end",
        module="application.registry.expiry",
        old="        if until > now:\n            return False\n",
        new="        if until > now - MINUTE * 90:\n            return False\n",
        bites="g",
        profile="pauses",
    ),
    Mutant(
        name="a refresh forgets the wall clock",
        module="application.registry.refresh",
        old="return next_after_refresh(job.schedule, claimed, timedelta(seconds=last.offset))",
        new="return next_occurrence(job.schedule, claimed)",
        bites="a",
        profile="new rules",
    ),
    Mutant(
        name="a refresh replaces what was claimed meanwhile",
        module="application.registry.refresh",
        old="checks=(unclaimed,)",
        new="checks=()",
        bites="a",
        profile="new rules beside claims",
    ),
)
