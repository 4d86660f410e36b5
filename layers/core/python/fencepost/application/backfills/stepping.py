"""One step of a backfill: the next minute's executions, or the end of those that a cancel found waiting.

Cursor, executions and their wake-ups change in one transaction that names the revision that was read: a step that was
repeated, or that meets another one, makes nothing twice, and a crash anywhere leaves work for the next step only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from fencepost.application import keys, messages
from fencepost.application.backfills import codec
from fencepost.application.backfills.left_out import LeftOut
from fencepost.application.backfills.reading import executions, find_backfill
from fencepost.application.codec import encode_timer
from fencepost.application.delivery.cancel import Cancel
from fencepost.application.delivery.tools import Tools
from fencepost.application.errands.errand import Errand
from fencepost.application.moves import created
from fencepost.application.planting import offset_seconds, wake_timer, watermark_check
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import (
    Action,
    Committed,
    Lost,
    OutcomeUnknownError,
    Put,
    StoreBusyError,
    StoreError,
)
from fencepost.domain.backfill import Backfill, BackfillState
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_ms
from fencepost.domain.judgement import paused_since, started
from fencepost.domain.keeping import thinned_between
from fencepost.domain.model import Execution, Job, Origin, Team, Tier, Timer
from fencepost.domain.schedule import Calendar, effective_instant, occurrences, tzdata_version
from fencepost.domain.states import NOT_RUNNING, ExecutionState, JobState, Move, Reason

CHUNK = 30
"""Two actions for each execution, in a transaction of at most a hundred."""
LOOK = 3_000
"""How many instants one step looks at, however many of them need no run."""
EARLY = timedelta(seconds=30)
"""Ticks come at any second of their minute: a step may be taken so long before its own minute begins."""
LONGEST = timedelta(seconds=15)
SWEPT = 200
SAME_AGAIN = 3

Calendars = Callable[[str], Mapping[str, Calendar]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillSteps:
    """One per process."""

    tools: Tools
    cancel: Cancel
    calendars: Calendars

    def run(self, errand: Errand, now: datetime) -> None:
        """Takes the next step if it is time for one. Raises StoreError; the errand stands until all is done."""
        _, uid, identity = errand.subject.split("/")
        backfill = find_backfill(self.tools.store, uid, identity)
        if backfill is None or backfill.state is BackfillState.EXPANDED:
            self.tools.store.write(errand.done())
        elif backfill.state is BackfillState.CANCELLED:
            self._sweep(backfill, now)
        else:
            self._expand(backfill, floor_ms(now))

    def _expand(self, backfill: Backfill, now: datetime) -> None:
        team, job = self.tools.reads.team(backfill.team, now), self.tools.reads.job(backfill.uid)
        if team is None or job is None or job.state is JobState.DELETED:
            self._give_up(backfill, team, now)
            return
        if _waits(backfill, job, team) or now < backfill.next_at - EARLY:
            return
        thinned = thinned_between(team, job, now)
        left_out = LeftOut.of(self.tools.store, backfill, self.calendars(backfill.team), thinned)
        step = _Step(backfill=backfill, job=job, team=team, began=now, opens=max(now, backfill.next_at))
        while step.goes_on and self.tools.clock.now() - now < LONGEST:
            chunk = list(islice(_ahead(step.backfill), min(CHUNK, backfill.rate - step.made)))
            after = self._chunk(step, chunk, left_out)
            if after is None:
                return
            step = after

    def _chunk(self, step: _Step, instants: Sequence[datetime], left_out: LeftOut) -> _Step | None:
        """The step after the executions of `instants`; None where somebody else went on from where it began."""
        wanted = left_out.without(instants)
        records = [self._record(step, instant, number) for number, instant in enumerate(wanted)]
        following = step.following(instants, len(records))
        timers = [self._timer(record, step.began) for record in records]
        if not self._written(step, following, records, timers):
            return None
        self._hand_over(records, timers)
        return following

    def _written(
        self, step: _Step, following: _Step, records: Sequence[Execution], timers: Sequence[Timer]
    ) -> bool:
        before, after = step.backfill, following.backfill
        ended = after.state is not BackfillState.EXPANDING
        actions: list[Action] = [codec.rewritten(before, after, step.team.retention if ended else None)]
        actions += [created(record, Move.CLAIM) for record in records]
        actions += [Put(key=keys.timer(timer), item=encode_timer(timer)) for timer in timers]
        if timers:  # all lie in one shard, the earliest bucket first
            check = watermark_check(timers[0], step.began, self.tools.limits)
            actions += [] if check is None else [check]
        actions += [codec.errand_of(after).done()] if ended else []
        return self._transact(actions)

    def _transact(self, actions: Sequence[Action]) -> bool:
        """A lost answer is asked for again: under the same token nothing is done twice."""
        token = self.tools.entropy.token()
        for turn in range(SAME_AGAIN):
            try:
                return isinstance(self.tools.store.transact(actions, token), Committed)
            except (OutcomeUnknownError, StoreBusyError):
                self.tools.pause(turn)
        return isinstance(self.tools.store.transact(actions, token), Committed)

    def _hand_over(self, records: Sequence[Execution], timers: Sequence[Timer]) -> None:
        """What is not sent here keeps its timer, which the scan hands over."""
        now, limits = self.tools.clock.now(), self.tools.limits
        wakes = [messages.wake(record, at=record.wake_at, now=now, limits=limits) for record in records]
        try:
            accepted = self.tools.queues.send(wakes) if wakes else ()
            sent = [keys.timer(timer) for timer, taken in zip(timers, accepted, strict=True) if taken]
            if sent:
                self.tools.store.batch_delete(sent)
        except (QueueUnavailableError, StoreError):
            return

    def _record(self, step: _Step, instant: datetime, number: int) -> Execution:
        backfill, job = step.backfill, step.job
        return Execution(
            id=ExecutionId.backfill(backfill.uid, backfill.id, instant),
            team=backfill.team,
            job=backfill.job,
            state=ExecutionState.QUEUED,
            origin=Origin.BACKFILL,
            tier=Tier.RECOVERY,
            due=effective_instant(backfill.schedule, backfill.uid, instant),
            generation=job.generation,
            planted_generation=job.generation,
            not_before=floor_ms(step.opens + (step.made + number) * backfill.gap),
            tzdata=tzdata_version(),
            offset=offset_seconds(backfill.schedule, instant),
            claim_id=self.tools.entropy.token(),
            claimed_at=step.began,
            overlap=backfill.overlap,
            actor=backfill.asked_by,
            hint=job.detail,
        )

    def _timer(self, record: Execution, now: datetime) -> Timer:
        return wake_timer(record, record.wake_at, now=now, limits=self.tools.limits)

    def _give_up(self, backfill: Backfill, team: Team | None, now: datetime) -> None:
        """Nothing of a deleted job begins any more; what waits is told so when its turn comes."""
        after = replace(
            backfill,
            state=BackfillState.CANCELLED,
            revision=backfill.revision + 1,
            ended_at=now,
            why="the job was deleted",
        )
        retention = timedelta(0) if team is None else team.retention
        writes: list[Action] = [codec.rewritten(backfill, after, retention), codec.errand_of(after).done()]
        self.tools.store.transact(writes, self.tools.entropy.token())

    def _sweep(self, backfill: Backfill, now: datetime) -> None:
        """Ends what waits, from where the last step stopped; what cannot be ended now ends when its turn comes."""
        last = None
        for looked, record in enumerate(_from(self.tools, backfill)):
            if looked == SWEPT or self.tools.clock.now() - now >= LONGEST:
                self._note(backfill, last)
                return
            last = record.id.key
            if record.state in NOT_RUNNING and not started(record):
                self._end(record)
        self.tools.store.write(codec.errand_of(backfill).done())

    def _end(self, record: Execution) -> None:
        try:
            self.cancel.execution(record.id, Reason.BACKFILL_CANCELLED, self.tools.clock.now())
        except StoreError:
            return

    def _note(self, backfill: Backfill, last: str | None) -> bool:
        after = replace(backfill, swept=last, revision=backfill.revision + 1)
        return not isinstance(self.tools.store.write(codec.rewritten(backfill, after)), Lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """How far one step has come: `made` executions of those that the minute from `opens` may have, `looked` at instants."""

    backfill: Backfill
    job: Job
    team: Team
    began: datetime
    opens: datetime
    made: int = 0
    looked: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether this minute has room for more."""
        expanding = self.backfill.state is BackfillState.EXPANDING
        return expanding and self.made < self.backfill.rate and self.looked < LOOK

    def following(self, instants: Sequence[datetime], made: int) -> _Step:
        """After `instants` (none: the range is done), of which `made` got an execution. Each chunk notes what it has used
        up of the minute: the next one may be another step's, if this one breaks off.
        """
        before, used = self.backfill, self.made + made
        after = replace(
            before,
            revision=before.revision + 1,
            cursor=instants[-1] if instants else before.cursor,
            released=before.released + made,
            left_out=before.left_out + len(instants) - made,
            next_at=max(before.next_at, floor_ms(self.opens + used * before.gap)),
        )
        if next(_ahead(after), None) is None:
            after = replace(after, state=BackfillState.EXPANDED, ended_at=self.began)
        return replace(self, backfill=after, made=self.made + made, looked=self.looked + len(instants))


def _waits(backfill: Backfill, job: Job, team: Team) -> bool:
    """The job was paused since, or nothing of recovery may start in the team: what is made now would only wait."""
    return paused_since(job, backfill.generation) or Tier.RECOVERY in team.shut


def _ahead(backfill: Backfill) -> Iterator[datetime]:
    """The instants that are still to come."""
    for instant in occurrences(backfill.schedule, backfill.cursor):
        if instant >= backfill.before:
            return
        yield instant


def _from(tools: Tools, backfill: Backfill) -> Iterator[Execution]:
    """The executions behind the place where the last sweep stopped."""
    for record in executions(tools.store, backfill):
        if backfill.swept is None or record.id.key > backfill.swept:
            yield record
