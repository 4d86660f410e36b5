"""What must be true of every history. Each checker reads raw items and the journal; none asks the code under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from tests.simulation.checkers import (
    aftermath,
    attempts,
    backfills,
    decisions,
    fences,
    holders,
    holds,
    hosts,
    keepers,
    ledger,
    rest,
    slots,
    timing,
    wakeups,
    zones,
)
from tests.simulation.checkers.facts import Facts, Violation, facts_of
from tests.simulation.journal import BROKEN, Entry

Checker = Callable[[Facts], list[Violation]]


def unbroken(facts: Facts) -> list[Violation]:
    """No exception that nobody foresaw: losing a race is a value, the impossible raises."""
    return [
        Violation("x exceptions", entry[1], str(entry[3] and entry[3].name), entry[4])
        for entry in facts.entries
        if entry[0] == BROKEN
    ]


CHECKERS: Mapping[str, Checker] = {
    "a": ledger.check,
    "b": fences.check,
    "b'": holders.check,
    "c": slots.check,
    "d": attempts.check,
    "e": timing.check,
    "f": rest.check_drain,
    "g": rest.check_timers,
    "h": decisions.check,
    "i": wakeups.check,
    "a'": backfills.check,
    "c'": hosts.check,
    "h'": holds.check,
    'a"': zones.check,
    "j": aftermath.check,
    "j'": keepers.check,
    "x": unbroken,
}


def violations(entries: list[Entry], begin: datetime, ended_at: int, faults_end: int) -> list[Violation]:
    """Everything that is wrong with a history, in the order in which it happened."""
    facts = facts_of(entries, begin, ended_at, faults_end)
    found = [violation for checker in CHECKERS.values() for violation in checker(facts)]
    return sorted(found, key=lambda each: each.at)
