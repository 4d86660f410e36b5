"""The mutants fit the code as it is, bite every checker from many sides, and a few are hunted in every run."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation import hunt, mutant_page
from tests.simulation.mutations import MUTANTS
from tests.simulation.profiles import PROFILES

LETTERS = "abcdefghi"
QUICK = ("the fence follows what was due", "the successor is forgotten", "one attempt too many")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_fits_the_code_as_it_is(mutant):
    changed = mutant.applied(mutant.path.read_text())
    compile(changed, str(mutant.path), "exec")
    assert mutant.profile is None or mutant.profile in PROFILES


def test_there_are_enough_from_many_modules_for_every_checker():
    real = [mutant for mutant in MUTANTS if not mutant.equivalent]
    bitten = Counter(letter for mutant in real for letter in mutant.bites)
    assert len(real) >= 30
    assert len({mutant.module for mutant in real}) >= 8
    assert {letter: bitten[letter] for letter in LETTERS if bitten[letter] < 2} == {}
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert sum(mutant.equivalent for mutant in MUTANTS) >= 1


def test_the_page_lists_the_mutants_that_there_are():
    """`make sim-mutants ARGS=--write` writes it; `ARGS="--write --only WORDS"` hunts a few."""
    lines = [line for line in mutant_page.PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    pairs = zip(MUTANTS, lines, strict=True)
    assert [mutant.name for mutant, line in pairs if not line.startswith(mutant_page.begins(mutant))] == []
    assert mutant_page.page((), hunt.LIMIT, mutant_page.PAGE.read_text()) == mutant_page.PAGE.read_text()


def test_a_row_that_was_hunted_elsewhere_is_hunted_anew():
    mutant = MUTANTS[0]
    caught = mutant_page.page([hunt.Catch(mutant, 7, "i wake-ups: it sleeps")], hunt.LIMIT)
    assert f"{mutant_page.begins(mutant)} 7 | i wake-ups: it sleeps |" in caught
    assert mutant_page.page((), hunt.LIMIT, caught) == caught
    moved = caught.replace(mutant.module, "domain.elsewhere")
    assert f"{mutant_page.begins(mutant)} {mutant_page.NOT_HUNTED} |  |" in mutant_page.page((), 9, moved)


@pytest.mark.parametrize("name", QUICK)
def test_a_few_are_hunted_at_once(name: str):
    (catch,) = hunt.campaign(10, name)
    assert catch.as_wanted
