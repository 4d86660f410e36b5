"""Hunts mutants: each in a process of its own, through the seeds, until a checker that may notice it does.

python -m tests.simulation.hunt NAME SEEDS     one mutant; prints the seeds it took and who noticed
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


def hunted(mutant: Mutant, limit: int) -> Catch:
    """Hunts in this process, in which the code under test must not have been imported yet."""
    install(mutant)
    from tests.simulation.verdict import judge_seed

    for seed in range(1, limit + 1):
        for violation in judge_seed(seed, mutant.profile).violations:
            if violation.rule[0] in {*mutant.bites, "x"}:
                return Catch(mutant, seed, f"{violation.rule}: {violation.text}")
    return Catch(mutant, None, "")


def campaign(
    limit: int, only: str | None = None, told: Callable[[Catch], None] | None = None
) -> Iterator[Catch]:
    """Hunts every mutant, or those whose name holds `only`."""
    for mutant in MUTANTS:
        if only is not None and only not in mutant.name:
            continue
        command = [sys.executable, "-m", "tests.simulation.hunt", mutant.name, str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{mutant.name}: {done.stderr[-2000:]}")
        seeds, _, noticed = done.stdout.strip().partition(" ")
        catch = Catch(mutant, None if seeds == "-" else int(seeds), noticed)
        if told is not None:
            told(catch)
        yield catch


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
    name, limit = arguments
    catch = hunted(next(each for each in MUTANTS if each.name == name), int(limit))
    print("-" if catch.seeds is None else catch.seeds, catch.noticed)


if __name__ == "__main__":
    main(sys.argv[1:])
