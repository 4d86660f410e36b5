"""A campaign that was broken off goes on behind what it had judged, as far as the code is the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.simulation import campaign as campaigns
from tests.simulation import trail
from tests.simulation.checkers.facts import Violation
from tests.simulation.coverage import COLUMNS, ROWS
from tests.simulation.fingerprint import fingerprint, prints_of, touched
from tests.simulation.kept import Kept
from tests.simulation.trail import bits
from tests.simulation.verdict import Verdict, judge_seed

CELL, OTHER = (ROWS[0], COLUMNS[0]), (ROWS[-1], COLUMNS[-1])
BROKEN = Violation(rule="a ledger", at=0, about="x", text="twice")


def verdict(seed: int, *violations: Violation) -> Verdict:
    return Verdict(
        seed=seed,
        profile="mixed",
        violations=violations,
        firings=200 + seed,
        faults=5,
        steps=1_000,
        cells=Counter({CELL: 1, OTHER: seed}),
    )


@pytest.fixture
def judged(monkeypatch):
    """The seeds that were judged; seed 4 is bad."""
    seen: list[int] = []

    def judge(seed: int, profile: str | None = None, *, covering: bool = False) -> Verdict:
        seen.append(seed)
        return verdict(seed, *([BROKEN] if seed == 4 else []))

    monkeypatch.setattr(campaigns, "judge_seed", judge)
    return seen


@pytest.mark.parametrize("name", ["kept.jsonl", "kept.jsonl.xz"])
def test_a_campaign_goes_on_behind_what_it_kept_and_counts_it(tmp_path, judged, name):
    path = tmp_path / name
    first = campaigns.campaign(range(1, 4), covering=True, kept=Kept(path))
    again = campaigns.campaign(range(1, 7), covering=True, kept=Kept(path), stop_at=9)
    assert judged == [1, 2, 3, 4, 5, 6]
    assert (first.seeds, again.seeds, again.known) == (3, 6, 3)
    assert again.firings == 6 * 200 + sum(range(1, 7))
    assert again.fewest_firings == 201
    assert again.cells == {CELL: 6, OTHER: 6}


def test_a_bad_seed_is_judged_again(tmp_path, judged):
    path = tmp_path / "kept.jsonl"
    for _ in range(2):
        tally = campaigns.campaign(range(3, 6), kept=Kept(path), stop_at=9)
        assert [each.seed for each in tally.bad] == [4]
    assert judged == [3, 4, 5, 4]


def test_for_each_small_history_of_the_drawn_mix_one_more_is_drawn(monkeypatch):
    def judge(seed: int, profile: str | None = None, *, covering: bool = False) -> Verdict:
        """Those of seeds 2 and 5 are small, the latter is bad as well."""
        whole = verdict(seed, *([BROKEN] if seed == 5 else []))
        return replace(whole, faults=4) if seed == 2 else replace(whole, firings=199) if seed == 5 else whole

    monkeypatch.setattr(campaigns, "judge_seed", judge)
    tally = campaigns.campaign(range(1, 5), stop_at=9)
    assert (tally.seeds, tally.small, tally.fewest_firings) == (4, [2, 5], 201)
    assert tally.firings == sum(200 + seed for seed in (1, 3, 4, 6))
    assert [each.seed for each in tally.bad] == [5]
    assert campaigns.campaign(range(1, 5), "mixed", stop_at=9).small == [2]


CODE = {
    "function application/a.py:one": "1",
    "function application/a.py:two": "1",
    "function application/a.py:Three.four": "1",
    "import application/a.py:Check": "1",
    "other application/a.py:Three": "1",
    "other domain/model.py": "1",
}


def ran(prints: Mapping[str, str], *names: str) -> int:
    """The functions as `trail` numbers them."""
    numbered = sorted(key.removeprefix("function ") for key in prints if key.startswith("function "))
    return bits(numbered.index(f"application/a.py:{name}") for name in names)


def kept_after(path: Path, code: Mapping[str, str], *verdicts: Verdict) -> list[Verdict]:
    """What is kept of verdicts on `CODE` when the code is another."""
    kept = Kept(path, CODE)
    for each in verdicts:
        kept.add(each)
    kept.write()
    return Kept(path, code).verdicts(range(100))


def changed(*keys: str) -> dict[str, str]:
    return CODE | dict.fromkeys(keys, "2")


def test_a_change_of_a_function_touches_the_histories_that_ran_it(tmp_path):
    """And the others are kept, their functions under the numbers that they have now."""
    path, newer = tmp_path / "kept.jsonl", changed("function application/a.py:one")
    newer["function application/a.py:earlier"] = "1"
    mine, other = ran(CODE, "one", "two"), ran(CODE, "two", "Three.four")
    found = kept_after(path, newer, replace(verdict(1), ran=mine), replace(verdict(2), ran=other))
    assert [(each.seed, each.ran) for each in found] == [(2, ran(newer, "two", "Three.four"))]
    assert path.with_suffix(".before").exists()
    assert Kept(path, newer).verdicts(range(100)) == found


def test_a_function_that_is_gone_has_changed(tmp_path):
    newer = {key: digest for key, digest in CODE.items() if not key.endswith(":two")}
    found = kept_after(
        tmp_path / "kept.jsonl",
        newer,
        replace(verdict(1), ran=ran(CODE, "two")),
        replace(verdict(2), ran=ran(CODE, "one")),
    )
    assert [each.seed for each in found] == [2]


@pytest.mark.parametrize(
    "newer",
    [
        changed("other application/a.py:Three"),
        changed("other domain/model.py"),
        changed("import application/a.py:Check"),
        changed("loose application/a.py:abc"),
        {key: digest for key, digest in CODE.items() if "model" not in key},
    ],
)
def test_a_change_outside_functions_touches_every_history(tmp_path, newer):
    assert not kept_after(tmp_path / "kept.jsonl", newer, replace(verdict(1), ran=ran(CODE, "one")))


def test_a_history_that_nobody_followed_is_touched_by_every_change(tmp_path):
    newer = changed("function application/a.py:one")
    assert not kept_after(tmp_path / "kept.jsonl", newer, verdict(1))


def test_what_is_new_or_not_imported_any_more_touches_nothing(tmp_path):
    newer = CODE | {"function application/a.py:new": "1", "other application/a.py:NEW": "1"}
    del newer["import application/a.py:Check"]
    kept = replace(verdict(1), ran=ran(CODE, "one"))
    assert [each.seed for each in kept_after(tmp_path / "kept.jsonl", newer, kept)] == [1]


SOURCE = '''"""A module."""
from x import y
LIMIT = 3

class Base:
    """Says."""
    def one(self):
        """Promises."""
        return LIMIT

class Derived(Base):
    pass
'''


@pytest.mark.parametrize(
    ("old", "new", "touches"),
    [
        ("Promises", "Keeps", frozenset()),
        ("# nothing", "# a comment", frozenset()),
        ("return LIMIT", "return LIMIT + 1", {"a.py:Base.one"}),
        ("def one(self)", "def one(self, more=0)", {"a.py:Base.one"}),
        ("        return LIMIT\n", "        return LIMIT\n\n    def two(self):\n        pass\n", frozenset()),
        ("        return LIMIT\n", "        return LIMIT\n\n    def __eq__(self, _):\n        pass\n", None),
        ("class Derived(Base):\n    pass", "class Derived(Base):\n    def one(self):\n        pass", None),
        ("LIMIT = 3", "LIMIT = 4", None),
        ("LIMIT = 3", "LIMIT = 3\nOTHER = 4", frozenset()),
        ("LIMIT = 3", "LIMIT = 3\nprint()", None),
        ("from x import y", "from x import y, z", frozenset()),
        ("from x import y", "from z import y", None),
        ("from x import y", "", frozenset()),
    ],
)
def test_what_a_change_of_the_source_touches(old, new, touches):
    before = prints_of(SOURCE.encode(), "a.py", apart=True)
    after = prints_of(SOURCE.replace(old, new).encode(), "a.py", apart=True)
    assert touched(before, after) == touches


def test_the_functions_of_the_fingerprint_are_those_that_are_followed():
    functions = {key.removeprefix("function ") for key in fingerprint() if key.startswith("function ")}
    assert functions == set(trail.numbers())


def ran_twice(seeds: Sequence[int]) -> list[int | None]:
    """What each seed ran when it came first, then when all that is remembered was there."""
    return [judge_seed(seed).ran for seed in (*seeds, *seeds)]


def test_what_is_remembered_from_earlier_histories_hides_no_function():
    """In a process of its own, for this one has imported what is to be followed."""
    seeds = (1, 20)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=trail.follow) as pool:
        found = pool.submit(ran_twice, seeds).result()
    assert found[: len(seeds)] == found[len(seeds) :]
    assert all(each is not None and each.bit_count() > 300 for each in found)
    assert judge_seed(1, "calm").ran is None
