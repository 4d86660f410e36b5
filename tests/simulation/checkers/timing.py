"""(e) Never early: by the acting process's clock not at all, by true time never by more than its skew."""

from __future__ import annotations

from tests.simulation.checkers.facts import US, Change, Facts, Violation

RULE = "e timing"


def check(facts: Facts) -> list[Violation]:
    """Every call of a target against the record that was leased for it."""
    found: list[Violation] = []
    for entry in facts.calls:
        call = entry[4]
        lease = _lease_of(facts, call.execution, call.fence)
        if lease is None or lease.old is None:
            found.append(
                Violation(RULE, entry[1], call.execution, f"called under fence {call.fence}, never leased")
            )
            continue
        earliest = _earliest(lease)
        clock = facts.begin + call.clock // US
        if clock < earliest:
            text = f"called {earliest - clock} ms early by the caller's own clock"
            found.append(Violation(RULE, entry[1], call.execution, text))
        skew = abs(call.clock - entry[1]) // US + 1
        if facts.clock(entry[1]) < earliest - skew:
            text = f"called {earliest - facts.clock(entry[1])} ms early, with a skew of {skew} ms"
            found.append(Violation(RULE, entry[1], call.execution, text))
    return found


def _lease_of(facts: Facts, identity: str, fence: int) -> Change | None:
    for change in facts.executions.get(identity, ()):
        if change.move == "lease" and change.new is not None and change.new["fence"] == fence:
            return change
    return None


def _earliest(lease: Change) -> int:
    """When the record allowed it, by what it said before it was leased."""
    old = lease.old
    assert old is not None
    if old["state"] == "RETRY_WAIT":
        return int(old["retry"])
    return max(int(old["due"]), int(old.get("after", old["due"])))
