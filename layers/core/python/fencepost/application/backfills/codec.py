"""Backfills to stored items and back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fencepost.application import keys
from fencepost.application.codec import VERSION, compact, decoding, instant, ms
from fencepost.application.errands.errand import Errand, ErrandKind
from fencepost.application.store import Absent, Item, Put, Update, equals, every
from fencepost.domain.backfill import Backfill, BackfillState
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Overlap
from fencepost.domain.schedule import decode_schedule, schedule_to_wire

OUTLIVES = timedelta(days=30)
"""How much longer than its executions a backfill is kept."""


def encode_backfill(backfill: Backfill) -> dict[str, Any]:
    """The stored form."""
    return compact(
        {
            "v": VERSION,
            "team": backfill.team,
            "job": backfill.job,
            "rev": backfill.revision,
            "state": backfill.state.value,
            "from": to_ms(backfill.first),
            "to": to_ms(backfill.before),
            "rate": backfill.rate,
            "overlap": backfill.overlap.value,
            "force": backfill.force or None,
            "schedule": schedule_to_wire(backfill.schedule),
            "gen": backfill.generation,
            "note": backfill.note,
            "request": backfill.request,
            **_encode_progress(backfill),
        }
    )


def _encode_progress(backfill: Backfill) -> dict[str, Any]:
    return {
        "at": to_ms(backfill.asked_at),
        "by": backfill.asked_by,
        "cursor": to_ms(backfill.cursor),
        "next": to_ms(backfill.next_at),
        "released": backfill.released,
        "left_out": backfill.left_out,
        "ended": ms(backfill.ended_at),
        "ended_by": backfill.ended_by,
        "why": backfill.why,
        "swept": backfill.swept,
    }


def decode_backfill(item: Item) -> Backfill:
    """Reads a stored backfill. Raises UndecodableError."""
    return decoding("backfill", item, _read)


def _read(item: Item) -> Backfill:
    return Backfill(
        id=str(item["sk"]).removeprefix("B#"),
        uid=str(item["pk"]).removeprefix("J#"),
        team=item["team"],
        job=item["job"],
        first=from_ms(item["from"]),
        before=from_ms(item["to"]),
        rate=item["rate"],
        overlap=Overlap(item["overlap"]),
        force=item.get("force", False),
        schedule=decode_schedule(item["schedule"]),
        generation=item["gen"],
        cursor=from_ms(item["cursor"]),
        next_at=from_ms(item["next"]),
        asked_at=from_ms(item["at"]),
        asked_by=item["by"],
        request=item["request"],
        revision=item["rev"],
        state=BackfillState(item["state"]),
        note=item.get("note"),
        released=item["released"],
        left_out=item["left_out"],
        ended_at=instant(item.get("ended")),
        ended_by=item.get("ended_by"),
        why=item.get("why"),
        swept=item.get("swept"),
    )


def created(backfill: Backfill) -> Put:
    """The first write of a backfill."""
    where = keys.backfill(backfill.uid, backfill.id)
    return Put(key=where, item=encode_backfill(backfill), condition=Absent())


def rewritten(before: Backfill, after: Backfill, retention: timedelta | None = None) -> Update:
    """Writes what differs, if nobody else has written meanwhile. `retention`: it has ended, and may go some day."""
    old, new = encode_backfill(before), encode_backfill(after)
    if retention is not None and after.ended_at is not None:
        new["expires"] = to_ms(after.ended_at + retention + OUTLIVES) // 1000
    return Update(
        key=keys.backfill(before.uid, before.id),
        set={name: value for name, value in new.items() if old.get(name) != value},
        condition=every(equals("rev", before.revision), equals("state", before.state.value)),
    )


def errand_of(backfill: Backfill) -> Errand:
    """What makes the backfill go on."""
    subject = f"{backfill.team}/{backfill.uid}/{backfill.id}"
    return Errand(kind=ErrandKind.BACKFILL, subject=subject, team=backfill.team)
