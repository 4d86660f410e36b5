"""What becomes of a firing that a switch held: its owner's misfire policy, as of when the switch was back.

Every occurrence has its own record by then, so each is judged for itself: all come to the same end whoever judges
which of them first, since none looks at the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias, assert_never

from fencepost.domain.misfire import CATCH_UP_CEILING
from fencepost.domain.policies import Misfire, MisfirePolicy
from fencepost.domain.schedule import Schedule, count_occurrences


@dataclass(frozen=True, slots=True)
class Runs:
    """It runs, late."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """It does not run, and its record says why."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A firing of `nominal`, the last of what it stands for being `last`, held until `back`. `edge`: whatever was due by
    then was held for longer than the grace as well.
    """

    nominal: datetime
    last: datetime
    back: datetime
    grace: timedelta

    @property
    def edge(self) -> datetime:
        """What was due later was held too short a time to be missed."""
        return self.back - self.grace


Verdict: TypeAlias = Runs | LeftOut


def after_hold(
    held: Held, misfire: Misfire, schedule: Schedule, later_one_runs: Callable[[], bool]
) -> Verdict:
    """Whether a firing that was held for longer than the grace still runs. `later_one_runs` is asked only under
    run-once-late: whether a later firing of the job up to the edge runs, or ran.
    """
    if misfire.policy is MisfirePolicy.SKIP:
        return LeftOut("its job skips what it missed")
    if held.back - held.last > misfire.window:
        return LeftOut("it was older than the misfire window")
    match misfire.policy:
        case MisfirePolicy.RUN_ONCE_LATE:
            return LeftOut("a later run stands for it") if later_one_runs() else Runs()
        case MisfirePolicy.CATCH_UP:
            most = min(misfire.max_runs, CATCH_UP_CEILING)
            behind = count_occurrences(schedule, held.nominal, held.edge, most + 1)
            return LeftOut(f"more than {most} runs were missed") if behind > most else Runs()
        case _:
            assert_never(misfire.policy)
