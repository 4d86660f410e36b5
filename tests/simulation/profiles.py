"""Mixes of what is drawn. `mixed` is the whole; the others crowd the operations that one part has to survive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tests.simulation.faults import Kind
from tests.simulation.kernel import MINUTE, MS, SECOND

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
    troubles: tuple[int, int] = (0, 3)
    trouble_weights: Weights = field(
        default_factory=lambda: {"missing": 3, "late": 2, "doubled": 2, "bunched": 1}
    )
    longest_gap: int = 60 * MINUTE
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
    focus: int = 0
    """How many jobs owners do something to; 0: all."""


MIXED = Profile()
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "mixed": MIXED,
        "calm": replace(
            MIXED,
            ops=(0, 0),
            faults=(0, 0),
            troubles=(0, 0),
            mail={},
            overlap=0.0,
            caps=(50, 50),
            flaky=0.0,
            workers=0.0,
            slowest=(200 * MS, 200 * MS),
            latency=(5 * MS, 20 * MS),
            skews=SECOND // 2,
            deaf=0.0,
            sparing=0.0,
        ),
        "generations": replace(
            MIXED,
            ops=(30, 50),
            op_weights={"edit": 10, "pause": 5, "resume": 8, "delete": 1, "recreate": 1, "same": 1},
            aims={"claim": 6, "settle": 2, "edit": 3, "pause": 2, "resume": 2, "cancel": 2, "adopt": 1},
            troubles=(1, 4),
        ),
        "misfires": replace(
            MIXED,
            troubles=(2, 5),
            trouble_weights={"missing": 8, "late": 2, "doubled": 2, "bunched": 2},
            catch_up=0.5,
            aims={"claim": 5, "skip_at_claim": 3, "lease": 1},
        ),
        "slots": replace(
            MIXED,
            caps=(1, 3),
            teams=(3, 3),
            firings=320,
            overlap=0.1,
            slowest=(5 * SECOND, 40 * SECOND),
            workers=0.3,
            op_weights={"cap": 5, "run_now": 4, "pause": 1, "resume": 1},
            aims={"join": 4, "lease": 4, "succeed": 4, "retry": 2, "slot": 4, "entry": 2, "mark": 3},
            mail={"duplicated": 0.1, "redelivered": 0.08, "delayed": 0.02, "reordered": 1.0},
        ),
        "overlaps": replace(
            MIXED,
            overlap=0.9,
            caps=(3, 12),
            slowest=(10 * SECOND, 60 * SECOND),
            workers=0.3,
            op_weights={"run_now": 8, "redrive": 2, "cancel": 1, "pause": 1, "resume": 1},
            aims={"lock": 5, "lease": 4, "succeed": 4, "join": 3, "retry": 2, "skip_overlap": 1},
            mail={"duplicated": 0.1, "redelivered": 0.08, "delayed": 0.02, "reordered": 1.0},
        ),
        "deliveries": replace(
            MIXED,
            faults=(14, 24),
            flaky=0.6,
            workers=0.25,
            op_weights={"redrive": 6, "cancel": 2, "run_now": 3},
            aims={
                "lease": 4,
                "succeed": 3,
                "retry": 3,
                "die": 3,
                "redrive": 2,
                "call": 3,
                "note": 3,
                "send": 2,
            },
            mail={"duplicated": 0.1, "redelivered": 0.1, "delayed": 0.05, "reordered": 1.0},
        ),
        "workers": replace(
            MIXED,
            workers=0.8,
            flaky=0.2,
            caps=(4, 10),
            latency=(20 * MS, 4 * SECOND),
            aims={"lease": 3, "note": 4, "retry": 2, "call": 3, "succeed": 2},
        ),
        "graves": replace(
            MIXED,
            workers=0.4,
            flaky=0.5,
            aims={"lease": 4, "note": 2, "die": 3, "send dead": 2},
            mail={"redelivered": 0.6, "duplicated": 0.05, "reordered": 1.0},
        ),
        "deaf": replace(MIXED, flaky=0.9, deaf=0.7, op_weights={"redrive": 5, "run_now": 1}),
        "planting": replace(
            MIXED,
            ops=(25, 40),
            op_weights={"edit": 4, "create": 2, "resume": 3, "pause": 2, "redrive": 3, "run_now": 4},
            fault_weights={Kind.PAUSE_BEFORE: 5, Kind.LATE_EFFECT: 3, Kind.LOST_ANSWER: 2},
            aims={"timer": 4, "watermark": 3, "create": 2, "edit": 2, "redrive": 2, "claim": 2},
        ),
        "switches": replace(
            MIXED,
            ops=(14, 26),
            op_weights={
                "halt": 6,
                "unhalt": 5,
                "halt_stage": 3,
                "unhalt_stage": 3,
                "cap": 1,
                "redrive": 2,
                "pause": 1,
                "resume": 1,
                "edit": 1,
                "run_now": 1,
            },
            aims={"claim": 2, "join": 5, "lease": 5, "skip_held": 4, "retry": 2, "mark": 2, "switch": 3},
            caps=(1, 8),
            catch_up=0.3,
            mail={"duplicated": 0.1, "redelivered": 0.08, "delayed": 0.02, "reordered": 1.0},
        ),
        "backfills": replace(
            MIXED,
            ops=(12, 24),
            focus=6,
            op_weights={
                "backfill": 10,
                "call_off": 4,
                "pause": 2,
                "resume": 2,
                "delete": 0.5,
                "edit": 1,
                "halt": 1,
                "unhalt": 1,
                "cap": 1,
            },
            aims={"claim": 5, "errand": 4, "lease": 3, "cancel": 3, "send": 2, "join": 1, "edit": 1},
        ),
        "calendars": replace(
            MIXED,
            ops=(16, 30),
            excluding=0.8,
            catch_up=0.4,
            op_weights={"calendar": 8, "uncalendar": 1, "edit": 4, "backfill": 1, "pause": 1, "resume": 1},
            aims={"claim": 5, "skip_at_claim": 5, "edit": 2, "adopt": 1},
            troubles=(1, 4),
        ),
        "pauses": replace(
            MIXED,
            ops=(24, 40),
            focus=8,
            expiring=0.9,
            op_weights={"pause": 12, "resume": 3, "edit": 3, "retune": 1, "delete": 0.5, "run_now": 1},
            aims={"pause": 3, "resume": 5, "claim": 4, "cancel": 3, "agenda": 3, "settle": 2, "adopt": 1},
            trouble_weights={"missing": 4, "late": 4, "doubled": 4, "bunched": 2},
            troubles=(1, 4),
        ),
        "manners": replace(
            MIXED,
            sparing=1.0,
            sharing=0.7,
            firings=320,
            caps=(3, 12),
            slowest=(3 * SECOND, 25 * SECOND),
            workers=0.1,
            op_weights={"hosts": 6, "run_now": 5, "pause": 2, "resume": 2, "edit": 3, "redrive": 2, "cap": 1},
            aims={"place": 5, "defer": 5, "lease": 4, "call": 2, "cancel": 1, "retry": 2},
            mail={"duplicated": 0.1, "redelivered": 0.08, "delayed": 0.02, "reordered": 1.0},
        ),
        "endings": replace(
            MIXED,
            ops=(24, 40),
            focus=6,
            ending=0.3,
            op_weights={
                "corrupt": 5,
                "edit": 6,
                "pause": 5,
                "resume": 5,
                "delete": 2,
                "recreate": 3,
                "retune": 2,
                "run_now": 1,
            },
            aims={
                "complete": 4,
                "fail": 4,
                "claim": 2,
                "edit COMPLETED": 2,
                "edit ERROR": 2,
                "pause COMPLETED": 2,
                "pause ERROR": 2,
                "resume ERROR": 2,
                "delete COMPLETED": 1,
                "delete ERROR": 1,
                "skip_at_claim": 1,
            },
        ),
    }
)

MIX: Weights = MappingProxyType(
    {
        "mixed": 6,
        "generations": 2,
        "misfires": 2,
        "slots": 1,
        "overlaps": 2,
        "deliveries": 2,
        "planting": 2,
        "switches": 2,
        "backfills": 1,
        "calendars": 1,
        "pauses": 1,
        "manners": 1,
        "endings": 2,
        "graves": 1,
        "workers": 1,
        "calm": 0.2,
    }
)
"""How often the mix that campaigns draw takes which profile."""
