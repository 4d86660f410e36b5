"""Pausing and resuming a team, some of its tiers, or the stage: one write with its audit entry, then the pumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fencepost.application import keys, messages
from fencepost.application.codec import differing
from fencepost.application.delivery.notices import wants
from fencepost.application.errands.telling import notice_put
from fencepost.application.ports import Queues, QueueUnavailableError
from fencepost.application.registry.agenda import switch_entry
from fencepost.application.registry.documents import pauses, team_declaration
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.results import Conflict, Missing
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.registry.team_writes import team_update
from fencepost.application.scanning.tick import marked_teams
from fencepost.application.store import Absent, Action, Cancelled, Put, Update, equals
from fencepost.application.switches.codec import StageSwitches, encode_stage
from fencepost.application.switches.reading import stage_switches
from fencepost.domain.instants import floor_ms, to_ms, to_wire
from fencepost.domain.model import Caller
from fencepost.domain.notification import Notification, NotificationKind
from fencepost.domain.policies import Tier
from fencepost.domain.switches import Halt, paused, resumed
from fencepost.domain.teams import Team

TRIES = 10
_STEP = timedelta(milliseconds=200)
SETTLED_SECONDS = 3
T = TypeVar("T")
Halts = tuple[Halt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """What is asked for: `tiers` held until `until` (None: until somebody resumes them), or (`back`) free again.
    `expected`: the revision that the caller saw.
    """

    caller: Caller
    tiers: frozenset[Tier]
    back: bool = False
    until: datetime | None = None
    note: str | None = None
    expected: int | None = None

    @property
    def what(self) -> str:
        """The word of the audit trail."""
        return "resume" if self.back else "pause"

    def applied(self, halts: Sequence[Halt], now: datetime) -> Halts:
        """`halts` after this."""
        if self.back:
            return resumed(halts, self.tiers, now)
        wanted = Halt(
            tier=Tier.STANDARD, since=now, until=self.until, by=self.caller.principal, note=self.note
        )
        return paused(halts, self.tiers, wanted, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One per process. What is flipped already is flipped again: the note and the end may be others."""

    ports: RegistryPorts
    queues: Queues

    def team(self, name: str, flip: Flip) -> Team | Missing | Conflict:
        """Flips switches of a team."""

        def attempt(now: datetime) -> Team | Missing | Conflict | None:
            before = find_team(self.ports.store, name)
            if before is None:
                return Missing("team", name)
            if flip.expected not in {None, before.revision}:
                return Conflict(revision=before.revision, expected=flip.expected)
            halts = flip.applied(before.halts, now)
            after = replace(before, halts=halts, revision=before.revision + 1)
            write = team_update(before, after)
            entry = _entry(flip, now, after.revision, _team(before, now), _team(after, now))
            audit = Put(key=keys.team_revision(name, after.revision), item=encode_entry(entry))
            more = (*_told(flip, after, now), *_ending(flip, name, now))
            return after if self._written(write, audit, *more) else None

        outcome: Team | Missing | Conflict = self._tried(attempt)
        if isinstance(outcome, Team):
            self._pump([name])
        return outcome

    def stage(self, flip: Flip) -> StageSwitches | Conflict:
        """Flips switches of the whole stage."""

        def attempt(now: datetime) -> StageSwitches | Conflict | None:
            before = stage_switches(self.ports.store)
            if flip.expected not in {None, before.revision}:
                return Conflict(revision=before.revision, expected=flip.expected)
            after = StageSwitches(revision=before.revision + 1, halts=flip.applied(before.halts, now))
            write = _stage_written(before, after)
            states = ({"pauses": pauses(each.halts, now)} for each in (before, after))
            entry = _entry(flip, now, after.revision, *states)
            audit = Put(key=keys.stage_revision(after.revision), item=encode_entry(entry))
            return after if self._written(write, audit) else None

        outcome: StageSwitches | Conflict = self._tried(attempt)
        if isinstance(outcome, StageSwitches):
            self._pump(sorted(marked_teams(self.ports.store)))
        return outcome

    def _tried(self, attempt: Callable[[datetime], T | None]) -> T | Conflict:
        for _ in range(TRIES):
            outcome = attempt(floor_ms(self.ports.clock.now()))
            if outcome is not None:
                return outcome
            self.ports.clock.sleep(self.ports.entropy.fraction() * _STEP)
        return Conflict(revision=None)

    def _written(self, *writes: Action) -> bool:
        return not isinstance(self.ports.store.transact(writes, self.ports.entropy.token()), Cancelled)

    def _pump(self, teams: Sequence[str]) -> None:
        """At once, and once more when no process believes any longer that the switch is as it was."""
        now = self.ports.clock.now()
        soon = [messages.pump(team, now) for team in teams]
        later = [replace(message, delay=SETTLED_SECONDS) for message in soon]
        with suppress(QueueUnavailableError):  # then the tick asks for the pumps
            self.queues.send([*soon, *later])


def _stage_written(before: StageSwitches, after: StageSwitches) -> Action:
    if not before.stored:
        return Put(key=keys.stage(), item=encode_stage(after), condition=Absent())
    changed, gone = differing(encode_stage(before), encode_stage(after))
    return Update(key=keys.stage(), set=changed, remove=gone, condition=equals("rev", before.revision))


def _team(team: Team, now: datetime) -> dict[str, Any]:
    return team_declaration(team) | {"pauses": pauses(team.halts, now)}


def _ending(flip: Flip, team: str, now: datetime) -> tuple[Action, ...]:
    """What tells the team of an end that comes by itself."""
    return () if flip.back or flip.until is None else switch_entry(team, flip.until, now)


def ended_by_itself(team: Team, until: datetime) -> Notification | None:
    """What the team is told of its switches that ended at `until`; None where it did not ask to be, or none did: somebody
    resumed them before, or holds them for longer. There is one such notice for an instant.
    """
    tiers = sorted(halt.tier for halt in team.halts if halt.until == until)
    if not tiers or not wants(NotificationKind.PAUSED, team, None):
        return None
    return Notification.of(
        NotificationKind.RESUMED,
        team=team.name,
        job="",
        occasion=str(to_ms(until)),
        at=until,
        reason=f"{', '.join(tiers)}: the pause expired",
    )


def _told(flip: Flip, team: Team, now: datetime) -> list[Put]:
    """What the team is told, if it asked to be. Of the stage's switches no team is told: its waiting records say why."""
    if not wants(NotificationKind.PAUSED, team, None):
        return []
    notice = Notification.of(
        NotificationKind.RESUMED if flip.back else NotificationKind.PAUSED,
        team=team.name,
        job="",
        occasion=str(team.revision),
        at=now,
        reason=_words(flip),
    )
    return [notice_put(notice)]


def _words(flip: Flip) -> str:
    """Which tiers, until when, and why, e.g. ``bulk, standard until 2026-03-01T12:00:00.000Z: the ledger is down``."""
    tiers = ", ".join(sorted(flip.tiers))
    until = "" if flip.until is None else f" until {to_wire(flip.until)}"
    return f"{tiers}{until}" + ("" if flip.note is None else f": {flip.note}")


def _entry(flip: Flip, now: datetime, revision: int, before: dict[str, Any], after: dict[str, Any]) -> Entry:
    return Entry(
        revision=revision,
        what=flip.what,
        actor=flip.caller.principal,
        source=flip.caller.source,
        at=now,
        note=flip.note,
        before=before,
        after=after,
    )
