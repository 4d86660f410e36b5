"""(j) What is done to a job without its owner's word is what the job itself asked for, and when it asked for it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.checkers.facts import Facts, Item, Violation
from tests.simulation.journal import WRITE
from tests.simulation.kernel import MS, Host
from tests.simulation.labels import job_move

RULE = "j keepers"
DELIVERERS = frozenset({"deliver", "dead"})
"""Who sees to a job once a firing is over; `tick` sees to pauses that end by themselves."""


def check(facts: Facts) -> list[Violation]:
    """Each change of a job by one who is not its owner."""
    found = []
    for entry in facts.entries:
        if entry[0] != WRITE or entry[4] != "jobs" or entry[6] != "J" or entry[3] is None:
            continue
        at, task, pk, old, new = entry[1], entry[3], entry[5], entry[7], entry[8]
        if old is not None and new is not None:
            texts = _unasked(job_move(old, new), task.host, old, facts.clock(at))
            found += [Violation(RULE, at, pk.removeprefix("J#"), text) for text in texts]
    return found


def _unasked(move: str, host: Host, old: Item, clock: int) -> Iterator[str]:
    if host.kind in DELIVERERS:
        if move == "delete" and not (old.get("delete_done") and old.get("exhausted")):
            yield "deleted after a firing, though it did not ask for that or is not done"
        if move == "pause" and not old.get("pause_dead"):
            yield "paused after a firing, though it did not ask for that"
        if move == "resume":
            yield "resumed after a firing"
    if host.kind == "tick" and move in {"pause", "delete"}:
        yield f"{move}d by a tick"
    if host.kind == "tick" and move == "resume":
        until = old.get("paused_until")
        if until is None or until > clock + host.fastest // MS + 1:
            yield f"resumed by a tick, though its pause lasts {'for ever' if until is None else f'until {until}'}"
