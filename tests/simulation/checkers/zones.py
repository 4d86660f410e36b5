"""(a, g) A newer release of the time-zone database moves a zone: the jobs that live by it are followed link by link.

Each occurrence follows the one before by the rules that whoever planted it had. After a refresh the first one is the
first whose wall clock, by the new rules, is later than that of the last claimed one was by the old ones; and no later
one had been claimed when it ended that generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

from tests.simulation.checkers.facts import Change, Facts, Generation, JobFacts, Violation, nominal_of
from tests.simulation.journal import ASKED
from tests.simulation.oracle import MOVED, OFFSETS, Rule, rule_of

RULE = "a ledger"
RELEASED = "zones"
MARGIN_MS = 5 * 60_000
SHIFT_MS = int((OFFSETS[1] - OFFSETS[0]).total_seconds()) * 1000


def moved(facts: Facts, job: JobFacts) -> bool:
    """Whether what the oracle knows of the job's schedule changes in the midst of the history."""
    return RELEASED in facts.asked and any(
        generation.first["schedule"].get("timezone") == MOVED for generation in job.generations
    )


def check(facts: Facts) -> list[Violation]:
    """Job by job."""
    if RELEASED not in facts.asked:
        return []
    at = next(entry[1] for entry in facts.entries if entry[0] == ASKED and entry[4] == RELEASED)
    found: list[Violation] = []
    for uid, job in facts.jobs.items():
        if moved(facts, job):
            walk = _Walk(facts, job, at)
            found += [Violation(RULE, facts.ended_at, uid, text) for text in walk.texts()]
    return found


class _Walk:
    """One job's occurrences, from link to link."""

    def __init__(self, facts: Facts, job: JobFacts, released_at: int) -> None:
        self._facts = facts
        self._job = job
        self._released_at = released_at
        self._begin = datetime.fromtimestamp(facts.begin / 1000, UTC)
        self._own: dict[int, list[Change]] = {}
        for identity, changes in facts.executions.items():
            instant = nominal_of(identity) if identity.startswith(f"{job.uid}-s-") else None
            if instant is not None:
                self._own[instant] = changes

    def texts(self) -> Iterator[str]:
        """Links that are missing, and records that are none."""
        yield from self._overlooked()
        met: set[int] = set()
        for generation in self._job.generations:
            if generation.first["state"] == "ACTIVE":
                yield from self._links(generation, met)
        for instant, changes in self._own.items():
            new = changes[-1].new
            if instant not in met and new is not None and not self._superseded(instant, changes):
                yield f"{instant} is {new['state']}, and follows from nothing"

    def _overlooked(self) -> Iterator[str]:
        """A refresh ends a generation at its last claimed instant: nothing later had been claimed by then."""
        for ended, following in pairwise(self._job.generations):
            refreshed = following.versions[0]
            if "begins" not in refreshed.item or ended.end is None:
                continue
            for instant, changes in self._own.items():
                first = changes[0].new
                mine = first is not None and first["gen"] == ended.number
                if mine and instant > ended.end and changes[0].step < refreshed.step:
                    yield f"{instant} had been claimed before the refresh that ends its generation at {ended.end}"

    def _superseded(self, instant: int, changes: list[Change]) -> bool:
        """It was claimed ahead by a generation that then ended; what had begun goes on, and what was decided by one who
        had not heard of it stands.
        """
        first, last = changes[0].new, changes[-1].new
        assert first is not None
        assert last is not None
        generation = self._job.generation(first["gen"])
        ended = generation is not None and generation.end is not None and generation.end < instant
        begun = any(change.move == "lease" for change in changes)
        unheard = generation is not None and self._job.unheard(generation, changes[-1])
        return last["state"] == "CANCELLED" or (ended and (begun or unheard))

    def _links(self, generation: Generation, met: set[int]) -> Iterator[str]:
        clock = self._facts.clock(self._facts.ended_at) - MARGIN_MS
        instant = self._first(generation)
        begins = generation.first.get("begins")
        if begins is not None and begins != instant:
            yield f"after the refresh it begins with {begins}; by the wall clock it is {instant}"
        while instant is not None and (generation.end is None or instant <= generation.end):
            changes = self._own.get(instant)
            if changes is None:
                if instant <= clock:
                    yield f"{instant} follows in generation {generation.number}, and no record explains it"
                return
            met.add(instant)
            planted = next(
                (c for c in changes if c.new and c.new["planted"] >= generation.number), changes[0]
            )
            assert planted.new is not None
            last = max(instant, int(planted.new.get("until", instant)))
            instant = self._rule(generation, planted.at).after(last)

    def _first(self, generation: Generation) -> int | None:
        rule = self._rule(generation, generation.versions[0].at)
        if "begins" not in generation.first:
            return rule.after(generation.begin)
        claimed = self._own.get(generation.begin)
        return rule.after(generation.begin - (SHIFT_MS if claimed else 0))

    def _rule(self, generation: Generation, at: int) -> Rule:
        return rule_of(generation.first["schedule"], self._begin, newer=at >= self._released_at)
