"""(b) The holder of a lease: it calls nobody when the lease is nearly over, and what it lived to hear is written down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.simulation.checkers.facts import US, Change, Facts, Violation
from tests.simulation.journal import Entry
from tests.simulation.kernel import SECOND

RULE = "b fences"
STOPS_MS = 5_000
LONGEST_STEP = 4 * SECOND
"""How long a call may be under way to its target: nobody knows better when it begins."""
TIME_TO_WRITE = 30 * SECOND


def check(facts: Facts) -> list[Violation]:
    """Every call of a target, and what became of its answer."""
    strikes: dict[Any, list[Entry]] = defaultdict(list)
    for strike in facts.strikes:
        if strike[3] is not None:
            strikes[strike[3].host].append(strike)
    leases = {
        (identity, change.new["fence"]): (change, changes)
        for identity, changes in facts.executions.items()
        for change in changes
        if change.move == "lease" and change.new is not None
    }
    found: list[Violation] = []
    for entry in facts.calls:
        call = entry[4]
        if (call.execution, call.fence) not in leases:
            continue
        lease, changes = leases[call.execution, call.fence]
        struck = [strike for strike in strikes[entry[3].host] if strike[1] >= lease.at - SECOND]
        texts = [*_late(facts, entry, lease, struck), *_forgotten(facts, entry, changes, struck)]
        found += [Violation(RULE, entry[1], call.execution, text) for text in texts]
    return found


def _late(facts: Facts, entry: Entry, lease: Change, struck: list[Entry]) -> Iterator[str]:
    """A host that stood still between its look at the clock and the call could not know."""
    assert lease.new is not None
    clock = facts.begin + entry[4].slowest // US
    if any(_stood_still(strike, entry) for strike in struck):
        return
    if clock > lease.new["lease"] - STOPS_MS + LONGEST_STEP // US:
        yield f"called {clock - lease.new['lease'] + STOPS_MS} ms after the holder had to stop"


def _stood_still(strike: Entry, entry: Entry) -> bool:
    """Whether a pause that a neighbour brought upon the host, or the call itself, ended right before the call."""
    if not str(strike[4]).startswith("pause") or strike[1] > entry[1]:
        return False
    own = strike[3] is entry[3] and strike[6] != "targets.call"
    return not own and strike[1] + strike[7] >= entry[1] - LONGEST_STEP


def _forgotten(facts: Facts, entry: Entry, changes: list[Change], struck: list[Entry]) -> Iterator[str]:
    """An answer that came in time, to a host that nothing happened to."""
    call = entry[4]
    answers = facts.answers.get((call.execution, call.fence), ())
    if struck or not answers or entry[3].host.dead:
        return
    answer = answers[-1]
    if answer[1] - entry[1] > TIME_TO_WRITE or answer[1] > facts.ended_at:
        return
    for change in changes:
        new = change.new
        if new is None or change.old is None or change.old["fence"] != call.fence:
            continue
        if change.move in {"succeed", "retry", "die"}:
            outcome = new["attempts"][-1].get("outcome")
            if outcome == "worker_lost" and answer[6] != "accepted" and answer[2] < change.step:
                yield f"the target's answer ({answer[6]}) was heard and not written down"
            return
