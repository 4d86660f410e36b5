"""A stage that lives for a while, an audit of it, and a hand that spoils its ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys
from fencepost.application.auditing.audit import JobAudit, Window, pages_of
from fencepost.application.codec import decode_execution, encode_execution
from fencepost.application.registry.locate import locate
from fencepost.application.store import Delete, Key, Put, Table
from fencepost.client import Fencepost, webhook
from fencepost.domain.auditing.findings import Finding
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution, Job
from tests.support.api import Front
from tests.support.clients import Machine, client

HOOK = webhook("https://example.com/hook")
START = "2026-03-01T10:00:30Z"
DAYS = timedelta(days=2)
DRAWN = 2_000
"""More tokens than a past has drawn: a copy of it draws none of them again."""


@dataclass
class Past:
    """The team `payments` on a stage in memory; everything happens as it would on AWS, on a settable clock."""

    front: Front = field(default_factory=lambda: Front.at(START))

    @classmethod
    def copied(cls, other: Past) -> Past:
        """A stage that has come to rest as `other` did, with a ledger of its own to spoil."""
        past = cls(Front.at(to_wire(other.front.clock.now()), team=False))
        for table in Table:
            for item in other.store.everything(table):
                facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
                past.store.write(Put(key=Key(table, item["pk"], item["sk"]), item=facts))
        for _ in range(DRAWN):
            past.front.stage.entropy.token()
        return past

    @property
    def store(self) -> MemoryStore:
        """What is true."""
        return self.front.memory

    @property
    def owner(self) -> Fencepost:
        """Whoever declares jobs; each call is of the moment."""
        return client(self.front)

    def put(self, name: str, schedule: dict[str, Any], **settings: Any) -> Job:
        """Declares a job."""
        self.owner.job(name).put(schedule=schedule, target=HOOK, **settings)
        return self.job(name)

    def job(self, name: str) -> Job:
        """The job, or by ``~uid`` a deleted one."""
        found = locate(self.store, "payments", name)
        assert found is not None, name
        return found

    def run(self, until: str | datetime) -> None:
        """Lets time pass with the service up."""
        Machine(self.front).run(until)

    def sleep(self, until: str) -> None:
        """Lets time pass with the service down."""
        self.front.clock.set(until)

    def audit(self, name: str, *, since: str | None = None, before: str | None = None) -> JobAudit:
        """The whole audit of a job, all its pages in one."""
        now = self.front.clock.now()
        window = Window(
            since=now - DAYS if since is None else from_wire(since),
            before=now if before is None else from_wire(before),
            now=now,
            limits=Limits(shards=4),
        )
        found = JobAudit(job=self.job(name))
        for page in pages_of(self.store, found.job, window):
            found.findings += page.findings
            found.records += page.records
            found.explained += page.explained
            found.pending += page.pending
            found.unjudged += page.unjudged
        return found

    def findings(self, name: str, **window: str) -> list[Finding]:
        """What the audit of a job finds."""
        return self.audit(name, **window).findings

    def kinds(self, name: str, **window: str) -> list[str]:
        """The same in words."""
        return [finding.kind.value for finding in self.findings(name, **window)]

    def records(self, name: str) -> list[Execution]:
        """A job's records, the oldest first."""
        uid = self.job(name).uid
        found = [item for item in self.store.everything(Table.EXECUTIONS) if item["pk"] == uid]
        return sorted((decode_execution(item) for item in found), key=lambda each: each.due)

    def record(self, name: str, instant: str) -> Execution:
        """The record of one occurrence."""
        identity = ExecutionId.occurrence(self.job(name).uid, from_wire(instant))
        item = self.store.get(keys.execution(identity))
        assert item is not None, instant
        return decode_execution(item)

    def spoil(self, record: Execution, **facts: Any) -> Execution:
        """Writes another truth about a record."""
        spoilt = replace(record, **facts)
        self.store.write(Put(key=keys.execution(spoilt.id), item=encode_execution(spoilt)))
        return spoilt

    def lose(self, record: Execution) -> None:
        """Takes a record away."""
        self.store.write(Delete(key=keys.execution(record.id)))

    def lose_timers(self, name: str) -> None:
        """Takes a job's timers away."""
        uid = self.job(name).uid
        for item in self.store.everything(Table.TIMERS):
            if uid in item["sk"]:
                self.store.write(Delete(key=Key(Table.TIMERS, item["pk"], item["sk"])))


def having(**facts: Any) -> Callable[[Finding], bool]:
    """Tells findings by their facts."""
    return lambda finding: all(getattr(finding, name) == value for name, value in facts.items())
