"""The newest record of a job's present generation: found however many of other generations lie before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.adapters.seam import PortCall, seamed
from fencepost.application import keys
from fencepost.application.codec import encode_execution
from fencepost.application.scanning.succession import NEWEST, newest_of_generation
from fencepost.application.store import Put, Query
from fencepost.domain.instants import to_wire
from fencepost.domain.model import Job
from tests.support.shard import Shard

HOURLY = {"cron": "0 * * * *", "timezone": "UTC"}


def fired(times: int) -> tuple[Shard, Job]:
    shard = Shard("2026-03-01T00:00:10Z")
    job = shard.register("report", HOURLY)
    for hour in range(1, times + 1):
        shard.scan(f"2026-03-{1 + hour // 24:02}T{hour % 24:02}:00:05Z")
    return shard, job


@pytest.mark.parametrize("behind", [0, 2, 3, 7])
def test_it_is_found_behind_records_of_other_generations(behind: int) -> None:
    shard, job = fired(9)
    records = sorted(shard.records(job), key=lambda record: record.due, reverse=True)
    chosen = records[behind]
    edited = replace(chosen, planted_generation=7)
    shard.store.write(Put(key=keys.execution(chosen.id), item=encode_execution(edited)))
    found = newest_of_generation(shard.store, replace(job, generation=7))
    assert found is not None
    assert to_wire(found.due) == to_wire(chosen.due)


def test_a_job_without_one_has_none_and_few_are_read_where_the_newest_is_one() -> None:
    shard, job = fired(NEWEST + 1)
    asked: list[int | None] = []

    def noted(call: PortCall, proceed):
        if call.method == "pages":
            query = call.args[0]
            assert isinstance(query, Query)
            asked.append(query.limit)
        return proceed()

    store = seamed(shard.store, "store", noted)
    assert newest_of_generation(store, job) is not None
    assert set(asked) == {3}
    assert newest_of_generation(store, replace(job, generation=7)) is None
    assert set(asked) == {3, NEWEST}, "no more than the newest fifty, and those only then"
