"""Deleting a team: refused while it has jobs, or together with them. It takes a while, and nobody has the name meanwhile.

What runs may end, by the settings that the team had; so its item stays, and only `find_team` no longer finds it. The
name is free when no job is left, nothing of the team runs, and nobody can still be writing who found the team.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.errands.errand import Errand, ErrandKind
from fencepost.application.registry.documents import team_declaration
from fencepost.application.registry.jobs import JobRequest
from fencepost.application.registry.lifecycle import delete
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import known_team
from fencepost.application.registry.results import Conflict, Missing, NotAllowed
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.registry.team_writes import team_update
from fencepost.application.store import (
    Action,
    Cancelled,
    Delete,
    Item,
    Key,
    Lacks,
    Present,
    Put,
    Query,
    Store,
    Table,
    Update,
    equals,
    every,
    items,
)
from fencepost.domain.instants import floor_ms, to_ms
from fencepost.domain.model import Caller, Team

TRIES = 10
SETTLED = timedelta(minutes=2)
"""Longer than any writer takes that found the team before it was on its way out."""
OUTLIVES = timedelta(days=30)
SOONER = timedelta(days=7)
"""So much earlier than the team's own item its revisions expire: another team of that name never shows them."""
LONGEST = timedelta(seconds=15)
COUNTED = 1_000
LANES_AT_LEAST = 32
MOST = 500
NOTE = "its team was deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """The team is on its way out since then; `jobs` are left, `COUNTED` at most."""

    team: Team
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Departures:
    """One per process. Raises StoreError when a repeat may help."""

    ports: RegistryPorts

    def leave(
        self, name: str, caller: Caller, *, purge: bool, expected: int | None = None
    ) -> Leaving | Missing | Conflict | NotAllowed:
        """Puts the team on its way out; asked again, says how far it is."""
        store = self.ports.store
        for _ in range(TRIES):
            team = known_team(store, name)
            if team is None or team.gone_at is not None:
                return Missing("team", name)
            jobs = count_jobs(store, name)
            if team.leaving_since is not None:
                return Leaving(team=team, jobs=jobs)
            if expected not in {None, team.revision}:
                return Conflict(revision=team.revision, expected=expected)
            if jobs and not purge:
                more = "" if jobs < COUNTED else " or more"
                return NotAllowed(
                    f"the team has {jobs:,}{more} jobs: delete them first, or ask with purge=true"
                )
            now = floor_ms(self.ports.clock.now())
            after = replace(team, leaving_since=now, revision=team.revision + 1)
            if self._written(team, after, caller, now):
                return Leaving(team=after, jobs=jobs)
        return Conflict(revision=None)

    def _written(self, team: Team, after: Team, caller: Caller, now: datetime) -> bool:
        entry = Entry(
            revision=after.revision,
            what="delete",
            actor=caller.principal,
            source=caller.source,
            at=now,
            note=None,
            before=team_declaration(team),
            after=None,
        )
        writes: list[Action] = [
            team_update(team, after),
            Put(key=keys.team_revision(team.name, after.revision), item=encode_entry(entry)),
            errand_of(after).put(by=caller.principal),
        ]
        outcome = self.ports.store.transact(writes, self.ports.entropy.token())
        return not isinstance(outcome, Cancelled)


def errand_of(team: Team) -> Errand:
    """What makes the departure go on."""
    return Errand(kind=ErrandKind.PURGE, subject=team.name, team=team.name)


def count_jobs(store: Store, name: str) -> int:
    """How many jobs a team has, `COUNTED` at most."""
    return sum(1 for _ in _names(store, name, COUNTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Purging:
    """The steps of a departure; each goes on where there is something left. One per process."""

    ports: RegistryPorts

    def run(self, errand: Errand, now: datetime) -> None:
        """Deletes some more; at last, the name is free. Raises StoreError; the errand stands until then."""
        store = self.ports.store
        item, team = store.get(errand.key), known_team(store, errand.subject)
        if item is None:
            return
        if team is None or team.leaving_since is None or team.gone_at is not None:
            store.write(errand.done())
            return
        deadline = self.ports.clock.now() + LONGEST
        if not self._jobs(team, str(item.get("by")), deadline):
            return
        if team.halts:  # what its switches hold has no job any more, and only who is called is cancelled
            store.write(team_update(team, replace(team, halts=())))
        elif self._things(team):
            busy = _busy(store, team, now, self.ports.limits.slots_per_lane)
            quiet = now - team.leaving_since >= SETTLED and not busy
            if quiet and self._revisions(team, now):
                self._gone(team, errand, floor_ms(now))

    def _jobs(self, team: Team, by: str, deadline: datetime) -> bool:
        """Whether no job is left."""
        caller = Caller(principal=by, source="purge")
        for claim in _names(self.ports.store, team.name, None):
            if self.ports.clock.now() >= deadline:
                return False
            name, uid = str(claim["sk"]), str(claim["uid"])
            request = JobRequest(caller=caller, team=team.name, name=name, uid=uid, note=NOTE)
            try:
                delete(self.ports, request)
            except (UndecodableError, LookupError):  # nobody can read it: only its name is taken away
                key = keys.name_claim(team.name, name)
                self.ports.store.write(Delete(key=key, condition=equals("uid", claim["uid"])))
        return not count_jobs(self.ports.store, team.name)

    def _things(self, team: Team) -> bool:
        """Whether no dead letter, calendar, answer or count is left, that another team of the name would find."""
        partitions = [
            Query(table=Table.EXECUTIONS, pk=f"D#{team.name}"),
            Query(table=Table.CONTROL, pk=keys.idempotency(team.name, "").pk),
        ]
        calendars = Query(table=Table.JOBS, pk=keys.calendar(team.name, "").pk)
        for item in items(self.ports.store, calendars):
            if str(item["sk"]).startswith("C#"):
                name = str(item["sk"]).removeprefix("C#")
                partitions.append(Query(table=Table.JOBS, pk=keys.calendar_version(team.name, name, 0).pk))
        cleared = [self._cleared(query) for query in (*partitions, calendars)]
        return all(cleared) and not self.ports.store.batch_delete([keys.usage(team.name)])

    def _cleared(self, query: Query) -> bool:
        """Whether the partition is empty now; a step deletes so many items of it and no more."""
        found = list(items(self.ports.store, replace(query, limit=MOST)))
        left = self.ports.store.batch_delete([Key(query.table, each["pk"], each["sk"]) for each in found])
        return not left and len(found) < MOST

    def _revisions(self, team: Team, now: datetime) -> bool:
        """Whether every entry of the team's audit trail expires."""
        expires = _expiry(now + team.retention + OUTLIVES - SOONER)
        first = keys.team_revision(team.name, 0)
        marked = 0
        for item in items(self.ports.store, Query(table=first.table, pk=first.pk, first=first.sk)):
            if "expires" in item or not str(item["sk"]).startswith("R#"):
                continue
            if marked == MOST:
                return False
            key = Key(first.table, item["pk"], item["sk"])
            lacking = every(Present(), Lacks("expires"))
            self.ports.store.write(Update(key=key, set={"expires": expires}, condition=lacking))
            marked += 1
        return True

    def _gone(self, team: Team, errand: Errand, now: datetime) -> None:
        """The name is free. What is left tells whoever still asks how long records live; its keys are destroyed."""
        after = replace(team, gone_at=now, signing_keys=())
        self.ports.store.transact(
            [
                team_update(team, after, expires=now + team.retention + OUTLIVES),
                Delete(key=keys.team_listed(team.name)),
                errand.done(),
            ],
            self.ports.entropy.token(),
        )


def _names(store: Store, team: str, limit: int | None) -> Iterator[Item]:
    claim = keys.name_claim(team, "-")
    yield from items(store, Query(table=claim.table, pk=claim.pk, limit=limit))


def _busy(store: Store, team: Team, now: datetime, per_lane: int) -> bool:
    """Whether something of the team still runs: it holds a slot. A cap that was lowered may have left some above it."""
    lanes = max(-(-team.max_concurrency // per_lane), LANES_AT_LEAST)
    queries = (Query(table=Table.CONTROL, pk=keys.slot_lane(team.name, lane)) for lane in range(lanes))
    ends = (item.get("until") for query in queries for item in items(store, query))
    return any(isinstance(until, int) and until > to_ms(now) for until in ends)


def _expiry(instant: datetime) -> int:
    return to_ms(instant) // 1000
