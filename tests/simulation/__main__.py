"""The simulator from the command line.

python -m tests.simulation --seed 7            one history as a story, if it is bad or with --story
python -m tests.simulation --seed 7 --shrink   what is left of a bad one when all is taken away that it does not need
python -m tests.simulation --n 20000           a campaign over the drawn mix, with the matrix of what met what
python -m tests.simulation --n 20000 --keep F  the same; goes on behind what F holds that ran nothing that has changed since
python -m tests.simulation --mutants           shows that the checkers bite
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.simulation import hunt, matrix, mutant_page
from tests.simulation.campaign import Tally, campaign, kind_of
from tests.simulation.checkers.facts import Violation
from tests.simulation.draw import plan_of
from tests.simulation.kept import Kept
from tests.simulation.plan import Plan
from tests.simulation.profiles import PROFILES
from tests.simulation.shrink import Shrinker, breaks, parts_of, size_of
from tests.simulation.story import story
from tests.simulation.verdict import judged, profile_of
from tests.simulation.world import History, simulate


def main(arguments: list[str] | None = None) -> int:
    """0 where everything is as it must be."""
    asked = _parser().parse_args(arguments)
    if asked.seed is not None:
        return _one(plan_of(asked.seed, asked.profile or profile_of(asked.seed)), asked)
    return _mutants(asked) if asked.mutants else _many(asked)


def _mutants(asked: argparse.Namespace) -> int:
    """Hunts them; the page is written after each, so that a hunt that is broken off is not lost."""
    catches: list[hunt.Catch] = []
    wanted = mutant_page.missing() if asked.missing else None
    for catch in hunt.campaign(asked.limit, asked.only, wanted):
        catches.append(catch)
        print(hunt.row(catch), flush=True)
        if asked.write:
            mutant_page.write(catches, asked.limit)
    wrong = [catch for catch in catches if not catch.as_wanted]
    print(f"{len(catches)} mutants, {len(wrong)} not as wanted")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="one history")
    parser.add_argument("--n", type=int, default=200, help="how many histories")
    parser.add_argument("--start", type=int, default=1, help="the first seed of a campaign")
    parser.add_argument("--profile", choices=sorted(PROFILES), help="instead of the drawn mix")
    parser.add_argument("--about", help="only the lines of a story that name this")
    parser.add_argument("--story", action="store_true", help="tell the story of a good history as well")
    parser.add_argument("--shrink", action="store_true", help="tell a bad history at its smallest")
    parser.add_argument("--tries", type=int, default=300, help="how many histories to shrink one")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--keep-going", type=int, default=1, metavar="BAD", help="stop after so many bad ones"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="where what is judged is kept, to go on later"
    )
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants")
    parser.add_argument("--only", help="mutants whose name holds this")
    parser.add_argument("--missing", action="store_true", help="those that the page does not show as wanted")
    parser.add_argument("--write", action="store_true", help="write the mutants' page")
    parser.add_argument("--limit", type=int, default=hunt.LIMIT, help="seeds for each mutant")
    return parser


def _one(plan: Plan, asked: argparse.Namespace) -> int:
    history = simulate(plan)
    found = judged(history)
    if found and asked.shrink:
        plan, history, found = _shrunk(plan, found[0], asked.tries)
    if found or asked.story:
        for line in story(history, asked.about or (found[0].about if found else None)):
            print(line)
    print(f"\nseed {plan.seed} ({plan.profile}): {history.firings} firings, {history.journal.step} steps")
    for violation in found:
        print(f"  {violation.rule}: {violation.about}: {violation.text} ({violation.at / 60e6:.3f} min)")
    if found and not asked.shrink:
        print("the same with --shrink tells it at its smallest")
    return 1 if found else 0


def _shrunk(plan: Plan, violation: Violation, tries: int) -> tuple[Plan, History, tuple[Violation, ...]]:
    """The smallest history that breaks the same rule in the same way, what is left of its plan told first."""
    wanted = kind_of(violation.rule, violation.text)
    plan = Shrinker(
        breaks(wanted), tries, lambda smaller: print(f"... {size_of(smaller)}", flush=True)
    ).shrunk(plan)
    for part in parts_of(plan):
        print(part)
    print()
    history = simulate(plan)
    same = [each for each in judged(history) if kind_of(each.rule, each.text) == wanted]
    return plan, history, tuple(same)


def _many(asked: argparse.Namespace) -> int:
    seeds = range(asked.start, asked.start + asked.n)
    tally = campaign(
        seeds,
        asked.profile,
        processes=asked.processes,
        covering=True,
        stop_at=asked.keep_going,
        told=_progress,
        kept=None if asked.keep is None else Kept(asked.keep),
    )
    _progress(tally)
    for kind, count in tally.kinds.most_common():
        print(f"  {count:4d} {kind}")
    for verdict in tally.bad:
        first = verdict.violations[0]
        print(f"  seed {verdict.seed} ({verdict.profile}): {first.rule}: {first.about}: {first.text}")
        print(f"    make sim SEED={verdict.seed} ARGS='--shrink --profile {verdict.profile}'")
    if tally.small:
        print(f"  {len(tally.small)} have too few firings or faults: {', '.join(map(str, tally.small))}")
    for line in matrix.report(tally.cells):
        print(line)
    missing = matrix.empty(tally.cells) if tally.seeds >= matrix.FULL else []
    for row, column in missing:
        print(f"  empty: {row} x {column}")
    surprising = matrix.surprising(tally.cells)
    for row, column in surprising:
        print(f"  met, though it cannot be: {row} x {column}")
    return 1 if tally.bad or missing or surprising else 0


def _progress(tally: Tally) -> None:
    rate = (tally.seeds + len(tally.small) - tally.known) / max(tally.seconds, 0.001)
    print(
        f"{tally.seeds} histories, {tally.firings} firings, {tally.faults} faults, {len(tally.bad)} bad; "
        f"{rate:.1f} a second; at least {tally.fewest_firings} firings each",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
