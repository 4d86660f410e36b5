"""From a schedule to its wire form, which is also the stored one."""

from __future__ import annotations

from typing import assert_never

from fencepost.domain.instants import to_wire
from fencepost.domain.schedule.model import (
    Bounds,
    CronSchedule,
    DstPolicy,
    IntervalSchedule,
    OneOffSchedule,
    Schedule,
)
from fencepost.domain.schedule.reading import write_duration


def schedule_to_wire(schedule: Schedule) -> dict[str, object]:
    """The wire form, defaults left out. Reading it gives an equal schedule."""
    return _rule_to_wire(schedule) | _bounds_to_wire(schedule)


def _rule_to_wire(schedule: Schedule) -> dict[str, object]:
    match schedule:
        case CronSchedule():
            rule: dict[str, object] = {"cron": schedule.text, "timezone": schedule.timezone}
            if schedule.dst != DstPolicy():
                rule["dst"] = {"gap": str(schedule.dst.gap), "overlap": str(schedule.dst.overlap)}
            return rule
        case IntervalSchedule():
            return {"every": write_duration(schedule.every), "anchor": to_wire(schedule.anchor)}
        case OneOffSchedule():
            return {"at": to_wire(schedule.at)}
        case _:
            assert_never(schedule)


def _bounds_to_wire(bounds: Bounds) -> dict[str, object]:
    wire: dict[str, object] = {}
    if bounds.start_at is not None:
        wire["start_at"] = to_wire(bounds.start_at)
    if bounds.end_at is not None:
        wire["end_at"] = to_wire(bounds.end_at)
    if bounds.max_firings is not None:
        wire["max_firings"] = bounds.max_firings
    if bounds.jitter_seconds:
        wire["jitter_seconds"] = bounds.jitter_seconds
    if bounds.exclude:
        wire["exclude"] = list(bounds.exclude)
    return wire
