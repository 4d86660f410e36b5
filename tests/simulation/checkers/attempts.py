"""(d) Attempts within the budget, the backoff respected, and of every death somebody is told under one id."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.checkers.facts import Change, Facts, Item, JobFacts, Violation
from tests.simulation.journal import Entry
from tests.simulation.kernel import MINUTE

RULE = "d attempts"
SKEW = 2_000
LONGEST_WISH = 60_000
CIRCUIT = 32_000
LOOKAHEAD = 10 * 60_000
"""How far ahead a host that is spared gives instants away."""
TIME_TO_BURY = 10 * MINUTE
TIME_TO_TELL = 30 * MINUTE
FEWEST_TELLINGS = 3
"""At 0, 1, 3, 7, 15 and 31 minutes, if no worker dies over it."""


def check(facts: Facts) -> list[Violation]:
    """Every attempt, every delay, every death."""
    found: list[Violation] = []
    for identity, changes in facts.executions.items():
        job = facts.jobs.get(identity[:20])
        if job is None:
            continue
        for place, change in enumerate(changes):
            texts = [*_uncounted(change), *_budget(job, change), *_delay(facts, job, change)]
            found += [Violation(RULE, change.at, identity, text) for text in texts]
            if change.move in {"die", "give_up"}:
                found += _notice(facts, identity, changes, place)
    return found


def _uncounted(change: Change) -> Iterator[str]:
    """What was counted stays counted, until its owner brings it back."""
    new, old = change.new, change.old
    if new is None or old is None or change.move == "redrive":
        return
    if new.get("attempt", 0) < old.get("attempt", 0):
        yield f"attempt {old['attempt']} was counted, and then it is {new.get('attempt', 0)} again"


def _budget(job: JobFacts, change: Change) -> Iterator[str]:
    new, old = change.new, change.old
    if new is None or change.move not in {"lease", "defer", "die"} or old is None:
        return
    most = max(version.item["retry"]["max"] for version in job.versions if version.at <= change.at)
    if new.get("attempt", 0) > most:
        yield f"attempt {new['attempt']} of at most {most}"
    if change.move == "lease":
        if new["attempt"] != old.get("attempt", 0) + 1:
            yield f"attempt {old.get('attempt', 0)} was followed by {new['attempt']}"
        stepped = 0 if change.task is None else change.task.host.fastest - change.task.host.slowest
        if old["state"] == "RETRY_WAIT" and new["attempts"][-1]["from"] + stepped // 1000 < old["retry"]:
            yield f"begun {old['retry'] - new['attempts'][-1]['from']} ms before its delay was over"
    if change.move == "die" and new.get("reason") == "budget_spent":
        fewest = min(version.item["retry"]["max"] for version in job.versions if version.at <= change.at)
        if new.get("attempt", 0) < fewest:
            yield f"dead of {new.get('attempt', 0)} attempts, though {fewest} are allowed"


def _delay(facts: Facts, job: JobFacts, change: Change) -> Iterator[str]:
    """No later than the policy's longest delay, a target's wish or a circuit's rest make it."""
    new = change.new
    if new is None or change.move not in {"retry", "defer"}:
        return
    attempt = int(new.get("attempt", 0))
    longest = max(_longest(version.item, attempt) for version in job.versions if version.at <= change.at)
    rest = (LOOKAHEAD if "host" in new else CIRCUIT) if change.move == "defer" else 0
    wish = LONGEST_WISH if _wished(new) else 0
    latest = facts.clock(change.at) + SKEW + max(longest, rest, wish)
    if new["retry"] > latest:
        yield f"put off until {new['retry']}, {new['retry'] - latest} ms later than any rule allows"


def _wished(item: Item) -> bool:
    attempts = item.get("attempts") or [{}]
    return bool(attempts[-1].get("status") == 429)


def _longest(job: Item, attempt: int) -> int:
    retry = job["retry"]
    grown = retry["initial"] * float(retry["factor"]) ** max(0, attempt - 1)
    return int(min(grown, retry["ceiling"])) + 1


def _untold(facts: Facts, identity: str, death: Change, tries: list[Entry]) -> Iterator[str]:
    """Whoever did not take a notice is told again, after twice the time each time, for as long as it takes."""
    since = facts.rested_at - death.at
    if since > TIME_TO_BURY and identity not in facts.buried.values():
        yield "it died, nobody was told, and nothing is left that would tell"
    if facts.ended_at - death.at > TIME_TO_TELL and len(tries) < FEWEST_TELLINGS:
        yield f"it died, and its team was told {len(tries)} times"


def _notice(facts: Facts, identity: str, changes: list[Change], place: int) -> list[Violation]:
    """Told at least once unless its owner brought it back first; always under one id, another one than before."""
    death = changes[place]
    after = changes[place + 1 :]
    back = next((change.at for change in after if change.move == "redrive"), None)
    ends = facts.rested_at if back is None else back
    told = [entry for entry in facts.told.get(identity, ()) if entry[4][1] == "dead"]
    mine = [entry for entry in told if death.at <= entry[1] <= ends]
    found = []
    if back is None and not any(entry[5] for entry in mine):
        found += [Violation(RULE, death.at, identity, text) for text in _untold(facts, identity, death, mine)]
    # Whoever began before this death may have stood still over an earlier one, and tells of that.
    ids = {entry[4][0] for entry in mine if entry[3] is None or entry[3].began >= death.at}
    if len(ids) > 1:
        found.append(Violation(RULE, death.at, identity, "one death was told under several ids"))
    earlier = {entry[4][0] for entry in told if entry[1] < death.at}
    if earlier & ids and changes[place].old is not None:
        fences = {
            change.new["fence"]
            for change in changes[:place]
            if change.move in {"die", "give_up"} and change.new
        }
        if death.new is not None and death.new["fence"] not in fences:
            found.append(
                Violation(RULE, death.at, identity, "a second death was told under the first one's id")
            )
    return found
