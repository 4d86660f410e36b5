"""The tables of a stage as data: what the infrastructure declares and the local engines create."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fencepost.application.store import Table

PARTITION_KEY = "pk"
SORT_KEY = "sk"
KEY_TYPE: Final = "S"
TTL_ATTRIBUTE = "expires"
"""Epoch seconds. DynamoDB may take days to delete an expired item: it is a broom, never a timer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table: both key attributes are text, nothing else is declared, there are no indexes."""

    table: Table
    time_to_live: bool
    point_in_time_recovery: bool = True


# A timer never expires: one that still exists is a firing not yet handed over.
SCHEMAS: Mapping[Table, TableSchema] = {
    Table.JOBS: TableSchema(table=Table.JOBS, time_to_live=True),
    Table.TIMERS: TableSchema(table=Table.TIMERS, time_to_live=False),
    Table.EXECUTIONS: TableSchema(table=Table.EXECUTIONS, time_to_live=True),
    Table.CONTROL: TableSchema(table=Table.CONTROL, time_to_live=True),
}


def stage_prefix(stage: str) -> str:
    """What the names of a stage's tables begin with."""
    return f"fencepost-{stage}-"


def table_names(prefix: str) -> Mapping[Table, str]:
    """The name of each table under `prefix`."""
    return {table: f"{prefix}{table}" for table in Table}
