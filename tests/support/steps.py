"""The whole service in memory, with a fault around the ports of one call or of one function at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fencepost.adapters.seam import Around, PortCall, seamed
from fencepost.application import messages
from fencepost.application.delivery.results import PutBack
from fencepost.application.errands.errand import Errand, waiting
from fencepost.application.messages import read_wake
from fencepost.application.ports import QueueName, tier_queue
from fencepost.domain.model import Tier
from fencepost.runtime import delivering, upkeep
from functions.api.handler import build
from functions.pump import handler as pump
from tests.support.api import Front, MemoryStage
from tests.support.clients import Machine
from tests.support.faults import FaultAt, Killed
from tests.support.grants import held

T = TypeVar("T")


@dataclass
class Gate:
    """Lets calls through untouched until it is `open`: processes are composed in peace."""

    around: Around
    open: bool = False

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`."""
        return self.around(call, proceed) if self.open else proceed()


def behind(stage: MemoryStage, around: Around) -> MemoryStage:
    """The same stage, its ports behind `around`."""
    store = seamed(stage.store, "store", around)
    queues = seamed(stage.queues, "queues", around)
    notifier: Any = seamed(stage.notifier, "notifier", around)
    return replace(stage, store=store, queues=queues, notifier=notifier)


def calling(front: Front, around: Around, *call: Any, done: int = 200, **how: Any) -> None:
    """One call of the API that meets `around`; whoever is killed or refused tries again in peace, a while later. `done`:
    what says that the first try did it.
    """
    gate = Gate(around)
    at_risk = replace(front, handler=build(behind(front.stage, gate)))
    gate.open = True
    with suppress(Killed):
        if at_risk.call(*call, **how).status < 300:
            return
    front.clock.advance(seconds=61)
    reply = front.call(*call, **how)
    assert reply.status < 300 or reply.status == done, reply.body


def stepping(front: Front, around: Around) -> None:
    """One step of every errand, all of them behind `around`."""
    gate = Gate(around)
    errands = upkeep.errands(behind(held(front.stage, pump.__name__), gate))
    gate.open = True
    for errand in list(waiting(front.memory)):
        with suppress(Killed, Exception):
            errands.run(errand, front.clock.now())


def delivering_once(front: Front, around: Around) -> None:
    """Every message that is visible is handled once, behind `around`; what is not done comes back."""
    gate = Gate(around)
    work, queues = delivering.deliveries(behind(front.stage, gate)).advance, front.stage.queues
    gate.open = True
    for tier in Tier:
        for message in queues.receive(tier_queue(tier), 10, timedelta(0)):
            with suppress(Killed):
                disposition = work.run(read_wake(message.body), message)
                if isinstance(disposition, PutBack):
                    queues.set_visibility(message, disposition.seconds)
                else:
                    queues.delete([message])


def errands_left(front: Front) -> list[Errand]:
    """What still wants steps."""
    return list(waiting(front.memory))


def every_call(play: Callable[[FaultAt], None]) -> int:
    """How many port calls `play` makes when nothing fails."""
    clean = FaultAt()
    play(clean)
    return len(clean.calls)


def in_peace(front: Front, *, minutes: int) -> Machine:
    """Lets the service run on."""
    machine = Machine(front)
    machine.run(front.clock.now() + timedelta(minutes=minutes))
    return machine


def step_message(errand: Errand) -> str:
    """The body with which the tick asks for a step."""
    return messages.step(errand).body


def queued(front: Front, queue: QueueName) -> int:
    """How many messages lie in a queue."""
    return len(front.stage.queues.waiting(queue))


def at(front: Front) -> datetime:
    """The present instant of this test."""
    return front.clock.now()
