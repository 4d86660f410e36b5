"""The simulator from the command line.

python -m tests.simulation --seed 7            one history as a story, if it is bad or with --story
python -m tests.simulation --n 20000           a campaign over the drawn mix, with the matrix of what met what
python -m tests.simulation --mutants           shows that the checkers bite
"""

from __future__ import annotations

import argparse
import os
import sys

from tests.simulation import coverage, hunt, mutant_page
from tests.simulation.campaign import Tally, campaign
from tests.simulation.draw import plan_of
from tests.simulation.profiles import PROFILES
from tests.simulation.story import story
from tests.simulation.verdict import judged, profile_of
from tests.simulation.world import simulate


def main(arguments: list[str] | None = None) -> int:
    """0 where everything is as it must be."""
    asked = _parser().parse_args(arguments)
    if asked.seed is not None:
        return _one(asked.seed, asked.profile or profile_of(asked.seed), asked.about, story_too=asked.story)
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
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--keep-going", type=int, default=1, metavar="BAD", help="stop after so many bad ones"
    )
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants")
    parser.add_argument("--only", help="mutants whose name holds this")
    parser.add_argument("--missing", action="store_true", help="those that the page does not show as wanted")
    parser.add_argument("--write", action="store_true", help="write the mutants' page")
    parser.add_argument("--limit", type=int, default=hunt.LIMIT, help="seeds for each mutant")
    return parser


def _one(seed: int, profile: str, about: str | None, *, story_too: bool) -> int:
    history = simulate(plan_of(seed, profile))
    found = judged(history)
    if found or story_too:
        for line in story(history, about or (found[0].about if found else None)):
            print(line)
    print(f"\nseed {seed} ({profile}): {history.firings} firings, {history.journal.step} steps")
    for violation in found:
        print(f"  {violation.rule}: {violation.about}: {violation.text} ({violation.at / 60e6:.3f} min)")
    return 1 if found else 0


def _many(asked: argparse.Namespace) -> int:
    seeds = range(asked.start, asked.start + asked.n)
    tally = campaign(
        seeds,
        asked.profile,
        processes=asked.processes,
        covering=True,
        stop_at=asked.keep_going,
        told=_progress,
    )
    _progress(tally)
    for kind, count in tally.kinds.most_common():
        print(f"  {count:4d} {kind}")
    for verdict in tally.bad:
        first = verdict.violations[0]
        print(f"  seed {verdict.seed} ({verdict.profile}): {first.rule}: {first.about}: {first.text}")
    for line in coverage.report(tally.cells):
        print(line)
    missing = coverage.empty(tally.cells) if tally.seeds >= coverage.FULL else []
    for row, column in missing:
        print(f"  empty: {row} x {column}")
    return 1 if tally.bad or missing else 0


def _progress(tally: Tally) -> None:
    rate = tally.seeds / max(tally.seconds, 0.001)
    print(
        f"{tally.seeds} histories, {tally.firings} firings, {tally.faults} faults, {len(tally.bad)} bad; "
        f"{rate:.1f} a second; at least {tally.fewest_firings} firings each",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
