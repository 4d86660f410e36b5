"""Profiles in which rare moves are common, so that every kind of trouble meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tests.simulation.faults import Kind
from tests.simulation.kernel import MINUTE, SECOND
from tests.simulation.mix import MIXED, OPS, Profile

_EVERYTHING = dict.fromkeys(OPS, 2.0)

_MEETING = replace(
    MIXED,
    faults=(40, 60),
    aimed_faults=1.0,
    fault_weights=dict.fromkeys(Kind, 1.0),
    partly=30,
    troubles=(2, 5),
    trouble_weights=dict.fromkeys(("missing", "late", "doubled", "bunched"), 1.0),
    longest_gap=15 * MINUTE,
    mail={"duplicated": 0.06, "delayed": 0.04, "redelivered": 0.04, "reordered": 1.0},
    flaky=0.5,
    keeping=0.1,
    sweeps=(1, 3),
)

MEETINGS: Mapping[str, Profile] = MappingProxyType(
    {
        "lives of jobs": replace(
            _MEETING,
            jobs=(24, 26),
            firings=450,
            focus=6,
            ending=0.3,
            ops=(110, 140),
            op_weights={
                **_EVERYTHING,
                "edit": 9,
                "pause": 9,
                "resume": 9,
                "delete": 5,
                "recreate": 6,
                "create": 4,
                "corrupt": 8,
            },
            aims={
                "pause COMPLETED": 2,
                "pause ERROR": 4,
                "pause ACTIVE": 1,
                "resume PAUSED": 1,
                "resume ERROR": 4,
                "fail": 2,
                "complete": 2,
                "edit ACTIVE": 1,
                "edit PAUSED": 2,
                "edit COMPLETED": 2,
                "edit ERROR": 4,
                "delete ACTIVE": 1,
                "delete PAUSED": 3,
                "delete COMPLETED": 3,
                "delete ERROR": 4,
                "create": 1,
                "settle": 1,
                "adopt CANCELLED": 2,
                "adopt SKIPPED": 4,
            },
        ),
        "ends of waiting": replace(
            _MEETING,
            caps=(1, 2),
            overlap=0.6,
            sharing=0.5,
            sparing=0.5,
            slowest=(10 * SECOND, 40 * SECOND),
            ops=(90, 120),
            op_weights={
                **_EVERYTHING,
                "edit": 8,
                "pause": 8,
                "resume": 8,
                "halt": 5,
                "unhalt": 5,
                "halt_stage": 3,
                "unhalt_stage": 3,
                "run_now": 4,
            },
            aims={
                "skip_overlap QUEUED": 2,
                "skip_overlap WAITING": 4,
                "skip_overlap RETRY_WAIT": 4,
                "skip_held QUEUED": 4,
                "skip_held WAITING": 1,
                "skip_held RETRY_WAIT": 4,
                "cancel QUEUED": 1,
                "cancel WAITING": 3,
                "cancel RETRY_WAIT": 4,
                "give_up QUEUED": 4,
                "give_up WAITING": 3,
                "give_up RETRY_WAIT": 1,
                "defer QUEUED": 1,
                "defer WAITING": 3,
                "defer RETRY_WAIT": 1,
                "join QUEUED": 1,
                "join RETRY_WAIT": 1,
                "redrive": 2,
                "skip_at_claim": 1,
            },
        ),
        "spoiled timers": replace(
            MIXED,
            workers=0.6,
            firings=480,
            ops=(60, 80),
            op_weights={"corrupt": 10, "resume": 14, "run_now": 2},
            aimed_ops=0.9,
            faults=(40, 60),
            aimed_faults=1.0,
            fault_weights={Kind.CRASH_AFTER: 8, Kind.PAUSE_AFTER: 3, Kind.LOST_ANSWER: 2},
            aims={"claim": 10, "note": 2, "timer": 2},
        ),
        "second calendars": replace(
            _MEETING,
            jobs=(24, 26),
            firings=450,
            caps=(4, 12),
            alike=True,
            excluding=0.8,
            catch_up=0.0,
            ops=(110, 140),
            aimed_ops=0.8,
            op_weights={**_EVERYTHING, "edit": 60, "calendar": 8},
            aims={"adopt SKIPPED": 6, "skip_at_claim": 6},
        ),
        "released late": replace(
            _MEETING,
            firings=450,
            sparing=1.0,
            sharing=0.8,
            caps=(3, 12),
            ops=(110, 140),
            aimed_ops=0.8,
            op_weights={**_EVERYTHING, "halt": 18, "unhalt": 24, "run_now": 0.5},
            aims={"skip_held RETRY_WAIT": 6, "skip_held QUEUED": 3, "defer QUEUED": 6},
            tiers=("standard",),
            catch_up=0.0,
            asleep=(16, 20),
        ),
    }
)
