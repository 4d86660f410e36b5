"""(a, f, i) A backfill runs each of its instants once, at its rate and to its end, unless it is called off or the
instant needs no run; its errand stands until then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from tests.simulation.checkers.exclusions import excludes
from tests.simulation.checkers.facts import (
    Change,
    Facts,
    Item,
    JobFacts,
    Version,
    Violation,
    has_begun,
    nominal_of,
)
from tests.simulation.checkers.holds import KNOWN, shut_until, stood_still
from tests.simulation.kernel import MINUTE
from tests.simulation.oracle import rule_of

LEDGER, DRAIN, WAKES, WHY = "a ledger", "f drain", "i wake-ups", "h reasons"
BOUND = 20 * MINUTE
MINUTE_MS = 60_000


def check(facts: Facts) -> list[Violation]:
    """Backfill by backfill."""
    records: dict[str, dict[int, list[Change]]] = defaultdict(dict)
    for identity, changes in facts.executions.items():
        if identity[21] == "b":
            instant = nominal_of(identity)
            assert instant is not None
            records[f"{identity[:20]}/{identity[23:35]}"][instant] = changes
    found = [
        Violation(LEDGER, facts.ended_at, name, "executions of a backfill that is not there")
        for name in records.keys() - facts.backfills.keys()
    ]
    for name, versions in facts.backfills.items():
        mine = records.get(name, {})
        for rule, texts in (
            (LEDGER, (*_made(facts, name, versions, mine), *_rate(versions[0].item, mine))),
            (WAKES, _errand(facts, name, versions)),
            (DRAIN, _ends(facts, name, versions[-1])),
            (WHY, _begun(facts, versions, mine)),
        ):
            found += [Violation(rule, facts.ended_at, name, text) for text in texts]
    return found


def called_off(facts: Facts, identity: str, step: int) -> bool:
    """Whether the backfill of an execution had been called off when `step` happened."""
    versions = facts.backfills.get(f"{identity[:20]}/{identity[23:35]}", [])
    return any(version.item["state"] == "CANCELLED" and version.step <= step for version in versions)


def _instants(facts: Facts, item: Item) -> tuple[int, ...]:
    begin = datetime.fromtimestamp(facts.begin / 1000, UTC)
    return rule_of(item["schedule"], begin).between(item["from"] - 1, item["to"] - 1)


def _made(
    facts: Facts, name: str, versions: list[Version], records: Mapping[int, list[Change]]
) -> Iterator[str]:
    """Nothing beside its instants; and once it is expanded, each of them that needs a run."""
    last = versions[-1].item
    wanted = _instants(facts, last)
    for instant in sorted(records.keys() - set(wanted)):
        yield f"it ran {instant}, which is none of its instants"
    if last["state"] != "EXPANDED":
        return
    for instant in wanted:
        if instant not in records and not _needless(facts, name, last, instant):
            yield f"it left out {instant}, which needed a run"


def _needless(facts: Facts, name: str, item: Item, instant: int) -> bool:
    """The instant is excluded, or has run or was about to: by the schedule, or in another backfill."""
    if "exclude" in item["schedule"]:
        versions = facts.calendars.get(item["team"], [])
        if any(excludes(version.item, instant) for version in versions):
            return True
    if item.get("force"):
        return False
    uid = name[:20]
    others = [f"{uid}-s-{instant:013d}"]
    others += [
        f"{uid}-b-{other[21:]}-{instant:013d}"
        for other in facts.backfills
        if other[:20] == uid and other != name
    ]
    return any(
        change.new is not None and change.new["state"] not in {"DEAD", "SKIPPED", "CANCELLED"}
        for other in others
        for change in facts.executions.get(other, ())
    )


def _rate(item: Item, records: Mapping[int, list[Change]]) -> Iterator[str]:
    """As they are released, never more in a minute than its owner wished."""
    released = sorted(_release(changes[0].new) for changes in records.values())
    rate = int(item["rate"])
    for place in range(len(released) - rate):
        between = released[place + rate] - released[place]
        if between < MINUTE_MS - rate:
            yield f"{rate + 1} released within {between} ms, at a rate of {rate} a minute"
            return


def _release(new: Item | None) -> int:
    assert new is not None
    return int(new.get("after", new["due"]))


def _errand(facts: Facts, name: str, versions: list[Version]) -> Iterator[str]:
    """At every step until it ends, something makes it go on."""
    errand = facts.errands.get(name, [])
    steps = sorted({version.step for version in versions} | {step for step, _ in errand})
    for step in steps:
        state = [version.item["state"] for version in versions if version.step <= step]
        there = [lies for at, lies in errand if at <= step]
        if state and state[-1] == "EXPANDING" and not (there and there[-1]):
            yield "nothing durable makes it go on"
            return


def _ends(facts: Facts, name: str, last: Version) -> Iterator[str]:
    """It is over a while after the faults, as long as its rate takes; unless its job was paused since."""
    item = last.item
    job = facts.jobs.get(name[:20])
    if item["state"] != "EXPANDING" or job is None or _paused_since(job, item):
        return
    left = [each for each in _instants(facts, item) if each > item["cursor"]]
    takes = BOUND + (len(left) // int(item["rate"]) + 1) * MINUTE
    known = job.versions[-1].item
    shut = max(shut_until(facts, known["team"], tier) for tier in ("recovery", known["tier"]))
    if facts.ended_at - max(facts.faults_end, last.at, shut) > takes:
        yield f"{len(left)} of its instants are still to come"


def _paused_since(job: JobFacts, item: Item) -> bool:
    current = job.versions[-1].item
    began = job.generation(item["gen"])
    edited = current["gen"] == item["gen"] + 1 and began is not None and began.ended_by == "superseded"
    return bool(current["state"] == "PAUSED" and current["gen"] > item["gen"] and not edited)


def _begun(facts: Facts, versions: list[Version], records: Mapping[int, list[Change]]) -> Iterator[str]:
    """Nothing begins once it is known to be called off."""
    ended = next((version.at for version in versions if version.item["state"] == "CANCELLED"), None)
    if ended is None:
        return
    for instant, changes in records.items():
        for change in changes:
            if change.move != "lease" or has_begun(changes, change):
                continue
            if change.at - ended > KNOWN and not stood_still(facts, change):
                yield f"{instant} began after its backfill had been called off"
