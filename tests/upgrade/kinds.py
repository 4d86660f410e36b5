"""The kinds of items by where they lie, and how those with a codec are read and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from fencepost.application.admission.holdings import decode_holding, encode_holding
from fencepost.application.admission.lanes import decode_entry
from fencepost.application.admission.overlap import decode_lock
from fencepost.application.backfills.codec import decode_backfill, encode_backfill
from fencepost.application.calendars import decode_calendar, encode_calendar
from fencepost.application.codec import decode_execution, decode_timer, encode_execution, encode_timer
from fencepost.application.codec_job import (
    decode_detail,
    decode_ended_generation,
    decode_job,
    decode_team,
    encode_detail,
    encode_ended_generation,
    encode_job,
    encode_team,
)
from fencepost.application.delivery.dead_letters import decode_dead_letter
from fencepost.application.registry.revisions import decode_entry as decode_revision
from fencepost.application.registry.revisions import encode_entry as encode_revision
from fencepost.application.store import Item, Table
from fencepost.application.switches.codec import decode_stage, encode_stage

_PLACES = {
    Table.JOBS: {
        "team": r"T#[^/]+/T",
        "revision": r"(T#|STAGE|J#|E#).*/R#\d+",
        "listed team": r"TEAMS/.+",
        "name": r"N#.+",
        "job": r"J#.+/J",
        "ended generation": r"J#.+/G#.+",
        "detail": r"J#.+/P#.+",
        "backfill": r"J#.+/B#.+",
        "calendar": r"E#.+/C#.+",
        "use of a calendar": r"E#.+/U#.+",
    },
    Table.TIMERS: {"quarantined timer": r"Q#.+", "timer": r"\d{8}T\d{4}#.+"},
    Table.EXECUTIONS: {"dead letter": r"D#.+", "execution": r"[a-z2-7]{20}/.+"},
    Table.CONTROL: {
        "stage": r"Z/stage",
        "key of cursors": r"Z/cursors",
        "slot": r"S#.+",
        "backlog entry": r"[BO]#.+",
        "lock": r"L#.+",
        "mark": r"M#.+",
        "watermark": r"W#\d+/W",
        "scan lease": r"W#\d+/L",
        "tick lease": r"K/.+",
        "circuit": r"C#.+",
        "request key": r"I#.+",
        "usage": r"U#.+",
        "message set aside": r"X#.+",
        "agenda": r"A#.+",
        "cursor of the agenda": r"A/cursor",
        "backfill errand": r"E#backfill/.+",
        "forget errand": r"E#forget/.+",
        "purge errand": r"E#purge/.+",
        "tell errand": r"E#tell/.+",
        "place at a host": r"P#.+/\d+",
        "rate of a host": r"P#.+/rate",
    },
}
ITEMS = frozenset(kind for places in _PLACES.values() for kind in places)


def kind_of(table: Table, item: Item) -> str:
    """The kind of a stored item. Raises LookupError for one that has no name here yet."""
    place = f"{item['pk']}/{item['sk']}"
    for kind, pattern in _PLACES[table].items():
        if re.fullmatch(pattern, place):
            return kind
    raise LookupError(f"an item of a new kind lies at {table}: {place}")


@dataclass(frozen=True, slots=True)
class Codec:
    """How a kind is read; `write` gives its item back, but for the attributes `beside` that other writers keep there."""

    read: Callable[[Item], Any]
    write: Callable[[Any], Item] | None = None
    beside: frozenset[str] = frozenset()


def _calendar(item: Item) -> Any:
    return decode_calendar(item) or "deleted"


CODECS: dict[str, Codec] = {
    "team": Codec(decode_team, encode_team, frozenset({"expires"})),
    "revision": Codec(decode_revision, encode_revision, frozenset({"expires"})),
    "job": Codec(decode_job, encode_job, frozenset({"expires"})),
    "ended generation": Codec(decode_ended_generation, encode_ended_generation, frozenset({"expires"})),
    "detail": Codec(decode_detail, encode_detail, frozenset({"expires"})),
    "backfill": Codec(decode_backfill, encode_backfill, frozenset({"expires"})),
    "calendar": Codec(
        _calendar, lambda read: {} if read == "deleted" else encode_calendar(read), frozenset({"closing"})
    ),
    "timer": Codec(decode_timer, encode_timer),
    "execution": Codec(decode_execution, encode_execution),
    "dead letter": Codec(decode_dead_letter),
    "stage": Codec(decode_stage, encode_stage),
    "slot": Codec(decode_holding, encode_holding),
    "backlog entry": Codec(decode_entry),
    "lock": Codec(decode_lock),
}


def told(value: Any) -> Any:
    """A value that was read, as JSON: an object by its fields, anything else by its text."""
    if hasattr(value, "__dataclass_fields__"):
        return {each.name: told(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple | list):
        return [told(each) for each in value]
    if isinstance(value, frozenset | set):
        return sorted(str(each) for each in value)
    if isinstance(value, dict):
        return {str(name): told(each) for name, each in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int) else str(value)


def same(recorded: Any, now: Any) -> bool:
    """Everything that was recorded is read today; a field that came later is no difference."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        return all(name in now and same(each, now[name]) for name, each in recorded.items())
    if isinstance(recorded, list) and isinstance(now, list):
        return len(recorded) == len(now) and all(same(*pair) for pair in zip(recorded, now, strict=True))
    return bool(recorded == now)
