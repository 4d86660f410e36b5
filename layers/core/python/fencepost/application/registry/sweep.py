"""Cancelling at once what a pause or a delete makes pointless, as far as a short look goes.

Delivery asks the job before it starts anything, so what this does not reach is cancelled when its turn comes. What it
does reach frees its place in the backlog now and shows its reason at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.moves import cancelled
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.store import Action, Committed, Delete, Query, Store, StoreBusyError, Table
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.instants import floor_ms
from fencepost.domain.judgement import started as has_started
from fencepost.domain.model import Execution, Job, Team
from fencepost.domain.states import NOT_RUNNING, Reason

LOOK = 200
"""How many of the newest records of each kind are looked at."""

_RUNNABLE = (ExecutionKind.OCCURRENCE, ExecutionKind.RUN_NOW, ExecutionKind.BACKFILL)
_DEFAULT_RETENTION = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sweep:
    """Which reason, and how long the records are kept."""

    reason: Reason
    now: datetime
    retention: timedelta


def cancel_unstarted(
    ports: RegistryPorts, job: Job, team: Team | None, *, started: bool
) -> tuple[Execution, ...]:
    """After a pause: firings that no attempt has touched; with `started`, those between two attempts as well."""
    victims = [
        record for record in waiting(ports.store, job.uid) if stopped_by_pause(record, started=started)
    ]
    return _cancel_all(ports, victims, _sweep(ports, Reason.PAUSED, team))


def cancel_deleted(ports: RegistryPorts, job: Job, team: Team | None) -> tuple[Execution, ...]:
    """After a delete: everything that is not running, whoever asked for it."""
    return _cancel_all(ports, list(waiting(ports.store, job.uid)), _sweep(ports, Reason.DELETED, team))


def waiting(store: Store, uid: str) -> Iterator[Execution]:
    """The unfinished executions of a job that are not running, among its newest records."""
    for kind in _RUNNABLE:
        for record in newest(store, uid, kind, LOOK):
            if record.state in NOT_RUNNING:
                yield record


def newest(store: Store, uid: str, kind: ExecutionKind, limit: int) -> Iterator[Execution]:
    """The readable ones of the last `limit` records of one kind, from the end of their order."""
    query = Query(
        table=Table.EXECUTIONS, pk=uid, first=f"{kind}#", last=f"{kind}#~", forward=False, limit=limit
    )
    for page in store.pages(query):
        for item in page:
            try:
                yield decode_execution(item)
            except UndecodableError:
                continue


def stopped_by_pause(record: Execution, *, started: bool) -> bool:
    """What has begun goes on (a redrive has), unless it waits for a retry and `started` says to end that too."""
    return started or not has_started(record)


def _sweep(ports: RegistryPorts, reason: Reason, team: Team | None) -> _Sweep:
    retention = _DEFAULT_RETENTION if team is None else team.retention
    return _Sweep(reason=reason, now=floor_ms(ports.clock.now()), retention=retention)


def _cancel_all(ports: RegistryPorts, victims: list[Execution], sweep: _Sweep) -> tuple[Execution, ...]:
    ended = (_cancel(ports.store, record, sweep) for record in victims)
    return tuple(record for record in ended if record is not None)


def _cancel(store: Store, record: Execution, sweep: _Sweep) -> Execution | None:
    """The cancelled record; None when somebody else moved it meanwhile."""
    move = cancelled(record, sweep.reason, now=sweep.now, retention=sweep.retention)
    entry = keys.waiting_entry(record)
    actions: list[Action] = [move.write] if entry is None else [move.write, Delete(key=entry)]
    try:
        outcome = store.transact(actions)
    except StoreBusyError:
        return None
    return move.record if isinstance(outcome, Committed) else None
