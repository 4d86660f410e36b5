"""Deletes what has expired: on AWS the tables do it themselves."""

from __future__ import annotations

from typing import Any

from fencepost.application.store import Key, Share, Store, Table
from fencepost.domain.instants import to_ms
from fencepost.runtime.events import Event
from fencepost.runtime.function import Handler
from fencepost.runtime.stage import Stage

EXPIRING = (Table.JOBS, Table.EXECUTIONS, Table.CONTROL)


def build(stage: Stage) -> Handler:
    """A handler that sweeps the whole store once."""

    def handle(event: Event, context: object) -> dict[str, Any]:
        del event, context
        now = to_ms(stage.clock.now()) // 1000
        return {"deleted": sum(_sweep(stage.store, table, now) for table in EXPIRING)}

    return handle


def _sweep(store: Store, table: Table, now: int) -> int:
    expired = [
        Key(table, item["pk"], item["sk"])
        for page in store.scan(Share(table=table))
        for item in page
        if isinstance(item.get("expires"), int) and item["expires"] <= now
    ]
    return len(expired) - len(store.batch_delete(expired)) if expired else 0
