"""A rest for hosts that keep failing: after some failures in a row nobody calls them for a while, then one probes.

Failures are counted in each process's memory; what all share is one item per team and host, written only when the
circuit opens, when somebody takes the probe, and when it closes. A process without trouble never reads it, so the
circuit costs nothing on the good path. Teams do not share circuits: one team's failing path is not another's.

A circuit opens in one transaction with the notice of it, which goes out as those of pauses do: at least once, under one
id for each opening, signed and guarded as every notice. A probe that fails only keeps a circuit open, and notices are no
deliveries: however many of them a host refuses, they open no circuit and so make no notice.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.codec import VERSION, instant
from fencepost.application.delivery.notices import wants
from fencepost.application.errands.telling import notice_put
from fencepost.application.store import (
    Absent,
    Committed,
    Compare,
    Condition,
    Delete,
    Item,
    Lacks,
    Lost,
    Present,
    Store,
    StoreError,
    Update,
    either,
    equals,
    every,
)
from fencepost.domain.instants import floor_ms, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.notification import Notification, NotificationKind
from fencepost.domain.outcome import Blocked, Failed, Outcome, TimedOut
from fencepost.domain.teams import Team

KEPT = timedelta(days=1)
"""An item that nobody needed for so long goes by itself."""
MEMORY = timedelta(seconds=5)
HOSTS_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Closed:
    """Call."""


@dataclass(frozen=True, slots=True)
class Open:
    """Do not call before `until`."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Probe:
    """Call: on what comes of it hangs whether the circuit closes."""


Permit: TypeAlias = Closed | Open | Probe


@dataclass(slots=True)
class _Memory:
    """What this process knows of one circuit."""

    failures: int = 0
    until: datetime | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuits:
    """One per process. A store that fails here never stands in the way of a delivery: the answer is Closed."""

    store: Store
    limits: Limits
    _known: dict[str, _Memory] = field(default_factory=dict, compare=False)

    def ask(self, team: str, host: str, now: datetime, *, anew: bool = False) -> Permit:
        """Whether the host may be called now. Asking takes the probe, if it is free. `anew`: what this process remembers
        may be of a probe that was given back.
        """
        memory = self._memory(f"{team}/{host}")
        if memory.failures == 0 and memory.until is None:
            return Closed()
        try:
            return self._asked(f"{team}/{host}", memory, now, anew=anew)
        except StoreError:
            return Closed()

    def give_back(self, team: str, host: str, now: datetime) -> None:
        """The probe that was taken at `now`, where nobody was called: whoever asks next may probe. One that cannot be
        given back lapses.
        """
        name, ends = f"{team}/{host}", to_ms(now + self.limits.circuit_open)
        memory = self._memory(name)
        if memory.until is not None and to_ms(memory.until) == ends:
            memory.until = now
        with suppress(StoreError):
            self.store.write(
                Update(key=keys.circuit(name), remove=("probe",), condition=equals("probe", ends))
            )

    def note(self, team: Team, host: str, permit: Permit, outcome: Outcome, now: datetime) -> bool:
        """Counts what came of a call; true when this opened the circuit, or kept it open."""
        name = f"{team.name}/{host}"
        memory = self._memory(name)
        if isinstance(outcome, Blocked):
            return False
        try:
            if not is_host_failure(outcome):
                return self._healthy(name, memory, permit)
            return self._failed(memory, permit, now) and self._opened(team, host, memory, now)
        except StoreError:  # open or not, nobody told us: the next call reads it
            memory.read_at = None
            return False

    def _asked(self, name: str, memory: _Memory, now: datetime, *, anew: bool) -> Permit:
        if memory.until is not None and now < memory.until and not anew:
            return Open(memory.until)
        if memory.until is None and memory.read_at is not None and now - memory.read_at < MEMORY:
            return Closed()
        item = self.store.get(keys.circuit(name))
        until = _ends(item, "until")
        was_open = memory.until is not None
        memory.read_at, memory.until = now, until
        if until is None:
            memory.failures = 0 if was_open else memory.failures
            return Closed()
        return Open(until) if now < until else self._half_open(name, memory, now)

    def _half_open(self, name: str, memory: _Memory, now: datetime) -> Permit:
        """Its time is over: one caller probes, the others wait for what comes of it."""
        stamp = to_ms(now)
        free = every(Compare("until", "<=", stamp), either(Lacks("probe"), Compare("probe", "<=", stamp)))
        ends = now + self.limits.circuit_open
        claim = Update(key=keys.circuit(name), set={"probe": to_ms(ends)}, condition=free)
        lost = self.store.write(claim)
        if not isinstance(lost, Lost):
            return Probe()
        if lost.item is None:
            memory.failures, memory.until = 0, None
            return Closed()
        memory.until = _later(lost.item, now)
        return Open(memory.until or ends)

    def _healthy(self, name: str, memory: _Memory, permit: Permit) -> bool:
        memory.failures = 0
        if isinstance(permit, Probe):
            self.store.write(Delete(key=keys.circuit(name), condition=Present()))
            memory.until = None
        return False

    def _failed(self, memory: _Memory, permit: Permit, now: datetime) -> bool:
        """Whether that is one failure too many."""
        memory.failures += 1
        known_open = memory.until is not None and now < memory.until
        few = memory.failures < self.limits.circuit_failures
        return isinstance(permit, Probe) or not (few or known_open)

    def _opened(self, team: Team, host: str, memory: _Memory, now: datetime) -> bool:
        """Opens the circuit, and tells of it where it was closed; false where somebody was first."""
        key, until = keys.circuit(f"{team.name}/{host}"), now + self.limits.circuit_open
        item = self.store.get(key)
        before = _ends(item, "until")
        if before is not None and before > now:
            memory.until = before
            return False
        opened = Update(
            key=key,
            set={"v": VERSION, "until": to_ms(until), "expires": to_ms(until + KEPT) // 1000},
            remove=("probe",),
            condition=_as_read(item),
        )
        afresh = before is None or before + self.limits.circuit_afresh <= now
        if afresh and wants(NotificationKind.CIRCUIT_OPEN, team, None):
            notice = notice_put(_notice(team, host, memory.failures, now))
            won = isinstance(self.store.transact((opened, notice)), Committed)
        else:
            won = not isinstance(self.store.write(opened), Lost)
        if won:
            memory.until = until
        else:
            memory.read_at = None
        return won

    def _memory(self, name: str) -> _Memory:
        if len(self._known) >= HOSTS_REMEMBERED and name not in self._known:
            self._known.clear()
        return self._known.setdefault(name, _Memory())


def _notice(team: Team, host: str, failures: int, now: datetime) -> Notification:
    """What its team is told of an opening."""
    at = floor_ms(now)
    return Notification.of(
        NotificationKind.CIRCUIT_OPEN,
        team=team.name,
        job="",
        occasion=str(to_ms(at)),
        at=at,
        reason=f"failures in a row: {failures}; it is called again when a probe gets through",
        host=host,
    )


def is_host_failure(outcome: Outcome) -> bool:
    """Silence, no connection, or a server error: the host is in trouble. An answer of 4xx shows that it is not."""
    match outcome:
        case TimedOut():
            return True
        case Failed(status=status):
            return status is None or status >= 500
        case _:
            return False


def _ends(item: Item | None, name: str) -> datetime | None:
    """An instant of a circuit's item; None where it has none that anybody can read: that circuit is closed."""
    value = None if item is None else item.get(name)
    with suppress(TypeError, ValueError, OverflowError):
        return instant(value)
    return None


def _as_read(item: Item | None) -> Condition:
    """The item still says what was read; one that says nothing may be overwritten."""
    if item is None:
        return Absent()
    return equals("until", item["until"]) if _ends(item, "until") is not None else Present()


def _later(item: Item, now: datetime) -> datetime | None:
    """When it is worth asking again: the circuit's own end, or that of somebody's probe."""
    ends = [end for end in (_ends(item, "until"), _ends(item, "probe")) if end is not None]
    return max((end for end in ends if end > now), default=None)
