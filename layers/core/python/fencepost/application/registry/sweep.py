"""Cancelling at once what a pause or a delete makes pointless, as far as a short look goes.

Delivery asks the job before it starts anything, so what this does not reach is cancelled when its turn comes. What it
does reach frees its place in the backlog now and shows its reason at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.delivery.cancel import CancelledNow
from fencepost.application.registry.job_changes import Change
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.store import Query, Store, StoreError, Table
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.judgement import Cancel, eligible, started
from fencepost.domain.model import Execution, Job
from fencepost.domain.states import NOT_RUNNING, Reason

LOOK = 200
"""How many of the newest records of each kind are looked at."""
LONGEST = timedelta(seconds=10)
"""After so long the rest is left to delivery: the caller waits for an answer."""

RUNNABLE = (ExecutionKind.OCCURRENCE, ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL)


def cancel_unstarted(ports: RegistryPorts, paused: Job, *, begun_too: bool) -> tuple[Execution, ...]:
    """After a pause: firings that no attempt has touched (a redrive goes on); `begun_too`: those between two attempts
    as well. What is of the pause's own generation or a later one came after it, and stands.
    """
    victims = (
        record
        for record in waiting(ports.store, paused.uid)
        if record.generation < paused.generation and (begun_too or not started(record))
    )
    return _cancelled(ports, victims, Reason.PAUSED, begun_too=begun_too, below=paused.generation)


def cancel_deleted(ports: RegistryPorts, uid: str) -> tuple[Execution, ...]:
    """After a delete: everything that is not running, whoever asked for it."""
    return _cancelled(ports, waiting(ports.store, uid), Reason.DELETED, begun_too=True)


def waiting(store: Store, uid: str) -> Iterator[Execution]:
    """The unfinished executions of a job that are not running, among its newest records."""
    for kind in RUNNABLE:
        for record in newest(store, uid, kind, LOOK):
            if record.state in NOT_RUNNING:
                yield record


def newest(
    store: Store, uid: str, kind: ExecutionKind, limit: int, *, last: str = "~"
) -> Iterator[Execution]:
    """The readable ones of the last `limit` records of one kind, from the end of their order; `last`: from that key on."""
    query = Query(
        table=Table.EXECUTIONS, pk=uid, first=f"{kind}#", last=f"{kind}#{last}", forward=False, limit=limit
    )
    for page in store.pages(query):
        for item in page:
            try:
                yield decode_execution(item)
            except UndecodableError:
                continue


def would_cancel(store: Store, change: Change) -> list[Execution]:
    """Which of the job's newest waiting records `change` would end, by the same rules that delivery asks."""
    if change.before is None or not change.regenerated:
        return []
    return [
        record
        for record in waiting(store, change.job.uid)
        if isinstance(eligible(record, change.job, None), Cancel)
    ]


def _cancelled(
    ports: RegistryPorts,
    victims: Iterable[Execution],
    reason: Reason,
    *,
    begun_too: bool,
    below: int | None = None,
) -> tuple[Execution, ...]:
    """Those that were ended; what could not be is left to delivery."""
    ended: list[Execution] = []
    deadline = ports.clock.now() + LONGEST
    for record in victims:
        now = ports.clock.now()
        if now >= deadline:
            break
        try:
            answer = ports.cancel.execution(record.id, reason, now, begun_too=begun_too, below=below)
        except (StoreError, UndecodableError):
            continue
        if isinstance(answer, CancelledNow):
            ended.append(answer.record)
    return tuple(ended)
