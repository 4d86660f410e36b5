"""(a) Every expected occurrence is explained by exactly one record, and none is extra; (h) and each record that did not
fire says rightly why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.checkers import zones
from tests.simulation.checkers.facts import (
    Change,
    Facts,
    Generation,
    JobFacts,
    Violation,
    counted,
    nominal_of,
)

RULE, WHY = "a ledger", "h reasons"
MARGIN_MS = 5 * 60_000
ENDED_FOR_GOOD = {"paused", "deleted"}


def check(facts: Facts) -> list[Violation]:
    """Job by job."""
    by_job: dict[str, dict[str, list[Change]]] = defaultdict(dict)
    for identity, changes in facts.executions.items():
        by_job[identity[:20]][identity] = changes
    found: list[Violation] = []
    for uid, job in facts.jobs.items():
        found += _Job(facts, job, by_job[uid]).check()
    return found


class _Job:
    """One job, its generations and its records."""

    def __init__(self, facts: Facts, job: JobFacts, records: dict[str, list[Change]]) -> None:
        self.facts = facts
        self.job = job
        self.records = records
        self.own = {nominal_of(each): each for each in records if each[21] == "s"}
        self.ranges: list[tuple[int, int, int, str]] = []
        for identity, changes in records.items():
            last = changes[-1].new
            first = nominal_of(identity)
            if last is not None and first is not None and "until" in last:
                self.ranges.append((first, last["until"], last["gen"], identity))

    def check(self) -> list[Violation]:
        """Expected ones, then extra ones."""
        found: list[Violation] = []
        if zones.moved(self.facts, self.job):
            return found
        clock = self.facts.clock(self.facts.ended_at)
        for generation in self.job.generations:
            for instant in self._expected(generation, clock):
                texts = self._explained(generation, instant)
                about = f"{self.job.uid}-s-{instant:013d}"
                found += [Violation(RULE, self.facts.ended_at, about, text) for text in texts]
        for nominal, identity in self.own.items():
            assert nominal is not None
            texts = self._extra(nominal, identity)
            found += [Violation(RULE, self.records[identity][0].at, identity, text) for text in texts]
        return found

    def _expected(self, generation: Generation, clock: int) -> tuple[int, ...]:
        """Occurrences that somebody must have explained by now."""
        state = generation.first["state"]
        if state == "DELETED" or (state == "PAUSED" and generation.end is None):
            return ()
        end = clock - MARGIN_MS if generation.end is None else min(generation.end, clock - MARGIN_MS)
        if generation.last["state"] == "ERROR" and generation.end is None:
            end = min(end, self._explained_until(generation))
        times = generation.rule.between(generation.begin, end)
        return times if generation.rule.most is None else self._counted(generation, times)

    def _explained_until(self, generation: Generation) -> int:
        """How far a generation came whose timer was set aside."""
        found = [generation.begin]
        for instant, identity in self.own.items():
            new = self.records[identity][-1].new
            if new is not None and instant is not None and new["planted"] == generation.number:
                found.append(max(instant, int(new.get("until", 0))))
        return max(found)

    def _counted(self, generation: Generation, times: tuple[int, ...]) -> tuple[int, ...]:
        """No more than the schedule's own count allows, those of earlier generations of it included."""
        mine = self.job.counting_with(generation)
        most, kept = generation.rule.most or 0, []
        ran = sum(self._ran(t, mine) for t in self.own if t is not None and t <= generation.begin)
        for instant in times:
            if ran >= most:
                break
            kept.append(instant)
            ran += self._ran(instant, mine)
        return tuple(kept)

    def _ran(self, instant: int, generations: set[int]) -> int:
        identity = self.own.get(instant)
        return 0 if identity is None else counted(self.records[identity], generations)[1]

    def _explained(self, generation: Generation, instant: int) -> Iterator[str]:
        covering = [
            identity
            for first, last, number, identity in self.ranges
            if first <= instant <= last and number == generation.number and nominal_of(identity) != instant
        ]
        covering += [
            identity
            for first, last, number, identity in self.ranges
            if first == instant and identity[21] == "z" and number == generation.number
        ]
        if instant in self.own:
            running = [identity for identity in covering if self._runs(identity)]
            if running and self._runs(self.own[instant]):
                yield f"it ran, and {running[0]} ran for it as well"
            yield from self._again(generation, instant, covering)
            if not covering:
                yield from self._taken_away(generation, instant)
        elif not covering:
            yield f"no record explains it (generation {generation.number})"
        elif len(covering) > 1:
            yield f"explained by {len(covering)} records: {', '.join(covering)}"

    def _again(self, generation: Generation, instant: int, covering: list[str]) -> Iterator[str]:
        """What the generation slept through is nothing that it had claimed."""
        own = self.records[self.own[instant]][-1].new
        spans = [identity for identity in covering if identity[21] == "z"]
        if spans and own is not None and own["planted"] == generation.number:
            yield f"it has a record of its own, and {spans[0]} explains it again"

    def _taken_away(self, generation: Generation, instant: int) -> Iterator[str]:
        """What an earlier generation cancelled is taken over by the one that has it as well."""
        own = self.records[self.own[instant]][-1].new
        if own is None or (own["state"], own.get("reason")) != ("CANCELLED", "superseded"):
            return
        if own["planted"] < generation.number and generation.ended_by not in ENDED_FOR_GOOD:
            yield f"cancelled for generation {own['planted']}, though {generation.number} has it"

    def _runs(self, identity: str) -> bool:
        return any(change.move == "lease" for change in self.records[identity])

    def _extra(self, instant: int, identity: str) -> Iterator[str]:
        """A record of an instant that no generation has, or whose generation ended before it."""
        claimants = [g for g in self.job.generations if g.begin < instant and g.rule.has(instant)]
        if not claimants:
            yield "no generation has this occurrence"
            return
        if any(g.end is None or instant <= g.end for g in claimants):
            return
        done = self.records[identity][-1]
        last = done.new
        if last is None or last["state"] == "CANCELLED" or self._runs(identity):
            return
        if any(self.job.unheard(each, done) for each in claimants):
            return
        if last.get("reason") == "excluded":  # so it was when it was claimed, ahead of the change
            return
        if last["due"] < self.facts.clock(self.facts.ended_at) - MARGIN_MS:
            yield f"it was superseded, and is {last['state']}"
