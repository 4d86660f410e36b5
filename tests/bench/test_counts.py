"""No firing may cost more AWS calls or units than it did: counted on the wire, compared with the committed file."""

from __future__ import annotations

import pytest

from tests.bench import counts
from tests.bench.paths import BACKGROUND, PATHS, Story, success_full
from tests.bench.stage import Bench

STORIES = {**PATHS, **BACKGROUND}


@pytest.mark.parametrize("path", STORIES)
def test_no_count_has_grown(path):
    found = counts.totals({path: STORIES[path]()})
    excess = counts.grown(found, counts.expected())
    assert not excess, f"{excess}: if it must be so, say why and run `python -m tests.bench counts --write`"


def test_the_committed_counts_keep_to_the_design():
    committed = counts.expected()
    assert counts.grown({path: committed[path] for path in counts.BUDGET}, counts.BUDGET) == []
    assert set(committed) == set(STORIES)


def test_a_planted_extra_read_fails_the_check(monkeypatch):
    """One GetItem more in each batch, sent by a client that nobody asks about it."""
    honest = Story.batch

    def careless(self, limit=10):
        _read_once_more(self.bench)
        return honest(self, limit)

    monkeypatch.setattr(Story, "batch", careless)
    found = counts.totals({counts.FULL_BATCHES: success_full()})
    excess = counts.grown(found, counts.expected())
    assert [line.partition(" ")[0:1] for line in excess]
    assert {line.split(": ")[1].split(" ")[0] for line in excess} == {"calls", "read_units"}


def test_a_path_that_nobody_wrote_down_is_too_much():
    assert counts.grown({"new": {"calls": 1.0}}, {}) == ["new: calls 1, allowed 0"]
    assert counts.grown({"old": {"calls": 1.0}}, {"old": {"calls": 1.0}}) == []
    assert counts.fallen({"old": {"calls": 1.0}}, {"old": {"calls": 2.0}}) == ["old: calls 1, was 2"]


def _read_once_more(bench: Bench) -> None:
    """Straight through botocore: the store's own client, past every seam."""
    store = bench.stage.store
    client = store._client  # type: ignore[attr-defined]  # the adapter keeps its client to itself
    client.get_item(TableName="bench-jobs", Key={"pk": {"S": "T#payments"}, "sk": {"S": "T"}})
