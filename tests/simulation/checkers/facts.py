"""A history in the order in which checkers want it: by execution, by job, by team."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from tests.simulation.journal import ANSWER, ASKED, CALL, GONE, SENT, STRUCK, TOLD, WORKER, WRITE, Entry
from tests.simulation.labels import execution_move
from tests.simulation.oracle import Rule, ms, rule_of

Item = Mapping[str, Any]
US = 1_000


@dataclass(frozen=True, slots=True)
class Violation:
    """What is not as it must be. `rule` is the letter and name of the checker."""

    rule: str
    at: int
    about: str
    text: str


class Change(NamedTuple):
    """One write of an execution. `read`: when its writer had last read the job at the earliest, `newest`: at the
    latest (true time, microseconds).
    """

    at: int
    step: int
    task: Any
    old: Item | None
    new: Item | None
    move: str
    read: int | None
    newest: int | None


class Version(NamedTuple):
    """An item as it was from `at` on."""

    at: int
    step: int
    item: Item


@dataclass(slots=True)
class Generation:
    """When a job fired by one rule: in (begin, end], epoch milliseconds. `versions` are the job's items of it."""

    number: int
    begin: int
    rule: Rule
    versions: list[Version]
    end: int | None = None
    ended_by: str | None = None
    ended_at: int | None = None

    @property
    def first(self) -> Item:
        """The job as this generation began."""
        return self.versions[0].item

    @property
    def last(self) -> Item:
        """The job as this generation ended, or is."""
        return self.versions[-1].item


@dataclass(slots=True)
class JobFacts:
    """A job's whole life."""

    uid: str
    versions: list[Version]
    generations: list[Generation]

    def at(self, instant: int) -> Item | None:
        """The job as it was at true time `instant`."""
        found = None
        for version in self.versions:
            if version.at > instant:
                break
            found = version.item
        return found

    def generation(self, number: int) -> Generation | None:
        """Generation `number`, if the job had it."""
        return next((each for each in self.generations if each.number == number), None)

    def unheard(self, generation: Generation, change: Change) -> bool:
        """Whoever wrote `change` had read the job before the change of it was written that ended `generation`."""
        following = self.generation(generation.number + 1)
        return following is not None and change.read is not None and change.read <= following.versions[0].at

    def counting_with(self, generation: Generation) -> set[int]:
        """The generations whose firings count with this one's: those since its schedule was declared."""
        schedule = generation.first["schedule"]
        before = [each for each in self.generations if each.number <= generation.number]
        return {
            each.number for each in takewhile(lambda g: g.first["schedule"] == schedule, reversed(before))
        }


@dataclass(slots=True)
class Facts:
    """Everything, indexed. `begin` is the history's first instant in epoch milliseconds."""

    begin: int
    ended_at: int
    rested_at: int
    faults_end: int
    entries: list[Entry]
    executions: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    jobs: dict[str, JobFacts] = field(default_factory=dict)
    teams: dict[str, list[Version]] = field(default_factory=lambda: defaultdict(list))
    calls: list[Entry] = field(default_factory=list)
    answers: dict[tuple[str, int], list[Entry]] = field(default_factory=lambda: defaultdict(list))
    workers: dict[tuple[str, int], list[Entry]] = field(default_factory=lambda: defaultdict(list))
    told: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    asked: list[str] = field(default_factory=list)
    strikes: list[Entry] = field(default_factory=list)
    stage: list[Version] = field(default_factory=list)
    calendars: dict[str, list[Version]] = field(default_factory=lambda: defaultdict(list))
    details: dict[str, Item] = field(default_factory=dict)
    backfills: dict[str, list[Version]] = field(default_factory=lambda: defaultdict(list))
    errands: dict[str, list[tuple[int, bool]]] = field(default_factory=lambda: defaultdict(list))
    circuits: set[str] = field(default_factory=set)
    buried: dict[str, str] = field(default_factory=dict)
    """What lies in a dead-letter queue at the end: a message, and the execution that it names."""

    def asked_of(self, identity: str) -> list[str]:
        """What workers said of an execution, heard or not."""
        prefix = f"worker of {identity} says "
        return [each[len(prefix) :] for each in self.asked if each.startswith(prefix)]

    def clock(self, at: int) -> int:
        """True time as epoch milliseconds."""
        return self.begin + at // US


def counted(changes: list[Change], generations: set[int]) -> tuple[int, int]:
    """How often a record counts for a schedule that ends after so many firings: at least, and at most.

    What was queued or adopted counts for the generation that has it; what was then cancelled, or had begun by an older
    generation's rules, may or may not.
    """
    first, last = changes[0].new, changes[-1].new
    if first is None or last is None or last["planted"] not in generations:
        return 0, 0
    queued = first["state"] == "QUEUED" or any(
        change.new is not None and change.old is not None and change.new["gen"] > change.old["gen"]
        for change in changes
    )
    counts = queued and last["gen"] in generations and last["state"] not in {"CANCELLED", "SKIPPED"}
    return int(counts), int(queued)


def has_begun(changes: list[Change], change: Change) -> bool:
    """Before `change` an attempt was made, or its owner asked for it after its death: what has begun goes on."""
    old = change.old
    tried = old is not None and bool(old["fence"] or old.get("attempt"))
    return tried or any(each.move == "redrive" and each.step < change.step for each in changes)


def execution_id(pk: str, sk: str) -> str:
    """The id of an execution's key."""
    return f"{pk}-{sk.replace('#', '-', 1)}"


def nominal_of(identity: str) -> int | None:
    """The nominal instant that an id holds; None for a run by hand."""
    _, kind, key = identity.split("-", 2)
    return None if kind == "r" else int(key[-13:])


@lru_cache(maxsize=8192)
def woken_by(body: str) -> str:
    """The execution that a message names; empty where it names none."""
    if '"execution":"' not in body:
        return ""
    start = body.index('"execution":"') + 13
    return body[start : body.index('"', start)]


def facts_of(entries: list[Entry], begin: datetime, ended_at: int, faults_end: int) -> Facts:
    """Sorts the journal of a history; it rests when the last thing has happened."""
    rested_at = max(ended_at, entries[-1][1]) if entries else ended_at
    facts = Facts(ms(begin), ended_at, rested_at, faults_end, entries)
    versions: dict[str, list[Version]] = defaultdict(list)
    for entry in entries:
        kind = entry[0]
        if kind == WRITE:
            _sort(facts, versions, entry)
        elif kind == CALL:
            facts.calls.append(entry)
        elif kind == ANSWER:
            facts.answers[entry[4].execution, entry[4].fence].append(entry)
        elif kind == WORKER:
            facts.workers[entry[4][0], entry[4][1]].append(entry)
        elif kind == TOLD:
            facts.told[entry[4][2]].append(entry)
        elif kind == ASKED:
            facts.asked.append(entry[4])
        elif kind == STRUCK:
            facts.strikes.append(entry)
    facts.buried = _buried(entries)
    for uid, found in versions.items():
        facts.jobs[uid] = JobFacts(uid, found, _generations(found, begin))
    return facts


def _buried(entries: list[Entry]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        if entry[0] == SENT and entry[4].startswith("dead"):
            found[entry[5]] = woken_by(entry[6])
        elif entry[0] == GONE:
            found.pop(entry[5], None)
    return found


def _sort(facts: Facts, versions: dict[str, list[Version]], entry: Entry) -> None:
    _, at, step, task, table, pk, sk, old, new, read = entry
    if table == "executions":
        if not pk.startswith("D#"):
            change = Change(at, step, task, old, new, execution_move(old, new), *(read or (None, None)))
            facts.executions[execution_id(pk, sk)].append(change)
    elif table == "jobs":
        if new is not None:
            _sort_job(facts, versions, pk, sk, Version(at, step, new))
    elif table == "control":
        _sort_control(facts, pk, sk, Version(at, step, new))


def _sort_job(facts: Facts, versions: dict[str, list[Version]], pk: str, sk: str, version: Version) -> None:
    if sk == "J":
        versions[pk[2:]].append(version)
    elif sk == "T":
        facts.teams[pk[2:]].append(version)
    elif pk.startswith("E#") and sk.startswith("C#"):
        facts.calendars[pk[2:]].append(version)
    elif sk.startswith("P#"):
        facts.details[sk[2:]] = version.item
    elif pk.startswith("J#") and sk.startswith("B#"):
        facts.backfills[f"{pk[2:]}/{sk[2:]}"].append(version)


def _sort_control(facts: Facts, pk: str, sk: str, version: Version) -> None:
    if pk == "E#backfill":
        facts.errands[sk.partition("/")[2]].append((version.step, version.item is not None))
    elif pk == "Z" and sk == "stage":
        facts.stage.append(version)
    elif pk.startswith("C#"):
        facts.circuits.add(pk[2:])


def _generations(versions: list[Version], begin: datetime) -> list[Generation]:
    found: list[Generation] = []
    for version in versions:
        item = version.item
        if not found or item["gen"] != found[-1].number:
            started = item["ended"] if "ended" in item else item["created"]
            if found:
                found[-1].end, found[-1].ended_by = started, item["ended_by"]
                found[-1].ended_at = version.at
            rule = rule_of(item["schedule"], begin)
            found.append(Generation(item["gen"], started, rule, [version]))
        else:
            found[-1].versions.append(version)
    return found
