"""A worker process that is killed in the middle of a call: the ledger stays exact."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]


def test_a_killed_worker_loses_its_lease_and_its_firing_finds_another(bereaved):
    first = bereaved.call
    assert bereaved.said == first.execution, "the command says what it interrupted"
    record = bereaved.service.only("payments", "report", "SUCCEEDED", within=60)
    assert [each["outcome"] for each in record["attempts"]] == ["worker_lost", "delivered"]
    again, second = bereaved.target.at("/hook")
    assert again == first
    assert (second.execution, second.body) == (first.execution, first.body)
    assert first.fence < second.fence == record["fence"]
    assert any("killed by SIGKILL" in line for line in bereaved.service.output)
    lapsed = [value for line in bereaved.service.lines("service") for value in line.get("LapsedLeases", [])]
    assert lapsed == [1.0]
