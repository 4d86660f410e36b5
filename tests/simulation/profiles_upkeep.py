"""Mixes that crowd what owners and administrators do besides declaring jobs, and how jobs end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tests.simulation.faults import Kind
from tests.simulation.kernel import MINUTE, SECOND
from tests.simulation.mix import FAULTS, MIXED, Profile

UPKEEP: Mapping[str, Profile] = MappingProxyType(
    {
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
        "asked runs": replace(
            MIXED,
            ops=(50, 70),
            focus=6,
            aimed_ops=0.4,
            caps=(1, 2),
            slowest=(10 * SECOND, 40 * SECOND),
            op_weights={"run_now": 12, "backfill": 4, "pause": 6, "resume": 4},
            aims={"join": 4, "claim": 4, "lease": 2},
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
        "zones": replace(
            MIXED,
            zones=True,
            ending=0.0,
            excluding=0.0,
            ops=(14, 26),
            faults=(14, 22),
            pauses=(10 * SECOND, 5 * MINUTE),
            fault_weights={**FAULTS, Kind.PAUSE_BEFORE: 10, Kind.LATE_EFFECT: 4},
            op_weights={"refresh": 14, "edit": 2, "pause": 2, "resume": 3, "retune": 1},
            aims={"claim": 4, "edit ACTIVE": 8, "skip_at_claim": 2, "timer": 2, "resume": 1, "settle": 1},
        ),
        "endings": replace(
            MIXED,
            ops=(24, 40),
            firings=330,
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
