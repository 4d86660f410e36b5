"""Admission: who may start, now. Slots of a team, the backlog before them, and one firing of a job at a time."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.application.admission.backlog import Backlog
from fencepost.application.admission.context import Context
from fencepost.application.admission.marks import Marks
from fencepost.application.admission.overlap import LockBusy, LockHeld, OverlapGate, QueueFull
from fencepost.application.admission.pump import PumpReport
from fencepost.application.admission.slots import Full, SlotHeld, Slots

__all__ = [
    "Admission",
    "Backlog",
    "Context",
    "Full",
    "LockBusy",
    "LockHeld",
    "OverlapGate",
    "PumpReport",
    "QueueFull",
    "SlotHeld",
    "Slots",
    "admission",
]


@dataclass(frozen=True, slots=True)
class Admission:
    """The parts of admission, wired: one set per process."""

    slots: Slots
    backlog: Backlog
    gate: OverlapGate


def admission(context: Context) -> Admission:
    """Builds the parts over the given ports."""
    marks = Marks(context)
    slots = Slots(context)
    gate = OverlapGate(context, marks)
    return Admission(slots=slots, backlog=Backlog(context, slots, marks, gate), gate=gate)
