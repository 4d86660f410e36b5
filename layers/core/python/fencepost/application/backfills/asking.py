"""Asking for a backfill, and calling it off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.backfills.codec import created, errand_of, rewritten
from fencepost.application.backfills.reading import find_backfill, list_backfills
from fencepost.application.delivery.tools import Tools
from fencepost.application.errands.errand import ErrandKind
from fencepost.application.registry.results import Missing, OverLimit
from fencepost.application.store import Action, Committed, Query, Store, StoreBusyError, items
from fencepost.domain.backfill import Backfill, BackfillState, backfill_id, range_faults
from fencepost.domain.faults import Faults
from fencepost.domain.identity import digest
from fencepost.domain.instants import floor_ms
from fencepost.domain.model import Caller, Job, Overlap, Team

MAX_ACTIVE = 10
"""Of one job at a time."""
MAX_ACTIVE_OF_TEAM = 100
TRIES = 5
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for: occurrences in [first, before), `rate` a minute. `overlap` None: as the job has it. `force`:
    those that succeeded as well. `key` names the request.
    """

    caller: Caller
    key: str
    first: datetime
    before: datetime
    rate: int
    overlap: Overlap | None = None
    force: bool = False
    note: str | None = None


Asked: TypeAlias = Backfill | OverLimit
CalledOff: TypeAlias = Backfill | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfills:
    """One per process. Raises StoreError when a repeat may help."""

    tools: Tools

    def ask(self, job: Job, wish: Wish, now: datetime) -> Asked:
        """The backfill, written down together with the errand that makes it go on. Raises Faults.

        The same request at the same instant is the same backfill.
        """
        faults = range_faults(job.schedule, wish.first, wish.before, now)
        if faults:
            raise Faults(faults)
        for salt in range(TRIES):
            made = _made(job, wish, floor_ms(now), salt)
            known = find_backfill(self.tools.store, made.uid, made.id)
            if known is None:
                over = self._over(made)
                if over is not None:
                    return over
                writes: list[Action] = [created(made), errand_of(made).put()]
                if isinstance(self.tools.store.transact(writes, self.tools.entropy.token()), Committed):
                    return made  # a read might fail now, and would tell the caller that nothing was done
                known = find_backfill(self.tools.store, made.uid, made.id)
            if known is not None and known.request == made.request:
                return known
        raise StoreBusyError("no id for the backfill could be found")

    def call_off(
        self, uid: str, identity: str, caller: Caller, team: Team, now: datetime, *, why: str | None = None
    ) -> CalledOff:
        """No further execution is made from here on, and none that was made begins. What has begun goes on.

        Those that wait are cancelled by the errand's next steps, or at once when their turn comes.
        """
        for turn in range(TRIES):
            before = find_backfill(self.tools.store, uid, identity)
            if before is None or before.team != team.name:
                return Missing("backfill", identity)
            if before.state is BackfillState.CANCELLED:
                return before
            after = replace(
                before,
                state=BackfillState.CANCELLED,
                revision=before.revision + 1,
                ended_at=floor_ms(now),
                ended_by=caller.principal,
                why=why,
            )
            writes: list[Action] = [rewritten(before, after, team.retention), errand_of(after).put()]
            if isinstance(self.tools.store.transact(writes, self.tools.entropy.token()), Committed):
                return after
            self.tools.pause(turn)
        raise StoreBusyError(f"backfill {identity}: others keep moving it")

    def _over(self, made: Backfill) -> OverLimit | None:
        known = list_backfills(self.tools.store, made.uid)
        active = sum(each.state is BackfillState.EXPANDING for each in known)
        if active >= MAX_ACTIVE:
            return OverLimit("active_backfills_of_a_job", active + 1, MAX_ACTIVE)
        of_team = active_of_team(self.tools.store, made.team)
        if of_team >= MAX_ACTIVE_OF_TEAM:
            return OverLimit("active_backfills", of_team + 1, MAX_ACTIVE_OF_TEAM)
        return None


def active_of_team(store: Store, team: str) -> int:
    """How many backfills of a team still go on, those that are being called off included."""
    where = keys.errand(ErrandKind.BACKFILL, f"{team}/")
    query = Query(table=where.table, pk=where.pk, first=where.sk, last=where.sk + "~", limit=1_000)
    return sum(1 for _ in items(store, query))


def _made(job: Job, wish: Wish, now: datetime, salt: int) -> Backfill:
    request = f"{job.uid} {wish.key}" + "!" * salt
    return Backfill(
        id=backfill_id(now, request),
        uid=job.uid,
        team=job.team,
        job=job.name,
        first=floor_ms(wish.first),
        before=floor_ms(wish.before),
        rate=wish.rate,
        overlap=wish.overlap or job.overlap,
        force=wish.force,
        schedule=job.schedule,
        generation=job.generation,
        cursor=floor_ms(wish.first) - _TICK,
        next_at=now,
        asked_at=now,
        asked_by=wish.caller.principal,
        request=digest(request)[:24],
        note=wish.note,
    )
