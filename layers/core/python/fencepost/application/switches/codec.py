"""Switches to stored attributes and back: one entry per tier, in the team's item or in the stage's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.application.codec import VERSION, compact, decoding, instant, ms
from fencepost.application.store import Item
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.policies import Tier
from fencepost.domain.switches import Halt


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSwitches:
    """The switches of the whole stage. One that was never touched is at revision 1; `stored`: its item is there."""

    revision: int = 1
    halts: tuple[Halt, ...] = ()
    stored: bool = True


def encode_halts(halts: Sequence[Halt]) -> list[dict[str, Any]] | None:
    """The stored form; None where there is none. Whose they are is told by the item in which they lie."""
    return [_encode(halt) for halt in halts] or None


def decode_halts(raw: Iterable[Mapping[str, Any]], whose: str | None) -> tuple[Halt, ...]:
    """Reads stored switches."""
    return tuple(_decode(each, whose) for each in raw)


def encode_stage(switches: StageSwitches) -> dict[str, Any]:
    """The stage's item."""
    return compact({"v": VERSION, "rev": switches.revision, "halts": encode_halts(switches.halts)})


def decode_stage(item: Item | None) -> StageSwitches:
    """Reads the stage's item. Raises UndecodableError."""
    if item is None:
        return StageSwitches(stored=False)
    return decoding(
        "stage",
        item,
        lambda raw: StageSwitches(revision=raw["rev"], halts=decode_halts(raw.get("halts", ()), None)),
    )


def _encode(halt: Halt) -> dict[str, Any]:
    return compact(
        {
            "tier": halt.tier.value,
            "since": to_ms(halt.since),
            "until": ms(halt.until),
            "by": halt.by,
            "note": halt.note,
        }
    )


def _decode(raw: Mapping[str, Any], whose: str | None) -> Halt:
    return Halt(
        tier=Tier(raw["tier"]),
        since=from_ms(raw["since"]),
        until=instant(raw.get("until")),
        by=raw["by"],
        note=raw.get("note"),
        whose=whose,
    )
