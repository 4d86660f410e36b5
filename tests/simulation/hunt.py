"""Hunts mutants: each in a process of its own, through the seeds, until a checker that may notice it does.

A seed that is bad without the mutant too is nobody's catch: the hunt goes on behind it.

python -m tests.simulation.hunt NAME FIRST LAST     one mutant; prints the seed that showed it and who noticed
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tests.simulation.mutants import Mutant, install
from tests.simulation.mutations import MUTANTS

LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Catch:
    """What became of a mutant: the number of seeds until somebody noticed (None: nobody did), and what was noticed."""

    mutant: Mutant
    seeds: int | None
    noticed: str

    @property
    def as_wanted(self) -> bool:
        """Caught, or an equivalent one that survived."""
        return (self.seeds is None) == self.mutant.equivalent


def hunted(mutant: Mutant, first: int, last: int) -> tuple[int, str] | None:
    """Hunts in this process, in which the code under test must not have been imported yet."""
    install(mutant)
    from tests.simulation.verdict import judge_seed

    for seed in range(first, last + 1):
        for violation in judge_seed(seed, mutant.profile).violations:
            if violation.rule[0] in mutant.bites or mutant.equivalent:
                return seed, f"{violation.rule}: {violation.text}"
    return None


@cache
def _plain(profile: str | None, seed: int) -> bool:
    """Whether nobody notices anything in the code as it is, which is what this process has imported."""
    from tests.simulation.verdict import judge_seed

    return not judge_seed(seed, profile).violations


def _caught(mutant: Mutant, limit: int) -> Catch:
    first = 1
    while first <= limit:
        seed, _, noticed = _asked(mutant.name, str(first), str(limit)).partition(" ")
        if seed == "-":
            break
        if _plain(mutant.profile, int(seed)):
            return Catch(mutant, int(seed), noticed)
        first = int(seed) + 1
    return Catch(mutant, None, "")


def _asked(*arguments: str) -> str:
    command = [sys.executable, "-m", "tests.simulation.hunt", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
    return done.stdout.strip()


def campaign(limit: int, only: str | None = None, wanted: Sequence[str] | None = None) -> Iterator[Catch]:
    """Hunts every mutant, or those that are `wanted`, in that order, and of them those whose name holds `only`."""
    known = {mutant.name: mutant for mutant in MUTANTS}
    for name in known if wanted is None else wanted:
        if only is None or only in name:
            yield _caught(known[name], limit)


def row(catch: Catch) -> str:
    """A line of the table."""
    seeds = "survives" if catch.seeds is None else str(catch.seeds)
    mark = "" if catch.as_wanted else "  <-- not as wanted"
    profile = catch.mutant.profile or "mix"
    return (
        f"{catch.mutant.name:52} {catch.mutant.module:36} {profile:12} {seeds:>8}  {catch.noticed[:60]}{mark}"
    )


def main(arguments: list[str]) -> None:
    """One mutant."""
    name, first, last = arguments
    found = hunted(next(each for each in MUTANTS if each.name == name), int(first), int(last))
    print(*(found or "-"))


if __name__ == "__main__":
    main(sys.argv[1:])
