"""Who may do what: each function's tables, queues and keys, action by action. Nothing else is granted anywhere.

The functional tests run every handler within its grants (`tests/support/grants.py`): what is missing here fails there,
before it is an AccessDenied in production.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra.names import DEAD, DELIVERERS, TIERS, Fn

GET = "GetItem"
GET_MANY = "BatchGetItem"
QUERY = "Query"
SCAN = "Scan"
PUT = "PutItem"
UPDATE = "UpdateItem"
DELETE = "DeleteItem"
DELETE_MANY = "BatchWriteItem"
CHECK = "ConditionCheckItem"

Actions = tuple[str, ...]
Tables = Mapping[str, Actions]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What one function may do. `acts_for_teams`: assume their delivery roles; `seals` and `opens`: their keys;
    `reads_ledger_before`: the ledger that a restored one replaces.
    """

    tables: Tables
    sends: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    seals: bool = False
    opens: bool = False
    acts_for_teams: bool = False
    reads_ledger_before: bool = False


def _together(*parts: Tables) -> Tables:
    """All that any of the parts allows."""
    names = sorted({table for part in parts for table in part})
    return {
        name: tuple(sorted({action for part in parts for action in part.get(name, ())})) for name in names
    }


# Slots, backlog, marks, overlap: the doors that a firing passes, and what is set aside when it cannot be read.
_ADMITS: Tables = {
    "control": (GET, GET_MANY, QUERY, PUT, UPDATE, DELETE, CHECK),
    "executions": (GET, GET_MANY, UPDATE, CHECK),
    "jobs": (GET,),
}
# A wake-up of whatever kind, to its end: record, retry or watch timer, dead letter, and what the job asked to follow
# (a pause after deaths, its deletion after the last firing).
_ADVANCES: Tables = {
    "executions": (GET, GET_MANY, QUERY, PUT, UPDATE),
    "jobs": (GET, GET_MANY, PUT, UPDATE, DELETE),
    "timers": (PUT, DELETE),
}
# A timer into an execution: the claim's transaction, the successor, quarantine, the job's last words.
_CLAIMS: Tables = {
    "control": (GET, PUT, UPDATE, DELETE, CHECK),
    "executions": (GET, PUT, UPDATE),
    "jobs": (GET, GET_MANY, UPDATE),
    "timers": (QUERY, PUT, DELETE, DELETE_MANY, CHECK),
}
# A pause that ends by itself is a write of the job, with its revision and the generation that it ends.
_RESUMES: Tables = {"jobs": (GET, GET_MANY, PUT, UPDATE), "executions": (PUT, UPDATE)}
# A step of a backfill, and whatever else is done in steps.
_STEPS: Tables = {
    "executions": (GET, GET_MANY, QUERY, PUT, UPDATE),
    "jobs": (GET, QUERY, UPDATE),
    "timers": (PUT, DELETE_MANY),
}
# A team on its way out: its jobs are deleted, its letters, calendars and counts cleared away; and what deleted jobs leave
# behind is marked to expire.
_CLEARS: Tables = {
    "control": (GET, PUT, UPDATE, DELETE, DELETE_MANY),
    "executions": (QUERY, DELETE_MANY),
    "jobs": (GET, GET_MANY, QUERY, PUT, UPDATE, DELETE, DELETE_MANY, CHECK),
}
# The second net reads everything, and mends through the same doors as everybody.
_SWEEPS: Tables = {
    "control": (GET, PUT, CHECK),
    "executions": (SCAN, QUERY, PUT, CHECK),
    "jobs": (SCAN, QUERY, PUT, UPDATE, CHECK),
    "timers": (GET, GET_MANY),
}
# The audit reads what is claimed, what was decided by, and whether a timer is still there. It changes nothing.
_AUDITS: Tables = {"executions": (QUERY,), "jobs": (SCAN, QUERY), "timers": (GET, QUERY)}
# Owners declare, edit, pause, delete, redrive, list; administrators move jobs to newer time-zone rules.
_SERVES: Tables = {
    "timers": (GET, GET_MANY),
    "control": (GET_MANY, QUERY),
    "executions": (QUERY, DELETE, CHECK),
    "jobs": (GET, GET_MANY, QUERY, PUT, UPDATE, DELETE, CHECK),
}

_FIRINGS = (*TIERS, *DEAD, "pump")

GRANTS: Mapping[Fn, Grants] = {
    Fn.API: Grants(
        tables=_together(_SERVES, _CLAIMS, _RESUMES, _ADMITS, _ADVANCES, _STEPS),
        sends=_FIRINGS,
        seals=True,
        opens=True,
    ),
    Fn.TICK: Grants(
        tables=_together({"control": (QUERY, GET_MANY)}, _CLAIMS, _RESUMES),
        sends=(*TIERS, "scan", "pump"),
    ),
    Fn.SCAN: Grants(tables=_CLAIMS, sends=TIERS, consumes=("scan",)),
    Fn.PUMP: Grants(tables=_together(_ADMITS, _STEPS, _CLEARS), sends=_FIRINGS, consumes=("pump",)),
    Fn.DEAD_LETTER: Grants(
        tables=_together(_ADMITS, _ADVANCES),
        sends=_FIRINGS,
        consumes=DEAD,
        opens=True,
        acts_for_teams=True,
    ),
    Fn.SWEEP: Grants(tables=_together(_CLAIMS, _SWEEPS), sends=TIERS),
    Fn.AUDIT: Grants(tables=_AUDITS),
} | {
    function: Grants(
        tables=_together(_ADMITS, _ADVANCES),
        sends=_FIRINGS,
        consumes=(tier,),
        opens=True,
        acts_for_teams=True,
    )
    for tier, function in DELIVERERS.items()
}


def grants_of(function: Fn, *, restored: bool) -> Grants:
    """What a function may do in a stage; on restored tables the API recovers them as well."""
    grants = GRANTS[function]
    if not restored or function is not Fn.API:
        return grants
    return replace(grants, tables=_together(grants.tables, _SWEEPS), reads_ledger_before=True)
