"""Mixes that are narrow enough to make one interleaving happen again and again; campaigns do not draw them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tests.simulation.faults import Kind
from tests.simulation.kernel import MINUTE, MS, SECOND
from tests.simulation.mix import MIXED, Profile

ALL_AIMED = replace(MIXED, ops=(0, 4), troubles=(0, 0), faults=(30, 40), aimed_faults=1.0)
# Only where the next occurrence but one lies by whole quarters of an hour behind the next does a refresh that forgets
# the wall clock still find the timer which it replaces.
UNEVEN = tuple(f"{first},{first + 14},{first + 44}" for first in range(0, 16, 5))
NEW_RULES = replace(
    MIXED,
    zones=True,
    prompt=True,
    ending=0.0,
    excluding=0.0,
    ops=(0, 4),
    op_weights={"refresh": 1},
    aimed_ops=0.0,
    troubles=(0, 0),
    faults=(5, 7),
    aimed_faults=0.0,
)

NARROW: Mapping[str, Profile] = MappingProxyType(
    {
        "changed by others": replace(
            MIXED,
            jobs=(30, 32),
            keeping=1.0,
            ending=0.35,
            firings=900,
            budgets=(1,),
            answers={"fail": 0.3, "never": 0.2},
            ops=(130, 160),
            aimed_ops=0.8,
            op_weights={"retune": 12, "resume": 9, "recreate": 6},
            faults=(5, 8),
            aims={"die": 5, "succeed": 2, "note": 5},
            troubles=(0, 0),
            latency=(20 * MS, 400 * MS),
        ),
        "older claims": replace(
            MIXED,
            alike=True,
            excluding=0.0,
            ending=0.0,
            ops=(90, 120),
            aimed_ops=0.9,
            op_weights={"edit": 1},
            faults=(40, 60),
            aimed_faults=1.0,
            fault_weights={Kind.PAUSE_BEFORE: 8, Kind.LATE_EFFECT: 2},
            pauses=(1 * SECOND, 20 * SECOND),
            aims={"claim": 1},
            troubles=(0, 0),
        ),
        "walks": replace(
            ALL_AIMED,
            jobs=(12, 14),
            brisk=8,
            catch_up=0.0,
            troubles=(6, 9),
            longest_gap=5 * MINUTE,
            trouble_weights={"missing": 1},
            pauses=(50 * SECOND, 3 * MINUTE),
            fault_weights={Kind.PAUSE_BEFORE: 1},
            aims={"claim late": 1},
        ),
        "late plants": replace(
            ALL_AIMED,
            ops=(30, 40),
            op_weights={"redrive": 1},
            aimed_ops=0.0,
            asks=1,
            flaky=1.0,
            answers={"fail": 0.6},
            budgets=(1, 2),
            pauses=(6 * MINUTE, 12 * MINUTE),
            fault_weights={Kind.PAUSE_BEFORE: 1},
            aims={"redrive": 1},
        ),
        "taken over": replace(
            ALL_AIMED,
            jobs=(8, 8),
            brisk=8,
            alike=True,
            asks=1,
            caps=(8, 12),
            ops=(40, 60),
            op_weights={"edit": 1},
            aimed_ops=0.0,
            pauses=(10 * SECOND, 90 * SECOND),
            fault_weights={Kind.PAUSE_AFTER: 2, Kind.PAUSE_BEFORE: 4, Kind.CRASH_AFTER: 1},
            aims={"edit ACTIVE": 4, "cancel": 6},
        ),
        "put off twice": replace(
            ALL_AIMED,
            flaky=1.0,
            answers={"fail": 0.9},
            budgets=(4,),
            caps=(8, 12),
            sharing=0.8,
            sparing=0.0,
            pauses=(20 * SECOND, 3 * MINUTE),
            fault_weights={Kind.PAUSE_BEFORE: 1},
            aims={"defer RETRY_WAIT": 1},
            mail={"duplicated": 0.4, "redelivered": 0.4, "reordered": 1.0},
        ),
        "wasted": replace(
            ALL_AIMED,
            answers={"accept": 0.9},
            caps=(8, 12),
            aims={"note": 1},
            mail={"duplicated": 0.8, "wasted": 0.7, "reordered": 1.0},
        ),
        "freed late": replace(
            ALL_AIMED,
            answers={"fail": 0.5, "accept": 0.45},
            budgets=(3, 4),
            caps=(1, 2),
            pauses=(4 * SECOND, 40 * SECOND),
            fault_weights={Kind.PAUSE_BEFORE: 1, Kind.PAUSE_AFTER: 1},
            aims={"slot free": 2, "retry": 1},
            mail={"duplicated": 0.3, "redelivered": 0.3, "reordered": 1.0},
        ),
        "one lane": replace(
            ALL_AIMED,
            teams=(1, 2),
            jobs=(14, 16),
            brisk=6,
            caps=(2, 3),
            lanes=1,
            tiers=("standard",),
            overlap=0.0,
            workers=0.0,
            slowest=(4 * SECOND, 10 * SECOND),
            pauses=(SECOND, 20 * SECOND),
            fault_weights={Kind.PAUSE_BEFORE: 1},
            aims={"mark dim": 1},
        ),
        "held back": replace(
            MIXED,
            jobs=(10, 12),
            teams=(6, 8),
            brisk=12,
            ops=(14, 20),
            op_weights={"halt": 1},
            aimed_ops=0.0,
            caps=(1, 2),
            workers=0.0,
        ),
        "new rules": replace(NEW_RULES, jobs=(32, 34), minutes=UNEVEN),
        "new rules beside claims": replace(
            NEW_RULES,
            asks=1,
            faults=(20, 30),
            aimed_faults=1.0,
            pauses=(30 * SECOND, 5 * MINUTE),
            fault_weights={Kind.PAUSE_BEFORE: 1},
            aims={"edit ACTIVE": 1},
        ),
    }
)
