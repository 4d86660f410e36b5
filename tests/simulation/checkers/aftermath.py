"""(j) What a job is to do by itself: it is paused after so many deaths in a row, and gone after its last firing."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.checkers.facts import Change, Facts, Item, JobFacts, Violation, nominal_of
from tests.simulation.kernel import MINUTE

RULE = "j aftermath"
SETTLED = 15 * MINUTE
"""By then somebody has looked, however often it failed."""
TRIED = frozenset({"SUCCEEDED", "DEAD"})
FINAL = TRIED | {"SKIPPED", "CANCELLED"}


def check(facts: Facts) -> list[Violation]:
    """Each job as it is at the end."""
    found = []
    for job in facts.jobs.values():
        item = job.generations[-1].last
        if item["state"] == "ACTIVE" and ("pause_dead" in item or "delete_done" in item):
            found += [Violation(RULE, facts.ended_at, job.uid, text) for text in _texts(facts, job, item)]
    return found


def _texts(facts: Facts, job: JobFacts, item: Item) -> Iterator[str]:
    records = _newest_first(facts, job)
    tried = [new for new in records if new["state"] in TRIED and new["gen"] >= item["gen"]]
    most = item.get("pause_dead")
    last = tried[:most] if most else []
    dead = bool(last) and len(last) == most and all(new["state"] == "DEAD" for new in last)
    if dead and _long_ago(facts, job, last, "pause_dead"):
        yield f"its newest {most} firings are dead, and it goes on"
    over = bool(records) and records[0]["state"] in TRIED and all(new["state"] in FINAL for new in records)
    then = _then(facts, job, records) if over else {}
    done = item.get("delete_done") and then.get("exhausted") and then["gen"] == item["gen"]
    if done and _long_ago(facts, job, records, "delete_done"):
        yield "its last firing is over, and it is still there"


def _long_ago(facts: Facts, job: JobFacts, records: list[Item], setting: str) -> bool:
    """The last of them ended long ago, and the job's setting has been the same since."""
    at = _end(facts, records)
    known = {version.item.get(setting) for version in job.versions if version.at > at}
    same = known <= {_then(facts, job, records).get(setting)}
    return same and facts.ended_at - max(at, facts.faults_end) > SETTLED


def _end(facts: Facts, records: list[Item]) -> int:
    """When the last of them ended, by true time: what its host's clock said then may be later than what followed."""
    mine = {id(new) for new in records}
    return max(
        _over(changes)
        for changes in facts.executions.values()
        if changes[-1].new and id(changes[-1].new) in mine
    )


def _over(changes: list[Change]) -> int:
    at = changes[-1].at
    for change in reversed(changes):
        if change.new is None or change.new["state"] not in FINAL:
            break
        at = change.at
    return at


def _then(facts: Facts, job: JobFacts, records: list[Item]) -> Item:
    """The job when the last of them ended. One that its owner resumes with nothing left to fire stays."""
    return job.at(_end(facts, records)) or {}


def _newest_first(facts: Facts, job: JobFacts) -> list[Item]:
    """The scheduled firings as they are at the end."""
    found = []
    for identity, changes in facts.executions.items():
        nominal, new = nominal_of(identity), changes[-1].new
        if identity.startswith(f"{job.uid}-s-") and nominal is not None and new is not None:
            found.append((nominal, new))
    return [new for _, new in sorted(found, key=lambda each: -each[0])]
