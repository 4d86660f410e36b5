"""Who may do what: each function's tables, queues and keys, action by action. Nothing else is granted anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infra.names import DEAD, DELIVERERS, TIERS, Fn

GET = "GetItem"
GET_MANY = "BatchGetItem"
QUERY = "Query"
PUT = "PutItem"
UPDATE = "UpdateItem"
DELETE = "DeleteItem"
DELETE_MANY = "BatchWriteItem"
CHECK = "ConditionCheckItem"
SCAN = "Scan"

_READ = (GET, GET_MANY, QUERY)
_CHANGE = (*_READ, PUT, UPDATE, DELETE, CHECK)
# Whatever its kind, a wake-up runs the same use case on its execution; so all who handle one may do as much.
_ADVANCE: Mapping[str, tuple[str, ...]] = {
    "jobs": (*_READ, PUT, UPDATE, CHECK),
    "timers": (QUERY, PUT, DELETE, DELETE_MANY, CHECK),
    "executions": (*_READ, PUT, UPDATE, DELETE, CHECK),
    "control": _CHANGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What one function may do. `acts_for_teams`: assume their delivery roles; `seals` and `opens`: their keys."""

    tables: Mapping[str, tuple[str, ...]]
    sends: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    seals: bool = False
    opens: bool = False
    acts_for_teams: bool = False


_SENDS = (*TIERS, *DEAD)

GRANTS: Mapping[Fn, Grants] = {
    Fn.API: Grants(
        tables={
            "jobs": _CHANGE,
            "timers": (*_READ, PUT, DELETE, DELETE_MANY, CHECK),
            "executions": _CHANGE,
            "control": _CHANGE,
        },
        sends=(*TIERS, "pump"),
        seals=True,
        opens=True,
    ),
    Fn.TICK: Grants(
        tables={"control": (GET, QUERY, PUT, UPDATE)},
        sends=("scan", "pump"),
    ),
    Fn.SCAN: Grants(tables=_ADVANCE, sends=_SENDS, consumes=("scan",)),
    Fn.PUMP: Grants(tables=_ADVANCE, sends=_SENDS, consumes=("pump",)),
    Fn.DEAD_LETTER: Grants(tables=_ADVANCE, sends=_SENDS, consumes=DEAD, opens=True, acts_for_teams=True),
    Fn.SWEEP: Grants(
        tables={
            **_ADVANCE,
            "jobs": (*_ADVANCE["jobs"], SCAN),
            "executions": (*_ADVANCE["executions"], SCAN),
        },
        sends=_SENDS,
    ),
} | {
    function: Grants(tables=_ADVANCE, sends=_SENDS, consumes=(tier,), opens=True, acts_for_teams=True)
    for tier, function in DELIVERERS.items()
}
