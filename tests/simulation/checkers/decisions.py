"""(a, h) Claims decide as the owner chose, and nothing begins that its job's last word, as it was read, forbids."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.checkers import backfills, exclusions, zones
from tests.simulation.checkers.facts import (
    Change,
    Facts,
    Generation,
    Item,
    JobFacts,
    Violation,
    has_begun,
    nominal_of,
)
from tests.simulation.journal import WRITE

RULE = "h reasons"
GRACE_MS = 60_000
TWO_DAYS_MS = 48 * 3_600_000
FINAL = {"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"}
ENDED_FOR_GOOD = {"paused", "deleted"}
_ADOPTABLE = {
    ("QUEUED", None),
    ("WAITING", None),
    ("RETRY_WAIT", None),
    ("CANCELLED", "superseded"),
    ("CANCELLED", "paused"),
    ("SKIPPED", "excluded"),
}


def check(facts: Facts) -> list[Violation]:
    """Every record's creation, first lease and cancellation."""
    found: list[Violation] = []
    aside = _set_aside(facts)
    for uid, job in facts.jobs.items():
        chain = Chain()
        identities = sorted(each for each in facts.executions if each.startswith(f"{uid}-s-"))
        for identity in identities:
            changes = facts.executions[identity]
            if (identity, changes[0].at) in aside and _settled(changes[0].new):
                continue
            texts = list(_created(facts, job, identity, changes[0], chain))
            found += [Violation(RULE, changes[0].at, identity, text) for text in texts]
    for identity, changes in facts.executions.items():
        job_facts = facts.jobs.get(identity[:20])
        if job_facts is None:
            continue
        for change in changes:
            texts = list(_moved(facts, job_facts, identity, change))
            found += [Violation(RULE, change.at, identity, text) for text in texts]
    return found


def _set_aside(facts: Facts) -> set[tuple[str, int]]:
    """The scheduled firings whose timers were set aside, and when."""
    found = set()
    for entry in facts.entries:
        if entry[0] == WRITE and entry[4] == "timers" and entry[5].startswith("Q#"):
            stamp, kind, whom, _ = entry[6].partition("|")[2].split("#")
            if kind == "F":
                found.add((f"{whom}-s-{stamp}", entry[1]))
    return found


def _settled(new: Item | None) -> bool:
    return new is not None and (new["state"], new.get("reason")) == ("CANCELLED", "superseded")


class Chain:
    """How far the catch-up that is under way reaches, by its first link."""

    until = 0


def _created(facts: Facts, job: JobFacts, identity: str, change: Change, chain: Chain) -> Iterator[str]:
    """A claim's decision, by the rules that its writer had read."""
    new, instant = change.new, nominal_of(identity)
    if new is None or instant is None or change.old is not None or change.read is None:
        return
    known = job.at(change.read)
    generation = job.generation(new["gen"])
    if known is None or generation is None or known["gen"] < new["gen"]:
        yield f"claimed for generation {new['gen']} by one who had read {known and known['gen']}"
        return
    if known["gen"] > new["gen"]:
        assert generation.end is not None
        if instant > generation.end:
            if new["state"] != "CANCELLED" or new.get("reason") != generation.ended_by:
                yield f"its generation ended before it, and it became {new['state']}"
            return
        if generation.ended_by in ENDED_FOR_GOOD:
            if new["state"] != "CANCELLED" or new.get("until") != generation.end:
                yield f"its generation was {generation.ended_by}, and it became {new['state']}"
            return
    rules = known if known["gen"] == new["gen"] else generation.last
    left_out = list(exclusions.claimed(facts, change, new, instant, rules))
    yield from left_out
    if new.get("reason") != "excluded" and not left_out and not zones.moved(facts, job):
        yield from _due(new, instant, generation, rules, known, chain)


def _due(
    new: Item, instant: int, generation: Generation, rules: Item, known: Item, chain: Chain
) -> Iterator[str]:
    """Claimed in time, or missed."""
    jitter = generation.rule.jitter
    if not instant <= new["due"] <= instant + jitter:
        yield f"due {new['due'] - instant} ms after its instant, with a jitter of {jitter}"
    ended = known["gen"] > new["gen"]
    end = generation.end if ended else None
    if instant <= chain.until:
        if new["state"] != "QUEUED" or new["tier"] != "recovery":
            yield f"a link of a catch-up became {new['state']}"
    elif new["claimed"] - new["due"] == GRACE_MS:
        pass  # by less than a millisecond, which no record tells, it was in time or late
    elif new["claimed"] - new["due"] < GRACE_MS:
        if new["state"] != "QUEUED" or "until" in new:
            yield f"claimed in time, and it became {new['state']}"
    else:
        yield from _missed(new, instant, generation, rules["misfire"], end, chain)


def _missed(
    new: Item, instant: int, generation: Generation, misfire: Item, end: int | None, chain: Chain
) -> Iterator[str]:
    edge = new["claimed"] - GRACE_MS
    upper = _latest(generation, edge, end, instant)
    lower = _latest(generation, edge - generation.rule.jitter, end, instant)
    until = int(new.get("until", instant))
    opens = new["claimed"] - misfire["window"]
    match misfire["policy"]:
        case "skip":
            if new["state"] != "SKIPPED" or not lower <= until <= upper:
                yield f"to be skipped up to {upper}; it is {new['state']} up to {until}"
        case "run_once_late":
            late = upper < opens - generation.rule.jitter
            early = lower >= opens
            if not lower <= until <= upper:
                yield f"all up to {upper} were missed, and it stands for those up to {until}"
            if (new["state"] == "QUEUED" and late) or (new["state"] == "SKIPPED" and early):
                yield f"{new['state']}, with the latest missed at {upper} and a window from {opens}"
        case _:
            yield from _caught_up(new, instant, generation, misfire, upper, chain)


def _caught_up(
    new: Item, instant: int, generation: Generation, misfire: Item, upper: int, chain: Chain
) -> Iterator[str]:
    """The first link of a catch-up: what may run begins no earlier than window and cap allow."""
    if generation.rule.jitter:
        return
    missed = generation.rule.between(instant - 1, upper)
    opens = new["claimed"] - misfire["window"]
    runs = [each for each in missed if each >= opens][-misfire["max"] :]
    if runs and runs[0] == instant:
        chain.until = upper
        if new["state"] != "QUEUED":
            yield f"the first of {len(runs)} to catch up with, and it became {new['state']}"
        return
    before = [each for each in missed if not runs or each < runs[0]]
    if new["state"] != "SKIPPED" or int(new.get("until", instant)) != before[-1]:
        yield f"to be skipped up to {before[-1]}; it is {new['state']} up to {new.get('until')}"
    chain.until = upper if runs else 0


def _latest(generation: Generation, edge: int, end: int | None, instant: int) -> int:
    latest = generation.rule.latest(edge if end is None else min(edge, end))
    return instant if latest is None else max(latest, instant)


def _moved(facts: Facts, job: JobFacts, identity: str, change: Change) -> Iterator[str]:
    old, new = change.old, change.new
    if new is None:
        return
    yield from _kept(new)
    if old is None:
        return
    if (
        new["planted"] > old["planted"]
        and new["gen"] == old["gen"]
        and not _excluded(facts, job, identity, new)
    ):
        planter = job.generation(new["planted"])
        if (
            planter is None or planter.ended_by not in ENDED_FOR_GOOD
        ):  # what had not begun by then goes with that
            yield from _passed_over(facts, identity, change, old)
    if change.move == "lease" and change.read is not None:
        begun = has_begun(facts.executions[identity], change)
        yield from _known(job, identity, change, old, begun=begun)
        yield from _read_when_due(facts, change, old)
    elif change.move == "cancel":
        yield from _cancelled(facts, job, identity, change, new)
    elif change.move == "skip_overlap" and new.get("overlap") is None:
        yield "skipped for an overlap that its job allows"
    elif change.move == "skip_held" and new.get("reason") != "misfire":
        yield f"skipped for {new.get('reason')}, after it was queued"


def _known(job: JobFacts, identity: str, change: Change, old: Item, *, begun: bool) -> Iterator[str]:
    """What its writer read forbids it, whichever of the reads that it may go by it went by. `begun`: see `has_begun`."""
    assert change.read is not None
    reads = (change.read, change.read if change.newest is None else change.newest)
    known = [item for item in map(job.at, reads) if item is not None]
    each = [list(_may_begin(job, identity, old, item, begun=begun)) for item in known]
    if all(each):
        yield from each[0] if each else ()


def _may_begin(job: JobFacts, identity: str, old: Item, known: Item, *, begun: bool) -> Iterator[str]:
    if known["state"] == "DELETED":
        yield "begun, though its job was known to be deleted"
    if begun:
        return
    scheduled = old["origin"] == "schedule"
    generation = job.generation(old["gen"])
    edited = known["gen"] == old["gen"] + 1 and generation is not None and generation.ended_by == "superseded"
    if known["state"] == "PAUSED" and (scheduled or (known["gen"] > old["gen"] and not edited)):
        yield "begun, though its job was known to be paused"
    if not scheduled or known["gen"] <= old["gen"] or generation is None or generation.end is None:
        return
    instant = nominal_of(identity)
    if generation.ended_by in ENDED_FOR_GOOD:
        yield f"begun, though its generation was known to be {generation.ended_by}"
    elif instant is not None and instant > generation.end:
        yield "begun, though its generation was known to have ended before it was due"


def _cancelled(facts: Facts, job: JobFacts, identity: str, change: Change, new: Item) -> Iterator[str]:
    reason, instant = new.get("reason"), nominal_of(identity)
    versions = [version for version in job.versions if version.at <= change.at]
    match reason:
        case "paused":
            paused = any(v.item["state"] == "PAUSED" and v.item["gen"] > new["gen"] for v in versions)
            if not paused and f"cancel {identity}" not in facts.asked:
                yield "cancelled for a pause that never was"
        case "deleted":
            if versions[-1].item["state"] != "DELETED":
                yield "cancelled for a delete that never was"
        case "backfill_cancelled":
            if not backfills.called_off(facts, identity, change.step):
                yield "cancelled with its backfill, which was not called off"
        case "superseded":
            generation = job.generation(new["gen"])
            if generation is None or generation.end is None or (instant or 0) <= generation.end:
                yield "cancelled as superseded, though its generation stands for it"
        case _:
            yield f"cancelled for {reason}"


def _kept(new: Item) -> Iterator[str]:
    """An expiry is for what is over, and never before two days after it was due."""
    expires = new.get("expires")
    if (expires is None) == (new["state"] in FINAL):
        yield f"{new['state']}, and its expiry is {expires}"
    elif expires is not None and expires * 1000 + 1000 < new["due"] + TWO_DAYS_MS:
        yield "it would expire within two days after it was due"


def _excluded(facts: Facts, job: JobFacts, identity: str, new: Item) -> bool:
    """Whether the generation that planted last may leave the instant out."""
    generation, instant = job.generation(new["planted"]), nominal_of(identity)
    if generation is None or instant is None or "exclude" not in generation.first["schedule"]:
        return False
    versions = facts.calendars.get(new["team"], [])
    return any(exclusions.excludes(version.item, instant) for version in versions)


def _passed_over(facts: Facts, identity: str, change: Change, old: Item) -> Iterator[str]:
    """A newer generation planted from a record that had not begun, and did not take it over: too late to run it."""
    if old["fence"] or old.get("attempt") or (old["state"], old.get("reason")) not in _ADOPTABLE:
        return
    fastest = 0 if change.task is None else change.task.host.fastest
    soonest = nominal_of(identity) or 0  # due then by the newer generation, or later by a jitter of its own
    if facts.clock(change.at + fastest) - soonest <= GRACE_MS:
        yield f"{old['state']}, and a newer generation with the same instant did not take it over"


def _read_when_due(facts: Facts, change: Change, old: Item) -> Iterator[str]:
    """First it is due, then the job is read: what an owner said a moment before that has to hold."""
    if change.newest is None or change.task is None or old["state"] == "RETRY_WAIT":
        return
    due = max(old["due"], old.get("after", 0))
    clock = facts.clock(change.newest + change.task.host.fastest)
    if clock < due - 1:
        yield f"begun by what was read {due - clock} ms before it was due"
