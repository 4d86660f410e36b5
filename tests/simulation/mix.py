"""What is drawn, and how much of it, where nothing is crowded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tests.simulation.faults import Kind
from tests.simulation.kernel import MINUTE, MS, SECOND
from tests.simulation.plan import TIERS

Weights = Mapping[str, float]

OPS: Weights = MappingProxyType(
    {
        "edit": 6,
        "retune": 2,
        "same": 1,
        "pause": 3,
        "resume": 4,
        "delete": 1,
        "recreate": 1,
        "create": 1,
        "run_now": 2,
        "redrive": 3,
        "cancel": 1,
        "cap": 3,
        "corrupt": 0.3,
        "hosts": 1,
        "calendar": 1,
        "uncalendar": 0.2,
        "halt": 1,
        "unhalt": 1,
        "halt_stage": 0.4,
        "unhalt_stage": 0.4,
        "backfill": 1.5,
        "call_off": 0.5,
        "refresh": 0.1,
    }
)
FAULTS: Weights = MappingProxyType(
    {
        Kind.CRASH_BEFORE: 3,
        Kind.CRASH_AFTER: 3,
        Kind.LOST_ANSWER: 3,
        Kind.LOST_REQUEST: 2,
        Kind.LATE_EFFECT: 2,
        Kind.THROTTLE: 2,
        Kind.CONFLICT: 2,
        Kind.UNPROCESSED: 1,
        Kind.PAUSE_BEFORE: 2,
        Kind.PAUSE_AFTER: 2,
        Kind.CLOCK_STEP: 1,
    }
)
MAIL: Weights = MappingProxyType({"duplicated": 0.02, "delayed": 0.01, "redelivered": 0.01, "reordered": 1.0})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much of what. Pairs are bounds, both included."""

    jobs: tuple[int, int] = (20, 22)
    teams: tuple[int, int] = (3, 4)
    firings: int = 250
    ops: tuple[int, int] = (8, 24)
    op_weights: Weights = field(default_factory=lambda: OPS)
    aimed_ops: float = 0.6
    faults: tuple[int, int] = (7, 14)
    fault_weights: Weights = field(default_factory=lambda: FAULTS)
    aimed_faults: float = 0.7
    aims: Weights = field(default_factory=dict)
    keeping: float = 0.0
    """How many jobs are paused after deaths, or deleted after their last firing."""
    sweeps: tuple[int, int] = (0, 0)
    """How often the second net looks through everything."""
    partly: int = 0
    """How many calls in a row leave out a part of what they are asked for; 0: one, where it was aimed."""
    pauses: tuple[int, int] = (5 * SECOND, 15 * MINUTE)
    troubles: tuple[int, int] = (0, 3)
    trouble_weights: Weights = field(
        default_factory=lambda: {"missing": 3, "late": 2, "doubled": 2, "bunched": 1}
    )
    longest_gap: int = 60 * MINUTE
    asleep: tuple[int, int] = (0, 0)
    """How often nobody polls a tier's queue for some minutes."""
    mail: Weights = field(default_factory=lambda: MAIL)
    overlap: float = 0.25
    catch_up: float = 0.2
    caps: tuple[int, int] = (1, 6)
    flaky: float = 0.3
    workers: float = 0.15
    slowest: tuple[int, int] = (500 * MS, 20 * SECOND)
    latency: tuple[int, int] = (20 * MS, 2 * SECOND)
    skews: int = 2 * SECOND
    deaf: float = 0.1
    sparing: float = 0.2
    """How many teams spare hosts from the beginning, and (`sharing`) how many jobs share one."""
    sharing: float = 0.15
    excluding: float = 0.15
    ending: float = 0.05
    expiring: float = 0.3
    brisk: int = 0
    """How many jobs fire several times a minute."""
    pages: tuple[int, ...] = (1, 3, 25, 25)
    zones: bool = False
    """A newer release of the time-zone database is deployed, and most jobs live in the zone that it moves."""
    focus: int = 0
    """How many jobs owners do something to; 0: all."""
    budgets: tuple[int, ...] = (1, 2, 3, 4)
    """How many attempts a firing may have."""
    tiers: tuple[str, ...] = TIERS
    answers: Weights | None = None
    """How every target answers; None: drawn for each."""
    asks: int = 3
    """How often an owner asks who gets no good answer."""
    lanes: int = 8
    """Backlog lanes of a team and tier."""
    prompt: bool = False
    """Where a newer release of the time-zone database is deployed, everybody refreshes at once."""
    minutes: tuple[str, ...] = ()
    """At which minutes of every hour jobs fire; none: drawn for each, like its kind of schedule."""
    alike: bool = False
    """Edits change a schedule, but none of its instants."""


MIXED = Profile()
