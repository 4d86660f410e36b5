"""(c) Slots in use never exceed the cap, no two live leases share one, and none leaks."""

from __future__ import annotations

from collections import defaultdict

from tests.simulation.checkers.facts import Change, Facts, Item, Violation
from tests.simulation.journal import WRITE
from tests.simulation.kernel import MINUTE

RULE = "c slots"
LOST_RACE_MS = 90_000
"""As long as a lost race may hold a slot: it comes free by itself."""
STALE_CAP = 20 * MINUTE
"""How old the cap may be that a host which stood still goes by."""


def check(facts: Facts) -> list[Violation]:
    """All leases of a team against each other, then what is left at rest."""
    by_team: dict[str, list[tuple[int, str, Change]]] = defaultdict(list)
    for identity, changes in facts.executions.items():
        for change in changes:
            if change.new is not None and _matters(change):
                by_team[change.new["team"]].append((change.step, identity, change))
    found: list[Violation] = []
    for team, moves in by_team.items():
        moves.sort(key=lambda each: each[0])
        found += _team(facts, team, moves)
    return found + _leaks(facts)


def _matters(change: Change) -> bool:
    assert change.new is not None
    return change.new["state"] == "RUNNING" or (change.old is not None and change.old["state"] == "RUNNING")


def _team(facts: Facts, team: str, moves: list[tuple[int, str, Change]]) -> list[Violation]:
    """Follows which execution runs in which slot."""
    found: list[Violation] = []
    running: dict[str, Item] = {}
    for _, identity, change in moves:
        new = change.new
        assert new is not None
        if new["state"] != "RUNNING":
            running.pop(identity, None)
            continue
        running[identity] = new
        clock = facts.clock(change.at)
        if new["lease"] <= clock:
            continue
        for other, item in running.items():
            if other != identity and item["slot"] == new["slot"] and item["lease"] > clock:
                text = f"runs in slot {new['slot']} of {team}, where {other} has a live lease"
                found.append(Violation(RULE, change.at, identity, text))
        if change.move == "lease" and int(new["slot"]) >= _cap(facts, team, change.at):
            text = f"leased slot {new['slot']} above the cap of {team}"
            found.append(Violation(RULE, change.at, identity, text))
    return found


def _cap(facts: Facts, team: str, at: int) -> int:
    """The largest cap that anybody could know of."""
    caps, current = [], 0
    for version in facts.teams[team]:
        if version.at > at:
            break
        if version.at >= at - STALE_CAP:
            caps.append(current)
        current = int(version.item["cap"])
    return max([*caps, current])


def _leaks(facts: Facts) -> list[Violation]:
    """A slot that is held at rest, by nobody who runs."""
    slots: dict[tuple[str, str], Item | None] = {}
    running: dict[str, Item] = {}
    for entry in facts.entries:
        if entry[0] == WRITE and entry[4] == "control" and entry[5].startswith("S#"):
            slots[entry[5], entry[6]] = entry[8]
    for identity, changes in facts.executions.items():
        new = changes[-1].new
        if new is not None and new["state"] == "RUNNING":
            running[identity] = new
    clock = facts.clock(facts.rested_at)
    found = []
    for (lane, number), item in slots.items():
        if item is None or item["until"] <= clock or item["x"] in running:
            continue
        if item["until"] - clock <= LOST_RACE_MS:
            continue
        text = f"held by {item['x']} until {item['until']}, which does not run"
        found.append(Violation(RULE, facts.ended_at, f"{lane}/{number}", text))
    return found
