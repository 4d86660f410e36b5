"""(h) Switches: nothing begins in a tier that is shut, and what one held meets its owner's misfire policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.simulation.checkers.facts import (
    US,
    Change,
    Facts,
    Item,
    JobFacts,
    Version,
    Violation,
    has_begun,
    nominal_of,
)
from tests.simulation.kernel import MINUTE, SECOND

RULE = "h reasons"
KNOWN = 40 * SECOND
"""By then everybody knows of a switch who has not stood still: teams are remembered for two seconds, calls take theirs."""
LONGEST_PAUSE = 16 * MINUTE
GRACE_MS = 60_000
NEVER_RAN = frozenset({"SKIPPED", "CANCELLED"})


class Hold(NamedTuple):
    """A tier was shut in [since, until), by clocks that may be askew. `until` None: it still is."""

    tier: str
    since: int
    until: int | None

    def at(self, clock: int) -> bool:
        """Whether it holds."""
        return self.since <= clock and (self.until is None or clock < self.until)


def check(facts: Facts) -> list[Violation]:
    """Each beginning, and each skip of what was held."""
    found: list[Violation] = []
    if not facts.stage and not any("halts" in v.item for versions in facts.teams.values() for v in versions):
        return found
    for identity, changes in facts.executions.items():
        for place, change in enumerate(changes):
            if change.move not in {"lease", "skip_held"} or stood_still(facts, change):
                continue
            if change.move == "lease":
                texts = [*_shut(facts, change), *_should_not_run(facts, identity, changes[: place + 1])]
            else:
                texts = list(_held(facts, identity, change))
            found += [Violation(RULE, change.at, identity, text) for text in texts]
    return found


def shut_until(facts: Facts, team: str, tier: str) -> int:
    """When the tier was last opened to the team, in microseconds; the end of the history where it is still shut."""
    latest = 0
    for versions in (facts.teams.get(team, []), facts.stage):
        for place, version in enumerate(versions):
            over = versions[place + 1].at if place + 1 < len(versions) else facts.ended_at
            for hold in _holds(version.item):
                if hold.tier == tier:
                    ends = over if hold.until is None else min(over, (hold.until - facts.begin) * US)
                    latest = max(latest, ends)
    return latest


def stood_still(facts: Facts, change: Change) -> bool:
    """Whether the host of a write was made to pause shortly before: it goes by what it had read."""
    return change.task is not None and any(
        str(strike[4]).startswith(("pause", "late"))
        and strike[3] is not None
        and strike[3].host is change.task.host
        and change.at - LONGEST_PAUSE <= strike[1] <= change.at
        for strike in facts.strikes
    )


def _shut(facts: Facts, change: Change) -> Iterator[str]:
    """It began, though whoever looked at the switches must have seen that it may not."""
    assert change.new is not None
    clock = int(change.new["attempts"][-1]["from"])
    known = clock - KNOWN // US
    views = list(_views(facts, change.new["team"], change.at))
    if views and all(
        any(h.tier == change.new["tier"] and h.at(clock) and h.at(known) for h in view) for view in views
    ):
        yield f"begun while its tier ({change.new['tier']}) was switched off"


def _views(facts: Facts, team: str, at: int) -> Iterator[list[Hold]]:
    """The switches as they may have been read for something that is written at `at`."""
    for own in _lately(facts.teams.get(team, []), at):
        for stage in _lately(facts.stage, at):
            yield [*_holds(own), *_holds(stage)]


def _lately(versions: list[Version], at: int) -> list[Item]:
    found = []
    for place, version in enumerate(versions):
        ends = versions[place + 1].at if place + 1 < len(versions) else at + 1
        if version.at <= at and ends >= at - KNOWN:
            found.append(version.item)
    return found or [{}]


def _holds(item: Any) -> list[Hold]:
    return [Hold(each["tier"], each["since"], each.get("until")) for each in item.get("halts", ())]


def _released(holds: list[Hold], tier: str, wake_at: int, clock: int) -> Hold | None:
    """The latest switch that is back, and held it for longer than the grace."""
    over = [
        hold
        for hold in holds
        if hold.tier == tier
        and hold.until is not None
        and hold.until <= clock
        and hold.until - max(wake_at, hold.since) > GRACE_MS
    ]
    return max(over, key=lambda hold: hold.until or 0, default=None)


def _wake_at(item: Item) -> int:
    if item["state"] == "RETRY_WAIT" and "retry" in item:
        return int(item["retry"])
    return max(int(item["due"]), int(item.get("after", 0)))


def _should_not_run(facts: Facts, identity: str, changes: list[Change]) -> Iterator[str]:
    """It ran, though its owner wants what was held so long left out."""
    change = changes[-1]
    old, job = change.old, facts.jobs.get(identity[:20])
    if old is None or job is None or identity[21] != "s" or has_begun(changes, change):
        return
    known = facts.clock(change.at) - KNOWN // US
    backs = [_released(v, old["tier"], _wake_at(old), known) for v in _views(facts, old["team"], change.at)]
    if len(set(backs)) == 1 and backs[0] is not None and backs[0].until is not None:
        whys = [
            _left_out(facts, identity, old, backs[0].until, misfire, (known, facts.clock(change.at)))
            for misfire in _policies(job, old["gen"], change.at)
        ]
        if all(whys):
            yield f"it ran, though held until {backs[0].until}: {whys[0]}"


def _held(facts: Facts, identity: str, change: Change) -> Iterator[str]:
    """It was skipped: something had held it long enough, and its policy says so."""
    old, job = change.old, facts.jobs.get(identity[:20])
    if old is None or job is None:
        return
    clock = facts.clock(change.at) + 4_000
    views = _views(facts, old["team"], change.at)
    backs = {hold.until for view in views if (hold := _released(view, old["tier"], _wake_at(old), clock))}
    if not backs:
        yield "skipped after a switch, and none had held it"
    elif not any(
        _left_out(facts, identity, old, back, misfire, (clock, 0))
        for back in backs
        if back is not None
        for misfire in _policies(job, old["gen"], change.at)
    ):
        asked = [misfire["policy"] for misfire in _policies(job, old["gen"], change.at)]
        yield f"skipped after a switch that was back at {max(map(str, backs))}, which {asked} does not ask for"


def _policies(job: JobFacts, generation: int, at: int) -> list[Item]:
    found = job.generation(generation)
    versions = [] if found is None else found.versions
    return [version.item["misfire"] for version in versions if version.at <= at]


def _left_out(
    facts: Facts, identity: str, old: Item, back: int, misfire: Item, clocks: tuple[int, int]
) -> str | None:
    """Why it is to be left out; None where it is to run. `clocks`: see `_stands`."""
    instant, edge = nominal_of(identity), back - GRACE_MS
    assert instant is not None
    if misfire["policy"] == "skip":
        return "its job skips what it missed"
    if back - int(old.get("until", old["due"])) > misfire["window"]:
        return "older than the window"
    if misfire["policy"] == "run_once_late":
        later = _later_one(facts, identity, instant, edge, clocks)
        return None if later is None else f"{later} stands for it"
    job = facts.jobs[identity[:20]].generation(old["gen"])
    missed = 0 if job is None else len(job.rule.between(instant - 1, edge))
    return f"with it {missed} were missed" if missed > misfire["max"] else None


def _later_one(facts: Facts, identity: str, instant: int, edge: int, clocks: tuple[int, int]) -> str | None:
    """A later one that was held as well, and that runs or ran."""
    prefix = identity[:23]
    for other, changes in facts.executions.items():
        nominal = nominal_of(other) if other.startswith(prefix) else None
        if nominal is None or not instant < nominal <= edge or changes[0].new is None:
            continue
        if _held_too(changes, edge, strictly=bool(clocks[1])) and _stands(facts, changes, *clocks):
            return other
    return None


def _held_too(changes: list[Change], edge: int, *, strictly: bool) -> bool:
    """It was due by the edge at some time; or, `strictly`, at every time: another schedule may move a record's due."""
    dues = [each.new["due"] <= edge for each in changes if each.new]
    return all(dues) if strictly else any(dues)


def _stands(facts: Facts, changes: list[Change], known: int, until: int) -> bool:
    """It was there at `known`, and might run: at some time before; or, with `until`, all the time up to then."""
    then = [each.new["state"] for each in changes if each.new and facts.clock(each.at) <= known]
    later = [each.new["state"] for each in changes if each.new and known < facts.clock(each.at) <= until]
    if not until:
        return any(state not in NEVER_RAN for state in then)
    return bool(then) and all(state not in NEVER_RAN for state in (then[-1], *later))
