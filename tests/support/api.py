"""The API's real handler over a stage in memory: requests become proxy events, answers come back as a client sees them.

Every answer is held to the API document.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fencepost.adapters.api.openapi import document
from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.application.ports import Secrets
from fencepost.application.store import Store
from fencepost.domain.limits import Limits
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.settings import Settings
from functions.api.handler import build
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.documents import Contract
from tests.support.grants import held
from tests.support.vault import Vault, secrets_in
from tests.support.world import ScriptedTargets, ToldTeams

EVENTS = Path(__file__).resolve().parents[2] / "events" / "api"
OWNER = "arn:aws:sts::111122223333:assumed-role/payments-deploy/some-session"
STRANGER = "arn:aws:sts::444455556666:assumed-role/payments-deploy/some-session"
ADMIN = "arn:aws:sts::123456789012:assumed-role/fencepost-admin/lena"
ADMIN_ROLE = "arn:aws:iam::123456789012:role/fencepost-admin"
OWNER_ROLE = "arn:aws:iam::111122223333:role/payments-deploy"
HOOK = {"webhook": {"url": "https://example.com/hook"}}
NINE = {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}


@dataclass
class MemoryStage:
    """`Stage`, all of it in this process."""

    clock: SettableClock
    store: Store
    queues: MemoryQueues
    targets: ScriptedTargets
    notifier: ToldTeams
    entropy: CountingEntropy
    settings: Settings
    observed: Observability
    vault: Vault = field(default_factory=Vault)
    replaced: Store | None = None

    @property
    def secrets(self) -> Secrets:
        """Under the key of `vault`."""
        return secrets_in(self.vault)

    @property
    def quick_store(self) -> Store:
        """The same store."""
        return self.store


@dataclass(frozen=True)
class Reply:
    """What a client sees."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def etag(self) -> str:
        """The entity tag."""
        return self.headers["ETag"]

    @property
    def faults(self) -> dict[str, dict[str, Any]]:
        """The faults by field."""
        return {fault["field"]: fault for fault in self.body["faults"]}


@cache
def _contract() -> Contract:
    """One for the process: the document takes a while to make."""
    return Contract(document())


@cache
def _observed() -> Observability:
    """One for the process: its logger is."""
    return observability("test", io.StringIO())


def event_of(name: str) -> dict[str, Any]:
    """An event as AWS sent it."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


@dataclass
class Front:
    """One stage and its door. Calls are made by the owner of team `payments` unless `by` says otherwise."""

    stage: MemoryStage
    memory: MemoryStore
    handler: Any = None
    contract: Contract = field(default_factory=_contract)

    @classmethod
    def at(cls, instant: str = "2026-03-01T12:00:00Z", *, team: bool = True) -> Front:
        """A stage whose clock stands at `instant`, with the team `payments` unless told otherwise."""
        clock = SettableClock(instant)
        memory = MemoryStore(clock)
        stage = MemoryStage(
            clock=clock,
            store=memory,
            queues=MemoryQueues(clock),
            targets=ScriptedTargets(clock),
            notifier=ToldTeams(),
            entropy=CountingEntropy(),
            settings=Settings(stage="test", limits=Limits(shards=4), admins=frozenset({ADMIN_ROLE})),
            observed=_observed(),
        )
        front = cls(stage=stage, memory=memory, handler=build(held(stage, build.__module__)))
        if team:
            front.put("/v1/teams/payments", {"principals": [OWNER_ROLE]}, by=ADMIN)
        return front

    @property
    def clock(self) -> SettableClock:
        """The stage's clock."""
        return self.stage.clock

    def through(self, store: Store) -> Front:
        """The same stage behind `store`."""
        self.stage.store = store
        self.handler = build(held(self.stage, build.__module__))
        return self

    def get(self, path: str, **how: Any) -> Reply:
        """A GET."""
        return self.call("GET", path, **how)

    def put(self, path: str, body: Any = None, **how: Any) -> Reply:
        """A PUT."""
        return self.call("PUT", path, body, **how)

    def patch(self, path: str, body: Any = None, **how: Any) -> Reply:
        """A PATCH."""
        return self.call("PATCH", path, body, **how)

    def post(self, path: str, body: Any = None, **how: Any) -> Reply:
        """A POST."""
        return self.call("POST", path, body, **how)

    def delete(self, path: str, **how: Any) -> Reply:
        """A DELETE."""
        return self.call("DELETE", path, **how)

    def call(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        by: str | None = OWNER,
        headers: Mapping[str, str] | None = None,
        raw: str | None = None,
    ) -> Reply:
        """One call of a path with its query. `raw` is a body as text."""
        path, _, query = target.partition("?")
        text = raw if raw is not None else None if body is None else json.dumps(body)
        return self.send(_event(method, path, query, text, by, dict(headers or {})))

    def send(self, event: Mapping[str, Any]) -> Reply:
        """Answers an event, and holds the answer to the document."""
        result = self.handler(event, None)
        headers = {name: values[0] for name, values in result["multiValueHeaders"].items()}
        answer = json.loads(result["body"]) if result.get("body") else None
        reply = Reply(status=result["statusCode"], body=answer, headers=headers)
        self.contract.check(event["httpMethod"], event["path"], reply.status, headers, answer)
        return reply

    def job(self, name: str = "report", schedule: Mapping[str, Any] = NINE, **more: Any) -> Reply:
        """A PUT of a job with a webhook."""
        how = {word: more.pop(word) for word in ("headers", "by") if word in more}
        return self.put(
            f"/v1/teams/payments/jobs/{name}", {"schedule": schedule, "target": HOOK, **more}, **how
        )


def _event(
    method: str, path: str, query: str, body: str | None, by: str | None, headers: dict[str, str]
) -> dict[str, Any]:
    event = event_of("get_job")
    many: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        many.setdefault(name, []).append(value)
    event |= {
        "httpMethod": method,
        "path": path,
        "body": body,
        "queryStringParameters": {name: values[-1] for name, values in many.items()} or None,
        "multiValueQueryStringParameters": many or None,
    }
    event["headers"] |= headers
    event["multiValueHeaders"] |= {name: [value] for name, value in headers.items()}
    event["requestContext"]["identity"]["userArn"] = by
    return event
