"""A stage whose processes die and come back: owners and workers who call again, an event source, a tick, time."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import cache
from http import HTTPStatus
from itertools import count
from typing import Any
from unittest import mock

from fencepost.adapters.seam import seamed
from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.ports import QueueName
from fencepost.application.store import Put, Table
from fencepost.domain.instants import MINUTE, floor_minute, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution
from fencepost.local.engine import delivery, upkeep
from fencepost.local.poller import to_event
from fencepost.local.ticker import event
from fencepost.runtime import delivering
from fencepost.runtime.entropy import token_bytes
from fencepost.runtime.function import Handler
from fencepost.runtime.observability import Observability, observability
from fencepost.runtime.settings import Settings
from functions.api.handler import build
from functions.sweep import handler as sweep
from functions.tick import handler as tick
from tests.crash.danger import Danger
from tests.crash.grounds import Ground
from tests.support.api import ADMIN_ROLE, Front, MemoryStage, Reply
from tests.support.clock import CountingEntropy
from tests.support.faults import Killed
from tests.support.world import ScriptedTargets, ToldTeams

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_LIVES = count(int.from_bytes(token_bytes(2), "big") + 1)
QUEUES = {name: f"https://sqs.eu-central-1.amazonaws.com/000000000000/{name}" for name in QueueName}
BACK_AFTER = 2
KEY_IS_FREE_AFTER = 61
LIMITS = Limits(shards=1, horizon=MINUTE, timer_instead=3 * MINUTE, backlog_lanes=1)


@cache
def _observed() -> Observability:
    """One for the process, heard by nobody."""
    return observability("test", io.StringIO())


class _Tokens(CountingEntropy):
    """Tokens that no other life draws: on an engine that they share they would be requests made before."""

    def __init__(self, life: int) -> None:
        super().__init__()
        self._life = "".join(_ALPHABET[life >> shift & 31] for shift in (20, 15, 10, 5, 0))

    def token(self) -> str:
        """The next one."""
        return self._life + super().token()[5:]


class _Nothing:
    """No document to hold answers to: other tests do that."""

    def check(self, *_: object) -> None:
        """Nothing."""


class Life:
    """All processes of one stage; `kill` ends them, whoever is needed next is a new one."""

    def __init__(self, ground: Ground, danger: Danger) -> None:
        self.ground = ground
        self.danger = danger
        self.clock = ground.clock
        self.targets = ScriptedTargets(self.clock)
        self.notifier = ToldTeams()
        self.stage = MemoryStage(
            clock=self.clock,
            store=ground.store,
            queues=ground.mail,
            targets=seamed(self.targets, "targets", danger),
            notifier=seamed(self.notifier, "notifier", danger),
            entropy=_Tokens(next(_LIVES)),
            settings=Settings(stage="test", limits=LIMITS, admins=frozenset({ADMIN_ROLE}), queues=QUEUES),
            observed=_observed(),
        )
        self.ticks_every = 1
        self._processes: dict[str, Any] = {}

    def prove_empty(self) -> None:
        """Nothing lies in the past, neither timers nor pauses to end: no pass has to read an hour of it."""
        item = {"v": 1, "m": to_ms(floor_minute(self.clock.now()) - MINUTE)}
        for key in (keys.watermark(0), keys.agenda_cursor()):
            self.ground.plain.write(Put(key=key, item=item))

    def kill(self) -> None:
        """Everybody forgets everything."""
        self._processes.clear()

    def call(self, method: str, path: str, body: Any = None, **how: Any) -> Reply:
        """An owner's or a worker's call, repeated until it is answered."""
        keyed = "Idempotency-Key" in how.get("headers", {})
        for _ in range(4):
            try:
                reply: Reply = self._front().call(method, path, body, **how)
            except Killed:
                self.kill()
                self.clock.advance(seconds=KEY_IS_FREE_AFTER if keyed else BACK_AFTER)
                continue
            return reply
        raise AssertionError(f"{method} {path} is never answered")

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """A call that succeeds, sooner or later; its body. Whoever asks again may hear that it is so already."""
        alive = not self.danger.killed
        reply = self.call(method, path, body, **how)
        done = self.danger.killed and alive and reply.status == HTTPStatus.CONFLICT
        assert reply.status < HTTPStatus.MULTIPLE_CHOICES or done, (method, path, reply.status, reply.body)
        return reply.body

    def run(self, seconds: float) -> None:
        """Lets time pass: ticks on the minute, messages as they surface, whatever of it dies on the way."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self.clock.now() < end:
            minute = floor_minute(self.clock.now()) + MINUTE
            self._drain(min(minute, end))
            self.clock.set(max(self.clock.now(), min(minute, end)))
            if self.clock.now() >= minute and minute.minute % self.ticks_every == 0:
                self._survive(lambda: self._handler("tick")(event(self.clock.now(), "tick"), None))

    def until(self, done: Callable[[], bool], *, minutes: int = 20) -> None:
        """Lets minutes pass until it is so."""
        for _ in range(minutes):
            if done():
                return
            self.run(60 * self.ticks_every - self.clock.now().second)
        raise AssertionError(f"it never comes to that; {self.ground.waiting()}, {self.records()}")

    def sweep(self) -> dict[str, Any]:
        """The second net, in peace: its finds."""
        found: dict[str, Any] = sweep.build(self.stage)({}, None)
        return found

    def records(self) -> list[Execution]:
        """Every record there is."""
        found = [item for item in self.ground.items(Table.EXECUTIONS) if "state" in item]
        return [decode_execution(item) for item in found]

    def of(self, job: str) -> list[Execution]:
        """A job's records, by instant."""
        return sorted((each for each in self.records() if each.job == job), key=lambda each: each.due)

    def _front(self) -> Front:
        front: Front | None = self._processes.get("api")
        if front is None:
            front = Front(stage=self.stage, memory=self.ground.plain, contract=_Nothing())  # type: ignore[arg-type]  # a stand-in, and a store that is only looked at
            front.handler = self._in_peace(lambda: build(self.stage))
            self._processes["api"] = front
        return front

    def _handler(self, name: str) -> Handler:
        if name not in self._processes:
            builds = {feed.queue.value: feed.build for feed in (*upkeep(), *delivery())} | {
                "tick": tick.build
            }
            with mock.patch.object(
                delivering, "MAX_BATCH", 1
            ):  # in one thread, so that a death is everybody's
                self._processes[name] = self._in_peace(lambda: builds[name](self.stage))
        handler: Handler = self._processes[name]
        return handler

    def _in_peace(self, make: Callable[[], Any]) -> Any:
        """Processes are composed before they are counted: what that reads it may read again."""
        was, self.danger.armed = self.danger.armed, False
        made = make()
        self.danger.armed = was
        return made

    def _survive(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Killed:
            self.kill()

    def _drain(self, end: Any) -> None:
        for _ in range(500):
            if [queue for queue in QueueName if self._poll(queue)]:
                continue
            moment = self.ground.mail.next_visible()
            if moment is None or moment > end:
                return
            self.clock.set(max(self.clock.now(), moment))
        raise AssertionError(f"messages without end: {self.ground.waiting()[:5]}")

    def _poll(self, queue: QueueName) -> bool:
        messages = self.ground.mail.receive(queue, 10, timedelta(0))
        if messages:
            with suppress(Killed):
                try:
                    answer = self._handler(queue.value)(to_event(messages, self.stage.settings), None)
                except Killed:
                    self.kill()
                    raise
                refused = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
                self.ground.mail.delete([each for each in messages if each.message_id not in refused])
        return bool(messages)
