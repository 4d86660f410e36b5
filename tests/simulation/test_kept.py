"""A campaign that was broken off goes on behind what it had judged, and only on the same code."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.simulation import campaign as campaigns
from tests.simulation.checkers.facts import Violation
from tests.simulation.coverage import COLUMNS, ROWS
from tests.simulation.kept import Kept
from tests.simulation.verdict import Verdict

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


def test_a_campaign_goes_on_behind_what_it_kept_and_counts_it(tmp_path, judged):
    path = tmp_path / "kept.jsonl"
    first = campaigns.campaign(range(1, 4), covering=True, kept=Kept(path))
    again = campaigns.campaign(range(1, 7), covering=True, kept=Kept(path), stop_at=9)
    assert judged == [1, 2, 3, 4, 5, 6]
    assert (first.seeds, again.seeds, again.known) == (3, 6, 3)
    assert again.firings == 6 * 200 + sum(range(1, 7))
    assert again.fewest_firings == 201
    assert again.cells == {CELL: 6, OTHER: sum(range(1, 7))}


def test_a_bad_seed_is_judged_again(tmp_path, judged):
    path = tmp_path / "kept.jsonl"
    for _ in range(2):
        tally = campaigns.campaign(range(3, 6), kept=Kept(path), stop_at=9)
        assert [each.seed for each in tally.bad] == [4]
    assert judged == [3, 4, 5, 4]


def test_what_was_judged_of_other_code_is_set_aside(tmp_path, judged):
    path = tmp_path / "kept.jsonl"
    campaigns.campaign(range(1, 3), kept=Kept(path))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({"code": "other"}), *lines[1:]]) + "\n")
    campaigns.campaign(range(1, 3), kept=Kept(path))
    assert judged == [1, 2, 1, 2]
    assert path.with_suffix(".other").exists()
