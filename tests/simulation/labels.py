"""What a write does, in the words of the state tables, read off the raw items: the rows of the coverage matrix.

Nothing of the code under test is asked. A label is a move of an execution or of a job, or a word for a write that is
no move (``slot``, ``timer``, ``mark`` and the like).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOVES = (
    "claim",
    "skip_at_claim",
    "settle",
    "join",
    "lease",
    "defer",
    "skip_overlap",
    "cancel",
    "give_up",
    "succeed",
    "retry",
    "die",
    "redrive",
    "adopt",
)
JOB_MOVES = ("create", "edit", "pause", "resume", "delete", "fail")

_CREATED = {"QUEUED": "claim", "SKIPPED": "skip_at_claim", "CANCELLED": "settle"}
_FROM_RUNNING = {"SUCCEEDED": "succeed", "RETRY_WAIT": "retry", "DEAD": "die"}
_FROM_UNSTARTED = {
    "WAITING": "join",
    "RUNNING": "lease",
    "RETRY_WAIT": "defer",
    "SKIPPED": "skip_overlap",
    "CANCELLED": "cancel",
    "DEAD": "give_up",
}
_FROM_FINAL = {"DEAD": "redrive", "CANCELLED": "adopt"}
_CONTROL = {
    "S": "slot",
    "B": "entry",
    "O": "entry",
    "L": "lock",
    "M": "mark",
    "W": "watermark",
    "K": "tick_lease",
    "C": "circuit",
}

Item = Mapping[str, Any]


def table_of(word: str) -> str:
    """The table whose writes a word is for."""
    if word in JOB_MOVES:
        return "jobs"
    if word in {"timer", "forget"}:
        return "timers"
    return "executions" if word in {*MOVES, "note", "letter"} else "control"


def label(table: str, pk: str, sk: str, old: Item | None, new: Item | None) -> str:
    """The word for a write that leaves `new` where `old` was."""
    match table:
        case "executions":
            return "letter" if pk.startswith("D#") else execution_move(old, new)
        case "jobs":
            return job_move(old, new) if sk == "J" else "other"
        case "timers":
            return "timer" if new is not None else "forget"
        case _:
            return "scan_lease" if pk.startswith("W#") and sk == "L" else _CONTROL.get(pk[:1], "other")


def execution_move(old: Item | None, new: Item | None) -> str:
    """The move of an execution's record; ``note`` where its state stays."""
    if new is None:
        return "expired"
    state = str(new["state"])
    if old is None:
        return _CREATED.get(state, "impossible")
    before = str(old["state"])
    if before == "RUNNING" and state != "RUNNING":
        return _FROM_RUNNING.get(state, "impossible")
    if before in _FROM_FINAL and state == "QUEUED":
        return _FROM_FINAL[before]
    if before in {"QUEUED", "WAITING", "RETRY_WAIT"} and (state != before or _attempts(new) > _attempts(old)):
        return _FROM_UNSTARTED.get(state, "impossible")
    return "note" if state == before else "impossible"


def _attempts(item: Item) -> int:
    return int(item.get("attempt", 0))


def job_move(old: Item | None, new: Item | None) -> str:
    """The move of a job."""
    if old is None or new is None:
        return "create"
    if new["state"] != old["state"]:
        moves = {"PAUSED": "pause", "ACTIVE": "resume", "DELETED": "delete", "ERROR": "fail"}
        return moves.get(str(new["state"]), "impossible")
    return "exhaust" if new["rev"] == old["rev"] else "edit"
