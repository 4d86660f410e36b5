"""Actors that take turns at port calls, so that a test chooses every interleaving and every crash.

An actor is a function on a thread of its own, but only one thread ever runs: it stops before each call of a port and
goes on when the test says so. A crash is what a killed process leaves behind: whatever was called took effect, and
nothing more will be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fencepost.adapters.seam import PortCall

T = TypeVar("T")
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
    fault: BaseException | None = None
    answered: bool = False
    over: bool = False
    result: object = None
    failure: BaseException | None = None


class Stage:
    """The actors of one test, and what is put around their ports."""

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

    def fail(self, name: str, fault: Exception, *, after: bool = False) -> None:
        """Lets the call that an actor stands before fail, without effect or `after` it took effect."""
        self._actors[name].fault, self._actors[name].answered = fault, after
        self.step(name)

    def result(self, name: str) -> object:
        """What the actor's work returned."""
        return self._actors[name].result

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`: the actor's turn is over before each call. Calls from outside any actor pass at once."""
        actor: _Actor | None = getattr(self._running, "actor", None)
        if actor is None or actor.killed:
            return proceed()
        actor.before = call.method
        actor.stopped.release()
        actor.go.acquire()
        if actor.killed:
            raise CrashedError
        fault, actor.fault = actor.fault, None
        if fault is None:
            return proceed()
        if actor.answered:
            proceed()
        raise fault

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
