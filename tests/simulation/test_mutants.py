"""The mutants fit the code as it is, bite every checker from many sides, and a few are hunted in every run."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation import hunt
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


@pytest.mark.parametrize("name", QUICK)
def test_a_few_are_hunted_at_once(name: str):
    (catch,) = hunt.campaign(10, name)
    assert catch.as_wanted
