"""Everything that is no API: the clock that wakes, and the pollers that feed each function."""

from __future__ import annotations

import threading
from datetime import timedelta

from fencepost.application.ports import QueueName, dead_queue, tier_queue
from fencepost.domain.model import Tier
from fencepost.local import broom
from fencepost.local.poller import Feed, Poller
from fencepost.local.stage import LocalStage, Reclocked
from fencepost.local.ticker import AT_ONCE, EVERY_MINUTE, Ticker, Wake
from fencepost.runtime.clock import StoppableClock
from fencepost.runtime.stage import Stage
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.sweep import handler as sweep
from functions.tick import handler as tick

ENVIRONMENTS = {Tier.CRITICAL: 8, Tier.STANDARD: 12, Tier.BULK: 4, Tier.RECOVERY: 4}
"""Each tier's reserved concurrency: no tier can take another's."""


class Engine:
    """Runs from `start` until `stop` and `drain`."""

    def __init__(self, parts: tuple[Ticker | Poller, ...], stopping: threading.Event) -> None:
        self._parts = parts
        self._stopping = stopping

    def start(self) -> None:
        """Begins."""
        for part in self._parts:
            part.start()

    def stop(self) -> None:
        """Takes on nothing more; what only looks for work ends where it waits, deliveries go on to their end."""
        self._stopping.set()
        for part in self._parts:
            part.stop()

    def drain(self) -> None:
        """Returns when everything under way is finished."""
        for part in self._parts:
            part.drain()


def engine(stage: LocalStage, *, delivers: bool) -> Engine:
    """All of it; without delivery where processes of their own see to that."""
    stopping = threading.Event()
    hasty = Reclocked(stage, StoppableClock(stopping))
    looking = [Poller(hasty, stage.consumer, feed) for feed in upkeep()]
    delivering = [Poller(stage, stage.consumer, feed) for feed in (delivery() if delivers else ())]
    return Engine((ticker(hasty), *looking, *delivering), stopping)


def deliverer(stage: LocalStage) -> Engine:
    """Delivery alone."""
    return Engine(tuple(Poller(stage, stage.consumer, feed) for feed in delivery()), threading.Event())


def ticker(stage: Stage) -> Ticker:
    """The tick at once and each minute; the second net soon after a start, since a crash may have preceded it."""
    return Ticker(
        stage,
        (
            Wake(name="tick", handler=tick.build(stage), first=AT_ONCE, every=EVERY_MINUTE),
            Wake(
                name="sweep",
                handler=sweep.build(stage),
                first=timedelta(minutes=1),
                every=timedelta(hours=24),
            ),
            Wake(
                name="broom", handler=broom.build(stage), first=timedelta(minutes=5), every=timedelta(hours=1)
            ),
        ),
    )


def upkeep() -> tuple[Feed, ...]:
    """Scans, pumps, dead letters."""
    dead = (Feed(queue=dead_queue(tier), build=dead_letter.build, environments=1) for tier in Tier)
    return (
        Feed(queue=QueueName.SCAN, build=scan.build, environments=4, batch=1),
        Feed(queue=QueueName.PUMP, build=pump.build, environments=2, batch=1),
        *dead,
    )


def delivery() -> tuple[Feed, ...]:
    """One function per tier."""
    return tuple(
        Feed(queue=tier_queue(tier), build=deliver.build, environments=ENVIRONMENTS[tier]) for tier in Tier
    )
