"""Cancels what has not begun, by compare-and-set on state, generation and fence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.results import Raced
from fencepost.application.delivery.tools import Tools
from fencepost.application.store import StoreBusyError
from fencepost.domain.identity import ExecutionId
from fencepost.domain.judgement import started
from fencepost.domain.model import Execution
from fencepost.domain.states import NOT_RUNNING, Reason

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class CancelledNow:
    """It will not begin, or not go on."""

    record: Execution


@dataclass(frozen=True, slots=True)
class Stands:
    """It runs, is over, or has begun and may go on."""

    record: Execution


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is none of this id, or its team is not there."""


CancelAnswer: TypeAlias = CancelledNow | Stands | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """One per process."""

    tools: Tools
    endings: Endings

    def execution(
        self,
        identity: ExecutionId,
        reason: Reason,
        now: datetime,
        *,
        begun_too: bool = False,
        below: int | None = None,
    ) -> CancelAnswer:
        """Cancels what is queued or waits; `begun_too`: what waits for its next attempt as well; `below`: only what is
        of an older generation than that.

        Raises StoreError when a repeat may help.
        """
        for _ in range(ROUNDS):
            record = self.tools.reads.record(identity)
            team = None if record is None else self.tools.reads.team(record.team, now)
            if record is None or team is None:
                return Unknown()
            late = below is not None and record.generation >= below
            if late or record.state not in NOT_RUNNING or (started(record) and not begun_too):
                return Stands(record)
            result = self.endings.cancelled(record, reason, team, self.tools.reads.job(identity.uid))
            after = None if isinstance(result, Raced) else self.tools.reads.record(identity)
            if after is not None:
                return CancelledNow(after)
        raise StoreBusyError(f"{identity}: others keep moving it")
