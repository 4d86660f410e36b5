"""What a write does, in the words of the state tables, read off the raw items: the rows of the coverage matrix.

Nothing of the code under test is asked. A label is a move of an execution or of a job, or a word for a write that is
no move (``slot``, ``timer``, ``mark`` and the like).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_NOT_RUNNING = ("QUEUED", "WAITING", "RETRY_WAIT")
EXECUTION_MOVES: Mapping[str, tuple[str, ...]] = {
    "claim": (),
    "skip_at_claim": (),
    "settle": (),
    "join": ("QUEUED", "RETRY_WAIT"),
    "lease": _NOT_RUNNING,
    "defer": _NOT_RUNNING,
    "skip_overlap": _NOT_RUNNING,
    "skip_held": _NOT_RUNNING,
    "cancel": _NOT_RUNNING,
    "give_up": _NOT_RUNNING,
    "succeed": ("RUNNING",),
    "retry": ("RUNNING",),
    "die": ("RUNNING",),
    "redrive": ("DEAD",),
    "adopt": ("CANCELLED", "SKIPPED"),
}
JOBS_MOVES: Mapping[str, tuple[str, ...]] = {
    "create": (),
    "pause": ("ACTIVE", "COMPLETED", "ERROR"),
    "resume": ("PAUSED", "ERROR"),
    "fail": ("ACTIVE",),
    "complete": ("ACTIVE",),
    "edit": ("ACTIVE", "PAUSED", "COMPLETED", "ERROR"),
    "delete": ("ACTIVE", "PAUSED", "COMPLETED", "ERROR"),
}
"""Each move with the states that it leads out of; none where it creates the record."""


def _arrows(moves: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(arrow(move, source, moves) for move in moves for source in moves[move] or ("",))


def arrow(move: str, source: str, moves: Mapping[str, tuple[str, ...]]) -> str:
    """The word for a move out of one state: the move's own where there is only one."""
    return f"{move} {source}" if len(moves[move]) > 1 else move


MOVES, JOB_MOVES = tuple(EXECUTION_MOVES), tuple(JOBS_MOVES)
ARROWS, JOB_ARROWS = _arrows(EXECUTION_MOVES), _arrows(JOBS_MOVES)

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
_UNSTARTED = frozenset(_NOT_RUNNING)
_FROM_FINAL = {"DEAD": "redrive", "CANCELLED": "adopt", "SKIPPED": "adopt"}
_CONTROL = {
    "S": "slot",
    "B": "entry",
    "O": "entry",
    "L": "lock",
    "M": "mark",
    "W": "watermark",
    "K": "tick_lease",
    "C": "circuit",
    "P": "place",
    "E": "errand",
    "A": "agenda",
    "Z": "switch",
}

Item = Mapping[str, Any]

_CLOSER: Mapping[str, tuple[str, Callable[[str, str, Item | None], bool]]] = {
    "claim": ("claim late", lambda _, sk, new: new is not None and "until" in new),
    "slot": ("slot free", lambda _, sk, new: new is None),
    "mark": ("mark dim", lambda _, sk, new: new is not None and "dim" in new),
}
"""A closer word for some writes, besides the word itself."""


def words(table: str, pk: str, sk: str, old: Item | None, new: Item | None) -> tuple[str, ...]:
    """The word for a write, the one for its arrow in the table where that is another, and a closer one."""
    word = label(table, pk, sk, old, new)
    one = arrow_of(word, old)
    found = (word,) if one in {None, word} else (word, str(one))
    more = _CLOSER.get(word)
    return found if more is None or not more[1](pk, sk, new) else (*found, more[0])


def arrow_of(word: str, old: Item | None) -> str | None:
    """The arrow of a move out of `old`; None for a write that is no move."""
    moves = EXECUTION_MOVES if word in EXECUTION_MOVES else JOBS_MOVES
    if word not in moves:
        return None
    return arrow(word, "" if old is None else state_of(old), moves)


def state_of(item: Item) -> str:
    """The state as it is shown: an exhausted job's is COMPLETED."""
    return "COMPLETED" if item.get("exhausted") and item["state"] == "ACTIVE" else str(item["state"])


def table_of(word: str) -> str:
    """The table whose writes a word is for."""
    word = word.partition(" ")[0]
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
    if before in _UNSTARTED and (state != before or _put_off_again(old, new)):
        held = state == "SKIPPED" and new.get("reason") != "overlap"
        return "skip_held" if held else _FROM_UNSTARTED.get(state, "impossible")
    return "note" if state == before else "impossible"


def _put_off_again(old: Item, new: Item) -> bool:
    """It counts another attempt without a call, or waits longer for its host."""
    return int(new.get("attempt", 0)) > int(old.get("attempt", 0)) or (
        new["state"] == "RETRY_WAIT" and new.get("retry") != old.get("retry")
    )


def job_move(old: Item | None, new: Item | None) -> str:
    """The move of a job."""
    if old is None or new is None:
        return "create"
    if new["state"] != old["state"]:
        moves = {"PAUSED": "pause", "ACTIVE": "resume", "DELETED": "delete", "ERROR": "fail"}
        return moves.get(str(new["state"]), "impossible")
    if new["rev"] != old["rev"]:
        return "edit"
    return "complete" if new.get("exhausted") and not old.get("exhausted") else "note"
