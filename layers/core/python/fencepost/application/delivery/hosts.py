"""Hosts whose team spares them: a place among so many calls at once, an instant among so many a minute.

Places are leases of their own, taken before anything else is and given back after the call; whoever dies in between
loses its place with its lease. Instants are handed out in order, by one item per team and host that says which is the
next free one. Whoever has to wait gives up what it holds, notes why, and comes back by itself: no attempt is counted
and no call is dropped (docs/decisions/0012-sparing-hosts.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.codec import VERSION, is_newer
from fencepost.application.delivery.endings import has_message
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.records import WITHOUT_LEASE
from fencepost.application.delivery.results import Acknowledge, Disposition, Raced, facts_of
from fencepost.application.delivery.tools import Tools
from fencepost.application.memory import Memory
from fencepost.application.moves import moved, while_put_off
from fencepost.application.store import (
    Absent,
    Compare,
    Condition,
    Delete,
    Item,
    Key,
    Lacks,
    Lost,
    Present,
    Put,
    Query,
    StoreError,
    Table,
    Update,
    either,
    equals,
    every,
    items,
)
from fencepost.domain.identity import hashed
from fencepost.domain.instants import floor_ms, from_ms, to_ms
from fencepost.domain.judgement import started
from fencepost.domain.limits import Limits
from fencepost.domain.manners import HostLimit, HostWait, longer
from fencepost.domain.model import Execution, Team
from fencepost.domain.states import Move

KEPT = timedelta(days=1)
"""An item that nobody needed for so long goes by itself."""
FULL_MEMORY = timedelta(milliseconds=200)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that this execution holds."""

    key: Key
    mine: Condition


@dataclass(frozen=True, slots=True)
class Go:
    """Call. `place` is given back afterwards; None: the host knows no limit of that kind."""

    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Do not call before `until`. `ticket`: the host that it may call from then on."""

    until: datetime
    why: str
    ticket: str | None = None


@dataclass(frozen=True, slots=True)
class OtherHand:
    """This very execution holds a place already: another message of it is about to call."""


Verdict: TypeAlias = Go | Wait | OtherHand


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """One per process. Raises StoreError: without an answer nobody is called."""

    tools: Tools
    finish: Finish
    _full: Memory[bool] = field(default_factory=lambda: Memory(FULL_MEMORY), compare=False)

    def ask(self, record: Execution, limit: HostLimit, until: datetime) -> Verdict:
        """Whether the host may be called now. A place that is given is lost at `until`, if not given back before."""
        wait = self._instant(record, limit)
        if isinstance(wait, Wait):
            return wait
        if limit.max_parallel is None:
            return Go(None)
        place = self._place(record, limit, limit.max_parallel, until)
        if place is not None:
            return Go(place)
        if self._holds_one(record, limit.host, limit.max_parallel):
            return OtherHand()
        why = f"{limit.host} takes {limit.max_parallel} of the team's calls at once"
        return Wait(until=self._later(record, self.tools.clock.now()), why=why, ticket=wait)

    def leave(self, place: Place | None) -> None:
        """Gives a place back. One that cannot be given back expires."""
        if place is None:
            return
        try:
            self.tools.store.write(Delete(key=place.key, condition=place.mine))
        except StoreError:
            return

    def put_off(self, record: Execution, team: Team, wait: Wait) -> Disposition | Raced:
        """The record waits until then, with what else it held given up. It costs no attempt."""
        now = self.tools.clock.now()
        noted = HostWait(since=_since(record, now), ticket=wait.ticket)
        changes = {"retry_at": wait.until, "note": f"put off: {wait.why}", "host_wait": noted}
        if record.waited_from is None and not started(record):
            changes["waited_from"] = now
        after = while_put_off(record, moved(record, Move.DEFER, **{**WITHOUT_LEASE, **changes}))
        if not self.finish.waits(record, after, team, wait.until, in_hand=has_message(record)):
            return Raced("it moved before it could be put off")
        return Acknowledge(why=wait.why, facts=facts_of(after.record))

    def _instant(self, record: Execution, limit: HostLimit) -> Wait | str | None:
        """Wait, or the host that the record has a ticket for; None where it has no rate."""
        spacing = limit.spacing
        if spacing is None:
            return None
        if record.host_wait is not None and record.host_wait.ticket == limit.host:
            return limit.host
        now = floor_ms(self.tools.clock.now())
        taken = self._next(record, limit, spacing, now)
        if isinstance(taken, Wait):
            return taken
        why = _rate(limit)
        return limit.host if taken <= now else Wait(until=taken, why=why, ticket=limit.host)

    def _next(
        self, record: Execution, limit: HostLimit, spacing: timedelta, now: datetime
    ) -> datetime | Wait:
        """The next free instant, taken; or when to ask again, where it is too far off or others keep taking it."""
        key = keys.host_rate(record.team, limit.host)
        item = self.tools.store.get(key)
        for _ in range(self._limits.host_tries):
            given = _next_of(item)
            free = now if given is None else max(now, from_ms(given))
            if free - now > self._limits.host_lookahead:
                share = (1 + self.tools.entropy.fraction()) / 2
                return Wait(until=floor_ms(now + self._limits.host_lookahead * share), why=_rate(limit))
            following = free + spacing
            write = Update(
                key=key,
                set={"v": VERSION, "next": to_ms(following), "expires": to_ms(following + KEPT) // 1000},
                condition=_as_read(item, given),
            )
            outcome = self.tools.store.write(write)
            if not isinstance(outcome, Lost):
                return free
            item = outcome.item
        return Wait(until=self._later(record, now), why=_rate(limit))

    def _place(self, record: Execution, limit: HostLimit, most: int, until: datetime) -> Place | None:
        """One of the places, taken; None where all are. The first try is made without looking."""
        name, now = f"{record.team}/{limit.host}", self.tools.clock.now()
        first = self._taken(record, limit, hashed(str(record.id), most), until, _free(now))
        if first is not None or self._full.recall(name, now) is not None:
            return first
        for number, free in self._vacant(record.team, limit.host, most, now):
            place = self._taken(record, limit, number, until, free)
            if place is not None:
                return place
        self._full.keep(name, value=True, now=now)
        return None

    def _taken(
        self, record: Execution, limit: HostLimit, number: int, until: datetime, free: Condition
    ) -> Place | None:
        key = keys.host_place(record.team, limit.host, number)
        holder, ends = str(record.id), to_ms(until)
        item = {"v": VERSION, "x": holder, "until": ends, "expires": to_ms(until + KEPT) // 1000}
        if isinstance(self.tools.store.write(Put(key=key, item=item, condition=free)), Lost):
            return None
        return Place(key, every(equals("x", holder), equals("until", ends)))

    def _vacant(self, team: str, host: str, most: int, now: datetime) -> Iterator[tuple[int, Condition]]:
        """A few free places, from one drawn anew each time so that rivals seldom meet; at last those that nobody can read:
        else they would never be free again.
        """
        held = {str(item["sk"]): item for item in items(self.tools.store, _places(team, host, most))}
        places = [(number, held.get(keys.host_place(team, host, number).sk)) for number in range(most)]
        free = [number for number, item in places if item is None or _lapsed(item, now)]
        start = int(self.tools.entropy.fraction() * len(free))
        found = [(number, _free(now)) for number in free[start:] + free[:start]]
        found += [(number, _strange(item)) for number, item in places if item is not None and _unread(item)]
        yield from found[: self._limits.host_tries]

    def _holds_one(self, record: Execution, host: str, most: int) -> bool:
        """Whether the record holds a place. Were it put off by this hand, the other one's lease would lose, and so
        again and again.
        """
        now = self.tools.clock.now()
        held = items(self.tools.store, _places(record.team, host, most))
        return any(item.get("x") == str(record.id) and not _lapsed(item, now) for item in held)

    def _later(self, record: Execution, now: datetime) -> datetime:
        away = longer(_since(record, now), now, self.tools.entropy.fraction(), self._limits)
        return floor_ms(now + away)

    @property
    def _limits(self) -> Limits:
        return self.tools.limits


def _places(team: str, host: str, most: int) -> Query:
    lane = keys.host_place(team, host, 0)
    return Query(table=Table.CONTROL, pk=lane.pk, first=lane.sk, last=keys.host_place(team, host, most).sk)


def _next_of(item: Item | None) -> int | None:
    """The next free instant; None where there is none that anybody can read: then it begins anew."""
    given = None if item is None else item.get("next")
    return given if isinstance(given, int) and 0 < given < to_ms(LATEST) else None


def _as_read(item: Item | None, given: int | None) -> Condition:
    if item is None:
        return Absent()
    return Present() if given is None else equals("next", given)


def _free(now: datetime) -> Condition:
    """Nobody has the place, or whoever has it has lost it."""
    return either(Absent(), Compare("until", "<=", to_ms(now)))


def _unread(item: Item) -> bool:
    """Nobody can read until when the place is taken, and no later version has said it."""
    return not isinstance(item.get("until"), int) and not is_newer(item)


def _strange(item: Item) -> Condition:
    """The place is as nobody could read it."""
    until = item.get("until")
    return every(Present(), Lacks("until") if until is None else equals("until", until))


def _lapsed(item: Item, now: datetime) -> bool:
    """The place is over; one that nobody can read is not."""
    until = item.get("until")
    return isinstance(until, int) and until <= to_ms(now)


def _since(record: Execution, now: datetime) -> datetime:
    """Since when its host has kept it."""
    return now if record.host_wait is None else record.host_wait.since


def _rate(limit: HostLimit) -> str:
    return f"{limit.host} takes {limit.max_per_minute} of the team's calls a minute"
