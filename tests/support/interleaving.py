"""Actors that take turns at port calls, so that a test chooses every interleaving and every crash.

An actor is a function on a thread of its own, but only one thread ever runs: it stops before each call of a port and
goes on when the test says so. A crash is what a killed process leaves behind: whatever was called took effect, and
nothing more will be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.application.ports import Outgoing, Queues, Received
from fencepost.application.store import (
    Action,
    Cancelled,
    Committed,
    Item,
    Key,
    Lost,
    Query,
    Share,
    Store,
    Won,
    Write,
)

PATIENCE_SECONDS = 20


class CrashedError(BaseException):
    """The actor's process is gone; nothing may handle this."""


@dataclass
class _Actor:
    name: str
    work: Callable[[], object]
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    stopped: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    before: str = "start"
    killed: bool = False
    over: bool = False
    result: object = None
    failure: BaseException | None = None


class Stage:
    """The actors of one test. Calls of the ports from outside any actor pass at once."""

    def __init__(self) -> None:
        self._actors: dict[str, _Actor] = {}
        self._running = threading.local()

    def enter(self, name: str, work: Callable[[], object]) -> None:
        """A new actor, standing before its first line."""
        actor = _Actor(name, work)
        self._actors[name] = actor
        threading.Thread(target=self._play, args=(actor,), daemon=True).start()

    def alive(self) -> list[str]:
        """Those that have something left to do."""
        return [name for name, actor in self._actors.items() if not actor.over]

    def before(self, name: str) -> str:
        """The port call that the actor stands before."""
        return self._actors[name].before

    def step(self, name: str) -> bool:
        """Lets an actor make the call that it stands before, up to the next one; whether there is one."""
        actor = self._actors[name]
        if not actor.over:
            actor.go.release()
            if not actor.stopped.acquire(timeout=PATIENCE_SECONDS):
                raise RuntimeError(f"{name} does not come back from {actor.before}")
            if actor.failure is not None:
                failure, actor.failure = actor.failure, None
                raise failure
        return not actor.over

    def until(self, name: str, call: str) -> None:
        """Lets an actor go on until it stands before `call`; fails where it ends first."""
        while self.step(name):
            if self.before(name) == call:
                return
        raise AssertionError(f"{name} ended without {call}")

    def finish(self, *names: str) -> None:
        """Lets actors go on to their end, one after the other; all of them without names."""
        for name in names or self.alive():
            while self.step(name):
                pass

    def crash(self, name: str) -> None:
        """Kills an actor where it stands: the call before it is never made."""
        self._actors[name].killed = True
        self.step(name)

    def result(self, name: str) -> object:
        """What the actor's work returned."""
        return self._actors[name].result

    def pause(self, call: str) -> None:
        """Called by the ports: the actor's turn is over."""
        actor: _Actor | None = getattr(self._running, "actor", None)
        if actor is None or actor.killed:
            return
        actor.before = call
        actor.stopped.release()
        actor.go.acquire()
        if actor.killed:
            raise CrashedError

    def _play(self, actor: _Actor) -> None:
        self._running.actor = actor
        actor.go.acquire()
        try:
            if not actor.killed:
                actor.result = actor.work()
        except CrashedError:
            pass
        except BaseException as error:  # noqa: BLE001 - the test's own thread raises it
            actor.failure = error
        actor.over = True
        actor.stopped.release()


@dataclass
class StagedStore:
    """`Store` that stops the actor before each call, and before each page."""

    store: Store
    stage: Stage

    def get(self, key: Key) -> Item | None:
        """See `Store.get`."""
        self.stage.pause("get")
        return self.store.get(key)

    def batch_get(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See `Store.batch_get`."""
        self.stage.pause("batch_get")
        return self.store.batch_get(keys)

    def pages(self, query: Query) -> Iterator[Sequence[Item]]:
        """See `Store.pages`."""
        self.stage.pause("query")
        for page in self.store.pages(query):
            yield page
            self.stage.pause("query")

    def scan(self, share: Share) -> Iterator[Sequence[Item]]:
        """See `Store.scan`."""
        for page in self.store.scan(share):
            self.stage.pause("scan")
            yield page

    def write(self, write: Write) -> Won | Lost:
        """See `Store.write`."""
        self.stage.pause("write")
        return self.store.write(write)

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        """See `Store.transact`."""
        self.stage.pause("transact")
        return self.store.transact(actions, token)

    def batch_delete(self, keys: Sequence[Key]) -> Sequence[Key]:
        """See `Store.batch_delete`."""
        self.stage.pause("batch_delete")
        return self.store.batch_delete(keys)


@dataclass
class StagedQueues:
    """`Queues` that stops the actor before each call."""

    queues: Queues
    stage: Stage

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`."""
        self.stage.pause("send")
        return self.queues.send(messages)

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`."""
        self.stage.pause("set_visibility")
        self.queues.set_visibility(message, seconds)
