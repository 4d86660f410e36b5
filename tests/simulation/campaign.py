"""Many seeds, in a few processes, until one is bad or all are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from dataclasses import dataclass, field
from multiprocessing import get_context

from fencepost.runtime.clock import SystemClock
from tests.simulation.coverage import Cell
from tests.simulation.kept import Kept
from tests.simulation.trail import follow
from tests.simulation.verdict import Verdict, judge_seed
from tests.simulation.world import FEWEST_FIRINGS

CHUNK = 10
FEWEST_FAULTS = 5
"""What a history of the drawn mix is struck by at least, as it has so many firings."""


@dataclass(slots=True)
class Tally:
    """What a campaign has seen; `known`: how many of the seeds had been judged before it began; `small`: those whose
    histories are too poor to count among the others; `cells`: in how many histories they were met.
    """

    seeds: int = 0
    known: int = 0
    firings: int = 0
    faults: int = 0
    steps: int = 0
    fewest_firings: int = 1 << 30
    small: list[int] = field(default_factory=list)
    bad: list[Verdict] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, verdict: Verdict) -> None:
        """One more seed. A small history is judged like any other."""
        if verdict.violations:
            self.bad.append(verdict)
            self.kinds.update({kind_of(each.rule, each.text) for each in verdict.violations})
        if verdict.firings < FEWEST_FIRINGS or verdict.faults < FEWEST_FAULTS:
            self.small.append(verdict.seed)
            return
        self.seeds += 1
        self.firings += verdict.firings
        self.faults += verdict.faults
        self.steps += verdict.steps
        self.fewest_firings = min(self.fewest_firings, verdict.firings)
        self.cells.update(set(verdict.cells))


def kind_of(rule: str, text: str) -> str:
    """What is alike about violations: the words without the figures."""
    return f"{rule}: " + "".join(char for char in text if not char.isdigit())[:100]


def _chunk(seeds: Sequence[int], profile: str | None, covering: bool) -> list[Verdict]:
    return [judge_seed(seed, profile, covering=covering) for seed in seeds]


def verdicts(
    seeds: Sequence[int], profile: str | None, *, processes: int, covering: bool
) -> Iterator[Verdict]:
    """The verdicts, as they come."""
    if processes == 1:
        for seed in seeds:
            yield judge_seed(seed, profile, covering=covering)
        return
    chunks = [seeds[place : place + CHUNK] for place in range(0, len(seeds), CHUNK)]
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=follow, max_tasks_per_child=100
    )
    try:
        waiting: set[Future[list[Verdict]]] = set()
        for chunk in chunks:
            waiting.add(pool.submit(_chunk, chunk, profile, covering))
            if len(waiting) >= 3 * processes:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for each in done:
                    yield from each.result()
        for each in as_completed(waiting):
            yield from each.result()
    finally:
        pool.shutdown(cancel_futures=True)


def campaign(
    seeds: Sequence[int],
    profile: str | None = None,
    *,
    processes: int = 1,
    covering: bool = False,
    stop_at: int = 1,
    told: Callable[[Tally], None] | None = None,
    kept: Kept | None = None,
) -> Tally:
    """Judges `seeds` until `stop_at` of them are bad. `told` hears now and then how far it is; what is `kept` is not
    judged again. In the drawn mix a small history does not count: for each, one more seed is drawn behind the others.
    """
    clock, tally = SystemClock(), Tally()
    began, more = clock.now(), 0
    while seeds and len(tally.bad) < stop_at:
        known = [] if kept is None else kept.verdicts(seeds)
        for verdict in known:
            tally.add(verdict)
        tally.known += len(known)
        asked = set(seeds) - {verdict.seed for verdict in known}
        for verdict in verdicts(sorted(asked), profile, processes=processes, covering=covering):
            tally.add(verdict)
            if kept is not None:
                kept.add(verdict)
            tally.seconds = (clock.now() - began).total_seconds()
            if told is not None and tally.seeds % 100 == 0:
                told(tally)
            if len(tally.bad) >= stop_at:
                break
        small = len(tally.small) if profile is None else 0
        seeds = range(seeds[-1] + 1, seeds[-1] + 1 + small - more)
        more = small
    if kept is not None:
        kept.write()
    return tally
