"""Reading a whole table, in shares: for the second net and audits."""

from __future__ import annotations

import pytest

from fencepost.application.store import Key, Put, Share, Store, Table


def written(store: Store, prefix: str, partitions: int, each: int) -> set[tuple[str, str]]:
    """Items over several partitions of the jobs table, and one elsewhere that no scan of it may show."""
    made = set()
    for p in range(partitions):
        for n in range(each):
            key = Key(Table.JOBS, f"{prefix}scan-{p}", f"{n:03d}")
            store.write(Put(key=key, item={"n": n}))
            made.add((key.pk, key.sk))
    store.write(Put(key=Key(Table.CONTROL, f"{prefix}elsewhere", "x"), item={"n": 1}))
    return made


@pytest.mark.parametrize("shares", [1, 3])
def test_all_shares_together_are_the_whole_table_once(store: Store, key, shares: int) -> None:
    prefix = key().pk
    made = written(store, prefix, partitions=5, each=7)
    seen = [
        (str(item["pk"]), str(item["sk"]))
        for number in range(shares)
        for page in store.scan(Share(table=Table.JOBS, number=number, of=shares))
        for item in page
        if str(item["pk"]).startswith(prefix)
    ]
    assert len(seen) == len(set(seen))
    assert set(seen) == made
