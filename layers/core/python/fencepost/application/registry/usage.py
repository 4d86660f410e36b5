"""How many jobs a team has: a count that is cheap and nearly right, and exact where it would refuse.

The count is kept beside the writes, never inside their transactions: an item that every writer of a team touches
would make them conflict.
"""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.registry.results import OverLimit
from fencepost.application.store import Absent, Present, Put, Query, Store, StoreError, Update, either
from fencepost.domain.model import Team


def count_job(store: Store, team: str, difference: int) -> None:
    """Notes that a job came or went. A lost note is found out by `job_limit`."""
    always = either(Absent(), Present())
    write = Update(key=keys.usage(team), set={"v": VERSION}, add={"jobs": difference}, condition=always)
    try:
        store.write(write)
    except StoreError:
        return


def jobs_counted(store: Store, team: str) -> int:
    """The count as it stands."""
    item = store.get(keys.usage(team))
    return 0 if item is None else max(0, int(item.get("jobs", 0)))


def job_limit(store: Store, team: Team) -> OverLimit | None:
    """Whether one more job would exceed the team's limit. Near the limit the names are counted, and the count mended."""
    if jobs_counted(store, team.name) < team.max_jobs:
        return None
    names = recount(store, team.name)
    return None if names < team.max_jobs else OverLimit("max_jobs", names + 1, team.max_jobs)


def recount(store: Store, team: str) -> int:
    """Counts the names that are taken, and keeps the result."""
    names = keys.name_claim(team, "-")
    total = sum(len(page) for page in store.pages(Query(table=names.table, pk=names.pk)))
    store.write(Put(key=keys.usage(team), item={"v": VERSION, "jobs": total}))
    return total
