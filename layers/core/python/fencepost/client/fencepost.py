"""The way in: `Fencepost(team="payments").job("nightly").put(...)`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Unpack
from urllib.parse import urlsplit

from fencepost.client.auditing import AuditPage, audit_pages
from fencepost.client.bulk import BulkItem, BulkResult, BulkResults
from fencepost.client.calls import Call, Caller, Retrying, path, precondition
from fencepost.client.credentials import Keys, Signer, signer
from fencepost.client.decoding import decode
from fencepost.client.errors import ConfigurationError
from fencepost.client.execution import ExecutionHandle
from fencepost.client.job import JobHandle
from fencepost.client.keys import KeyRing
from fencepost.client.paging import Listing, pages, walk
from fencepost.client.results import (
    Execution,
    Health,
    Job,
    Limits,
    Preview,
    Redriven,
    Revision,
    Team,
    UnreadableJob,
)
from fencepost.client.shapes import TeamFields
from fencepost.client.system import Clock, Entropy, SystemClock, SystemEntropy, variable
from fencepost.client.transport import Transport, Urllib3Transport
from fencepost.client.upkeep import StageHandle, Upkeep
from fencepost.domain.instants import to_wire

ENDPOINT_VARIABLE = "FENCEPOST_ENDPOINT"
TEAM_VARIABLE = "FENCEPOST_TEAM"


@dataclass(frozen=True, kw_only=True)
class Fencepost:
    """A client of one stage, for one team. Nothing is sent before a method is called; it may be shared by threads.

    `endpoint` and `team` are taken from FENCEPOST_ENDPOINT and FENCEPOST_TEAM where they are left out; credentials from
    `keys`, else from botocore's chain (with `profile`); the region from the endpoint's own name, else the chain's.
    """

    endpoint: str | None = None
    team: str | None = None
    keys: Keys | None = None
    profile: str | None = None
    region: str | None = None
    retrying: Retrying = field(default_factory=Retrying)
    transport: Transport = field(default_factory=Urllib3Transport, repr=False)
    clock: Clock = field(default_factory=SystemClock, repr=False)
    entropy: Entropy = field(default_factory=SystemEntropy, repr=False)

    def for_team(self, team: str) -> Fencepost:
        """The same for another team."""
        return replace(self, team=team)

    def job(self, name: str) -> JobHandle:
        """A job of the team by its name, or by `~uid` (deleted ones too)."""
        return JobHandle(self.caller, self._team, name)

    def execution(self, execution_id: str) -> ExecutionHandle:
        """One execution by its id."""
        return ExecutionHandle(self.caller, self._team, execution_id)

    def jobs(
        self,
        *,
        state: str | None = None,
        tier: str | None = None,
        labels: Mapping[str, str] | None = None,
        prefix: str | None = None,
        due_from: datetime | None = None,
        due_before: datetime | None = None,
    ) -> Listing[Job, UnreadableJob]:
        """The team's jobs by name. `due_from`, `due_before`: only those whose next occurrence lies there. Those that
        nobody can read are in the iterator's `unreadable`, held to no filter but the prefix.
        """
        query = {
            "state": state,
            "tier": tier,
            "label": [f"{name}:{value}" for name, value in (labels or {}).items()],
            "prefix": prefix,
            "next_after": None if due_from is None else to_wire(due_from),
            "next_before": None if due_before is None else to_wire(due_before),
            "limit": 100,
        }
        found = pages(self.caller, self._path("jobs"), query)
        return Listing(found, partial(decode, Job), partial(decode, UnreadableJob))

    def dead_letters(self, *, page_size: int = 100) -> Iterator[Execution]:
        """The team's dead executions, the newest death first."""
        return walk(self.caller, self._path("dead-letters"), {"limit": page_size}, Execution)

    def redrive(self, limit: int = 100, note: str | None = None, *, key: str | None = None) -> Redriven:
        """Sends up to `limit` (1..100) dead executions again, the newest death first."""
        call = Call(
            method="POST",
            path=self._path("dead-letters", "redrive"),
            body={"limit": limit, "note": note},
            key=key,
            keyed=True,
        )
        return decode(Redriven, self.caller.call(call).body)

    def bulk(self, items: Sequence[BulkItem], *, key: str | None = None) -> tuple[BulkResult, ...]:
        """Up to 100 puts and deletes in one call, each standing by itself: one result per item, in order."""
        body = {"items": [item.wire() for item in items]}
        call = Call(method="POST", path=self._path("bulk"), body=body, key=key, keyed=True)
        return decode(BulkResults, self.caller.call(call).body).results

    def limits(self) -> Limits:
        """The team's limits with what is used of them."""
        return decode(Limits, self.caller.call(Call(method="GET", path=self._path("limits"))).body)

    @property
    def upkeep(self) -> Upkeep:
        """What is done for the whole team: pause and resume, calendars, time-zone rules."""
        return Upkeep(self.caller, self._team)

    @property
    def stage(self) -> StageHandle:
        """The stage's own switches."""
        return StageHandle(self.caller)

    @property
    def signing_keys(self) -> KeyRing:
        """What receivers verify the team's calls with."""
        return KeyRing(self.caller, self._team)

    def get_team(self) -> Team:
        """The team. Raises NotFoundError."""
        return decode(Team, self.caller.call(Call(method="GET", path=self._path())).body)

    def put_team(self, *, if_revision: int | None = None, **declaration: Unpack[TeamFields]) -> Team:
        """Declares the team in full. Only administrators create teams and set their limits."""
        return self._team_write("PUT", dict(declaration), if_revision)

    def patch_team(self, *, if_revision: int | None = None, **changes: Unpack[TeamFields]) -> Team:
        """Changes what is named, and nothing else."""
        return self._team_write("PATCH", dict(changes), if_revision)

    def team_history(self, *, page_size: int = 100) -> Iterator[Revision]:
        """Every change of the team, the newest first."""
        return walk(self.caller, self._path("revisions"), {"limit": page_size}, Revision)

    def audit(
        self,
        *,
        job: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> Iterator[AuditPage]:
        """Where the ledger differs from what should have happened to the team's jobs, or to one (`~uid`: a deleted one),
        page by page. By default the last day.
        """
        return audit_pages(self.caller, self._path("audit"), job=job, since=since, before=before)

    def preview(
        self,
        schedule: Mapping[str, Any],
        *,
        after: datetime | None = None,
        count: int = 5,
        misfire: Mapping[str, Any] | None = None,
        by_team: bool = False,
    ) -> Preview:
        """What a schedule would do from `after` (now) on; nothing is stored. `by_team`: one that names calendars of the
        team.
        """
        body: dict[str, Any] = {"schedule": schedule, "count": count}
        if after is not None:
            body["after"] = to_wire(after)
        if misfire is not None:
            body["misfire"] = misfire
        where = self._path("preview") if by_team else path("preview")
        return decode(Preview, self.caller.call(Call(method="POST", path=where, body=body)).body)

    def health(self) -> Health:
        """How the service is."""
        return decode(Health, self.caller.call(Call(method="GET", path=path("health"))).body)

    @cached_property
    def caller(self) -> Caller:
        """Makes this client's calls. Raises ConfigurationError where something is not known."""
        endpoint = self._endpoint
        return Caller(
            endpoint=endpoint,
            signer=self._signer(endpoint),
            transport=self.transport,
            clock=self.clock,
            entropy=self.entropy,
            retrying=self.retrying,
        )

    def _signer(self, endpoint: str) -> Signer:
        return signer(endpoint, keys=self.keys, profile=self.profile, region=self.region)

    @property
    def _endpoint(self) -> str:
        endpoint = (
            (self.endpoint or variable(os.environ, ENDPOINT_VARIABLE) or "").rstrip("/").removesuffix("/v1")
        )
        if not endpoint:
            raise ConfigurationError(f"no endpoint: pass one, or set {ENDPOINT_VARIABLE}")
        if urlsplit(endpoint).scheme not in {"http", "https"} or not urlsplit(endpoint).hostname:
            raise ConfigurationError(f"{endpoint} is no endpoint: it begins with https://")
        return endpoint

    @property
    def _team(self) -> str:
        team = self.team or variable(os.environ, TEAM_VARIABLE)
        if not team:
            raise ConfigurationError(f"no team: name one, or set {TEAM_VARIABLE}")
        return team

    def _path(self, *more: str) -> str:
        return path("teams", self._team, *more)

    def _team_write(self, method: str, body: object, if_revision: int | None) -> Team:
        call = Call(
            method=method, path=self._path(), body=body, headers=precondition(if_revision), keyed=True
        )
        return decode(Team, self.caller.call(call).body)
