"""A registry on a store in memory and a settable clock, for tests that tell what owners do to their jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys
from fencepost.application.admission import Context, admission
from fencepost.application.codec import decode_execution, decode_timer, encode_execution
from fencepost.application.codec_job import decode_ended_generation, encode_team
from fencepost.application.delivery.cancel import Cancel
from fencepost.application.delivery.reads import Reads
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.wiring import delivery
from fencepost.application.planting import WATERMARK
from fencepost.application.registry import lifecycle
from fencepost.application.registry.drafts import JobDraft, Settings
from fencepost.application.registry.job_changes import Current
from fencepost.application.registry.jobs import Declared, JobRequest, declare
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import find_current
from fencepost.application.registry.revisions import Entry, of_job
from fencepost.application.store import Put, Query, Store, Table, items
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Caller, EndedGeneration, Execution, Job, Origin, Team, Timer, TimerKind
from fencepost.domain.states import ExecutionState
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.world import ScriptedTargets, ToldTeams

OWNER = Caller(principal="arn:aws:iam::111122223333:role/payments")
NINE = {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}
WEBHOOK = {"webhook": {"url": "https://example.com/hook"}}


@dataclass
class Registry:
    """One team, `payments`. `claimed` collects what was handed over for an immediate claim."""

    clock: SettableClock
    store: MemoryStore
    ports: RegistryPorts
    claimed: list[Timer] = field(default_factory=list)

    @classmethod
    def at(cls, instant: str, store: Store | None = None) -> Registry:
        """A registry whose clock stands at `instant`; `store` stands in front of the memory store if given."""
        clock = SettableClock(instant)
        memory = MemoryStore(clock)
        claimed: list[Timer] = []
        entropy, limits = CountingEntropy(), Limits(shards=4)

        def claim_now(timers: Sequence[Timer], now: datetime) -> None:
            claimed.extend(timers)

        ports = RegistryPorts(
            store=store or memory,
            clock=clock,
            entropy=entropy,
            claim_now=claim_now,
            cancel=_cancel(memory, clock, entropy, limits),
            limits=limits,
            egress=EgressPolicy(),
        )
        made = cls(clock=clock, store=memory, ports=ports, claimed=claimed)
        made.team(Team(name="payments"))
        return made

    def through(self, store: Store) -> Registry:
        """The same registry, its use cases calling `store`."""
        return replace(self, ports=replace(self.ports, store=store))

    def team(self, team: Team) -> None:
        """Puts a team as it is."""
        self.store.write(Put(key=keys.team(team.name), item=encode_team(team)))

    def put(self, name: str, schedule: Mapping[str, object] = NINE, **more: Any) -> Declared:
        """A PUT of a job with a webhook; `more` are fields of the request, of the settings, or the payload."""
        request, draft = self._request(name, more), more.pop("draft", None)
        payload, target = more.pop("payload", b""), more.pop("target", WEBHOOK)
        made = draft or JobDraft(schedule=schedule, target=target, payload=payload, settings=Settings(**more))
        return declare(self.ports, request, lambda _: made)

    def pause(self, name: str, **more: Any) -> Any:
        """See `lifecycle.pause`."""
        return lifecycle.pause(self.ports, self._request(name, more), **more)

    def resume(self, name: str, **more: Any) -> Any:
        """See `lifecycle.resume`."""
        return lifecycle.resume(self.ports, self._request(name, more))

    def delete(self, name: str, **more: Any) -> Any:
        """See `lifecycle.delete`."""
        return lifecycle.delete(self.ports, self._request(name, more))

    def _request(self, name: str, more: dict[str, Any]) -> JobRequest:
        asked = {word: more.pop(word) for word in _ASKED if word in more}
        return JobRequest(caller=OWNER, team="payments", name=name, **asked)

    def current(self, name: str) -> Current:
        """The job and its detail; it has to be there."""
        found = find_current(self.store, "payments", name)
        assert found is not None, f"no job {name}"
        return found

    def job(self, name: str) -> Job:
        """The job; it has to be there."""
        return self.current(name).job

    def timers(self, generation: int | None = None) -> list[Timer]:
        """All `fire` timers, of a generation if given, by instant."""
        found = [decode_timer(item) for item in self.store.everything(Table.TIMERS)]
        fire = [timer for timer in found if timer.kind is TimerKind.FIRE]
        return sorted(
            (timer for timer in fire if generation in {None, timer.generation}), key=lambda t: t.instant
        )

    def records(self, uid: str) -> list[Execution]:
        """All records of a job, by id."""
        return [decode_execution(item) for item in items(self.store, Query(table=Table.EXECUTIONS, pk=uid))]

    def entries(self, uid: str) -> list[Entry]:
        """The audit trail of a job, the newest first."""
        return of_job(self.store, uid, older_than=None, limit=100)

    def ended(self, uid: str, generation: int) -> EndedGeneration | None:
        """How a generation ended."""
        item = self.store.get(keys.ended_generation(uid, generation))
        return None if item is None else decode_ended_generation(item)

    def watermark(self, shard: int, minute: str) -> None:
        """Says that a shard is proven empty up to `minute`."""
        item = {"v": 1, WATERMARK: to_ms(from_wire(minute))}
        self.store.write(Put(key=keys.watermark(shard), item=item))

    def execution(self, job: Job, due: str, state: ExecutionState, **more: Any) -> Execution:
        """Puts the record of an occurrence of `job` in `state`."""
        instant = from_wire(due)
        facts: dict[str, Any] = {
            "id": ExecutionId.occurrence(job.uid, instant),
            "team": job.team,
            "job": job.name,
            "state": state,
            "origin": Origin.SCHEDULE,
            "tier": job.tier,
            "due": instant,
            "generation": job.generation,
            "planted_generation": job.generation,
            "claimed_at": instant - timedelta(minutes=2),
        }
        record = Execution(**{**facts, **more})
        self.store.write(Put(key=keys.execution(record.id), item=encode_execution(record)))
        return record


class Beside:
    """A store during whose calls something else happens."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def _cancel(store: Store, clock: SettableClock, entropy: CountingEntropy, limits: Limits) -> Cancel:
    """What delivery cancels with, over queues that nobody reads."""
    queues = MemoryQueues(clock)
    context = Context(store=store, queues=queues, clock=clock, entropy=entropy, limits=limits)
    tools = Tools(store=store, queues=queues, clock=clock, entropy=entropy, reads=Reads(store), limits=limits)
    return delivery(tools, admission(context), ScriptedTargets(clock), ToldTeams()).cancel


_ASKED = ("expected", "absent", "present", "note", "dry_run")
