"""(f) After the faults everything drains; (g) at rest each active job has exactly its one timer, and no other has one."""

from __future__ import annotations

from collections import defaultdict

from tests.simulation.checkers import zones
from tests.simulation.checkers.facts import (
    Facts,
    Generation,
    Item,
    JobFacts,
    Violation,
    counted,
    nominal_of,
)
from tests.simulation.checkers.holds import shut_until
from tests.simulation.checkers.wakeups import minute_of
from tests.simulation.journal import WRITE
from tests.simulation.kernel import MINUTE

DRAIN, TIMERS = "f drain", "g timers"
BOUND = 38 * MINUTE
"""How long after it was due everything is over, once no fault strikes any more."""
MOVING = 5 * MINUTE
HORIZON_MS = 4 * 60_000
PAUSE_ENDS_MS = 10 * 60_000


def check_drain(facts: Facts) -> list[Violation]:
    """Nothing that was due long ago is unfinished."""
    found = []
    for identity, changes in facts.executions.items():
        new = changes[-1].new
        if new is None or new["state"] in {"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"}:
            continue
        since = max(
            facts.faults_end,
            (max(new["due"], new.get("after", 0)) - facts.begin) * 1000,
            shut_until(facts, new["team"], new["tier"]),  # an owner's request that came late may shut it late
        )
        if facts.ended_at - since > BOUND and not _in_line(facts, new):
            text = f"still {new['state']}, {(facts.ended_at - since) // MINUTE} minutes after it could have been over"
            found.append(Violation(DRAIN, facts.ended_at, identity, text))
    return found


def _in_line(facts: Facts, item: Item) -> bool:
    """It waits behind others: just now an older one of its team and tier got its turn. A team with one slot and slow
    targets may have more to do than any bound leaves time for; that the entry is there is another checker's business.
    """
    if item["state"] != "WAITING":
        return False
    return any(
        change.move == "lease"
        and change.at > facts.ended_at - MOVING
        and change.old is not None
        and change.old["state"] == "WAITING"
        and (change.old["team"], change.old["tier"]) == (item["team"], item["tier"])
        and change.old["due"] < item["due"]
        for changes in facts.executions.values()
        for change in changes
    )


def check_timers(facts: Facts) -> list[Violation]:
    """The `fire` timers that are left, against the oracle's next instants."""
    left: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    timers: dict[tuple[str, str], bool] = {}
    for entry in facts.entries:
        if entry[0] == WRITE and entry[4] == "timers" and not entry[5].startswith("Q#"):
            timers[entry[5], entry[6]] = entry[8] is not None
    for (pk, sk), there in timers.items():
        stamp, kind, whom, sequence = sk.split("#")
        if there and kind == "F":
            left[whom].append((int(sequence), int(stamp), pk))
    found: list[Violation] = []
    for uid, job in facts.jobs.items():
        texts = _timers_of(facts, job, left.get(uid, []))
        found += [Violation(TIMERS, facts.ended_at, uid, text) for text in texts]
    return found


def _timers_of(facts: Facts, job: JobFacts, left: list[tuple[int, int, str]]) -> list[str]:
    current = job.generations[-1]
    texts = []
    clock = facts.clock(facts.ended_at)
    for number, instant, pk in left:
        if number != current.number and minute_of(pk) < clock - HORIZON_MS:
            texts.append(f"a timer of generation {number} for {instant} lies in a bucket long scanned")
    mine = [instant for number, instant, _ in left if number == current.number]
    state = current.last["state"]
    ends = current.last.get("paused_until")
    if state == "PAUSED" and ends is not None and ends < clock - PAUSE_ENDS_MS:
        texts.append(f"its pause was to end at {ends}, and goes on")
    following, sure = _next(facts, job, current)
    if state != "ACTIVE" or current.last.get("exhausted"):
        if [instant for instant in mine if instant < clock - HORIZON_MS]:
            texts.append(f"a timer is left, though the job is {state}")
        if state == "ACTIVE" and following is not None and sure:
            texts.append(f"exhausted, though {following} follows")
        return texts
    if zones.moved(facts, job):
        texts += [] if len(mine) == 1 else [f"its timers are {mine}; one must be there"]
    elif mine != [following] and (sure or mine):
        texts.append(f"its timers are {mine}; the next occurrence is {following}")
    return texts


def _next(facts: Facts, job: JobFacts, current: Generation) -> tuple[int | None, bool]:
    """The occurrence after the last one that this generation planted from; and whether it must follow."""
    last, least, most = current.begin, 0, 0
    same = job.counting_with(current)
    for identity in _records(facts, job.uid):
        changes = facts.executions[identity]
        new, nominal = changes[-1].new, nominal_of(identity)
        if new is None or nominal is None:
            continue
        low, high = counted(changes, same)
        least, most = least + low, most + high
        if new["planted"] == current.number:
            last = max(last, nominal, int(new.get("until", 0)))
    limit = current.rule.most
    if limit is not None and least >= limit:
        return None, True
    return current.rule.after(last), limit is None or most < limit


def _records(facts: Facts, uid: str) -> list[str]:
    prefix = f"{uid}-s-"
    return [identity for identity in facts.executions if identity.startswith(prefix)]
