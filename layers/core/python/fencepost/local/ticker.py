"""Wakes functions by the clock: the tick at once and then every minute, the second net and the broom now and then."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.instants import MINUTE, SECOND, ZERO, floor_minute, to_wire
from fencepost.local.poller import Context
from fencepost.runtime.clock import StoppedError
from fencepost.runtime.function import Handler, instrumented
from fencepost.runtime.stage import Stage

LONGEST_NAP = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """A handler that is woken `first` after the start and then every `every`, on whole minutes where it is one."""

    name: str
    handler: Handler
    first: timedelta
    every: timedelta


class Ticker:
    """Wakes each of `wakes` in one thread, from `start` until `stop`."""

    def __init__(self, stage: Stage, wakes: tuple[Wake, ...]) -> None:
        self._clock = stage.clock
        self._entropy = stage.entropy
        self._observed = stage.observed
        self._handlers = {wake.name: instrumented(wake.handler, stage.observed) for wake in wakes}
        self._wakes = wakes
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def start(self) -> None:
        """Begins at once."""
        self._thread.start()

    def stop(self) -> None:
        """Wakes nobody any more."""
        self._stopping.set()

    def drain(self) -> None:
        """Returns when the handler under way has returned."""
        self._thread.join()

    def _run(self) -> None:
        began = self._clock.now()
        due = {wake.name: began + wake.first for wake in self._wakes}
        while not self._stopping.is_set():
            now = self._clock.now()
            for wake in self._wakes:
                if due[wake.name] <= now and not self._stopping.is_set():
                    self._wake(wake, now)
                    due[wake.name] = following(now, wake.every)
            nap = (min(due.values()) - self._clock.now()) / SECOND
            self._stopping.wait(min(max(nap, 0.0), LONGEST_NAP))

    def _wake(self, wake: Wake, now: datetime) -> None:
        try:
            self._handlers[wake.name](
                event(now, self._entropy.token()), Context(self._entropy.token(), wake.name)
            )
        except StoppedError:
            return
        except Exception:
            self._observed.logger.exception("wake-up failed", extra={"function": wake.name})


def following(now: datetime, every: timedelta) -> datetime:
    """The next instant after `now` that is a whole number of `every` after midnight."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + ((now - midnight) // every + 1) * every


def event(now: datetime, identity: str) -> dict[str, object]:
    """What the scheduler sends, named by the minute that it stands for."""
    return {
        "version": "0",
        "id": identity,
        "detail-type": "Scheduled Event",
        "source": "fencepost.schedule",
        "time": to_wire(floor_minute(now)),
    }


AT_ONCE = ZERO
EVERY_MINUTE = MINUTE
