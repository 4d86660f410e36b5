"""(b) One owner: fences rise, a stale fence writes nothing, an execution succeeds once, and an outcome is what its
target said to that very fence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.checkers.facts import US, Change, Facts, Item, Violation

RULE = "b fences"
TAKER_WAITS = 2_000
OUTCOMES = {
    "ok": {"delivered", "timed_out"},
    "fail": {"failed", "timed_out"},
    "busy": {"failed", "timed_out"},
    "never": {"refused", "timed_out"},
    "hang": {"timed_out"},
    "late": {"timed_out"},
    "lie": {"failed", "timed_out"},
    "accept": {"accepted", "timed_out"},
}


def check(facts: Facts) -> list[Violation]:
    """Every write of every execution."""
    found: list[Violation] = []
    for identity, changes in facts.executions.items():
        for change in changes:
            if change.new is None:
                continue
            found += [Violation(RULE, change.at, identity, text) for text in _faults(facts, identity, change)]
    return found + _across_firings(facts)


def _faults(facts: Facts, identity: str, change: Change) -> Iterator[str]:
    old, new = change.old, change.new
    assert new is not None
    if change.move == "impossible":
        yield f"{old and old['state']} became {new['state']}: the tables have no such move"
    if old is None:
        return
    if new["fence"] < old["fence"]:
        yield f"the fence fell from {old['fence']} to {new['fence']}"
    if change.move == "lease":
        yield from _leased(facts, change, old, new)
    elif new["fence"] != old["fence"]:
        yield f"the fence changed without a lease ({change.move})"
    if change.move in {"succeed", "retry", "die"}:
        yield from _outcome(facts, identity, change, old, new)
    if old["state"] in {"SUCCEEDED", "SKIPPED"} and new["state"] != old["state"] and change.move != "adopt":
        yield f"{old['state']} is final, and became {new['state']}"
    if old["state"] == "RUNNING" == new["state"]:
        yield from _extended(facts, change, old, new)


def _leased(facts: Facts, change: Change, old: Item, new: Item) -> Iterator[str]:
    if new["fence"] <= old["fence"]:
        yield f"leased under fence {new['fence']}, which was given out before"
    if new["attempts"][-1]["fence"] != new["fence"]:
        yield "the attempt that began has another fence than the lease"
    del facts, change


def _outcome(facts: Facts, identity: str, change: Change, old: Item, new: Item) -> Iterator[str]:
    """What ended an attempt was said to its fence, or its lease had lapsed by the writer's clock."""
    attempt = new["attempts"][-1]
    if attempt["fence"] != old["fence"]:
        yield f"an outcome under fence {attempt['fence']}, while {old['fence']} holds it"
        return
    outcome = attempt.get("outcome")
    if outcome == "worker_lost":
        skew = change.task.host.fastest if change.task is not None else 0
        clock = facts.clock(change.at) + skew // US
        if clock < old["lease"] + TAKER_WAITS:
            yield f"judged lost at {clock}, {old['lease'] + TAKER_WAITS - clock} ms before anybody may"
        return
    if not _was_said(facts, identity, old["fence"], change, str(outcome)):
        yield f"the record says {outcome}, which nobody said to fence {old['fence']}"


def _was_said(facts: Facts, identity: str, fence: int, change: Change, outcome: str) -> bool:
    """A target's answer, a worker's word, or the holder's own finding that its lease was over."""
    for answer in facts.answers.get((identity, fence), ()):
        if answer[2] < change.step and outcome == answer[6]:
            return outcome in OUTCOMES[answer[5]]
    for word in facts.asked_of(identity):
        if (outcome == "delivered" and word == "complete") or (
            outcome in {"failed", "refused"} and word in {"fail", "give_up"}
        ):
            return True
    assert change.new is not None
    return outcome == "failed" and "nobody was called" in str(change.new["attempts"][-1].get("error"))


def _extended(facts: Facts, change: Change, old: Item, new: Item) -> Iterator[str]:
    """A lease is made longer only while it lasts, and never beyond the longest run."""
    if new.get("lease") == old.get("lease"):
        return
    if new["lease"] < old["lease"] and old.get("run_until") is not None:
        yield f"the lease was cut from {old['lease']} to {new['lease']}"
    if new.get("run_until") is not None and new["lease"] > new["run_until"]:
        yield "the lease goes on beyond the longest run"
    if old.get("run_until") is not None and change.task is not None:
        began = facts.clock(change.at) - 600_000
        if old["lease"] < began:
            yield "a lease was made longer long after it was over"


def _across_firings(facts: Facts) -> list[Violation]:
    """Under overlap `skip` and `queue`: fences rise from firing to firing, and one at a time is under way."""
    found: list[Violation] = []
    by_job: dict[str, list[tuple[int, str, Change]]] = defaultdict(list)
    for identity, changes in facts.executions.items():
        for change in changes:
            if change.new is not None and change.new.get("overlap") is not None:
                by_job[identity[:20]].append((change.step, identity, change))
    for moves in by_job.values():
        moves.sort(key=lambda each: each[0])
        last, holding = 0, set[str]()
        for _, identity, change in moves:
            assert change.new is not None
            if change.move == "lease":
                if change.new["fence"] <= last:
                    text = f"fence {change.new['fence']} after {last} of another firing of the job"
                    found.append(Violation(RULE, change.at, identity, text))
                if holding - {identity}:
                    text = f"leased while {min(holding - {identity})} is not over"
                    found.append(Violation(RULE, change.at, identity, text))
                last = max(last, change.new["fence"])
                holding.add(identity)
            elif change.new["state"] in {"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"}:
                holding.discard(identity)
    return found
