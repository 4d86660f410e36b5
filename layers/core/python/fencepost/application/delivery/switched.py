"""Switches at the door: what is due while its tier is shut waits, and what waited too long meets its misfire policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import Admission
from fencepost.application.codec import UndecodableError, decode_execution
from fencepost.application.codec_job import decode_ended_generation
from fencepost.application.delivery.endings import Change, Endings
from fencepost.application.delivery.results import Acknowledge, Disposition, Raced
from fencepost.application.delivery.tools import Tools
from fencepost.application.store import Item, Query, Table, items
from fencepost.domain.held import Held, Runs, after_hold
from fencepost.domain.identity import ExecutionKind, stamp
from fencepost.domain.judgement import started
from fencepost.domain.model import EndedGeneration, Execution, Job, Origin, Team
from fencepost.domain.states import ExecutionState, Move, Reason
from fencepost.domain.switches import Halt, active, released

FEW = 20
NEVER_RAN = frozenset({ExecutionState.SKIPPED, ExecutionState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Switched:
    """One per process."""

    tools: Tools
    doors: Admission
    endings: Endings

    def turned_away(self, record: Execution, job: Job, team: Team) -> Disposition | Raced | None:
        """What becomes of a due record that may not begin; None where it may."""
        now = self.tools.clock.now()
        halt = active(team.halts, record.tier, now)
        if halt is not None:
            return self._held(record, halt, team, now)
        if record.origin is not Origin.SCHEDULE or started(record):
            return None
        back = released(team.halts, record.tier, record.wake_at, self.tools.limits.misfire_grace, now)
        return None if back is None else self._missed(record, back, job, team)

    def _held(self, record: Execution, halt: Halt, team: Team, now: datetime) -> Disposition | Raced:
        """It waits. A slot that was kept for it goes to somebody else."""
        kept = self.endings.finish.giving_up(record)
        joined = self.doors.backlog.hold(record, halt.says, now)
        if kept is not record and kept.slot is not None:
            self.endings.finish.freed(kept, team)
        if joined is None:
            return Raced("it moved before it could wait for the switch")
        return Acknowledge(why=f"it waits: {halt.says}")

    def _missed(self, record: Execution, back: Halt, job: Job, team: Team) -> Disposition | Raced | None:
        rules = self._rules(record, job)
        nominal, until = record.id.nominal, back.until
        if rules is None or nominal is None or until is None:
            return None
        grace = self.tools.limits.misfire_grace
        held = Held(nominal=nominal, last=record.until or record.due, back=until, grace=grace)
        verdict = after_hold(
            held, rules.misfire, rules.schedule, lambda: self._later_one_runs(record, held.edge)
        )
        return (
            None
            if isinstance(verdict, Runs)
            else self._left_out(record, f"{back.says}; {verdict.why}", job, team)
        )

    def _left_out(self, record: Execution, note: str, job: Job, team: Team) -> Disposition | Raced:
        """While it waits, its entry wakes it; no message in hand is sure to come back for it."""
        return self.endings.end(
            Change(
                record=record,
                move=Move.SKIP_HELD,
                team=team,
                job=job,
                changes={"reason": Reason.MISFIRE, "note": note},
                in_hand=record.state is not ExecutionState.WAITING,
            )
        )

    def _rules(self, record: Execution, job: Job) -> Job | EndedGeneration | None:
        """What the record's generation decides by; None where nobody knows any more."""
        if record.generation == job.generation:
            return job
        item = self.tools.store.get(keys.ended_generation(record.id.uid, record.generation))
        return None if item is None else decode_ended_generation(item)

    def _later_one_runs(self, record: Execution, edge: datetime) -> bool:
        """Whether a later occurrence that was held as well has a record that runs, or ran."""
        return any(
            later.due <= edge and later.id != record.id and later.state not in NEVER_RAN
            for later in self._later(record, edge)
        )

    def _later(self, record: Execution, edge: datetime) -> Iterator[Execution]:
        """The latest first: nearly always one of the first few answers."""
        prefix = f"{ExecutionKind.OCCURRENCE}#"
        query = Query(
            table=Table.EXECUTIONS,
            pk=record.id.uid,
            first=prefix + stamp(record.id.nominal or record.due),
            last=prefix + stamp(edge),
            forward=False,
            limit=FEW,
        )
        few = list(items(self.tools.store, query))
        yield from _readable(few)
        if len(few) == FEW:
            yield from _readable(items(self.tools.store, replace(query, last=few[-1]["sk"], limit=None)))


def _readable(found: Iterable[Item]) -> Iterator[Execution]:
    for item in found:
        try:
            yield decode_execution(item)
        except UndecodableError:
            continue
