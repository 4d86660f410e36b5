"""Delivery, wired: one set of parts per process."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.application.admission import Admission
from fencepost.application.delivery.advance import Advance
from fencepost.application.delivery.attempt import Attempts
from fencepost.application.delivery.cancel import Cancel
from fencepost.application.delivery.circuit import Circuits
from fencepost.application.delivery.dead_letter import DeadLetters
from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.finish import Aftermath, Finish
from fencepost.application.delivery.hosts import Hosts
from fencepost.application.delivery.lapse import Lapses
from fencepost.application.delivery.notices import Notices
from fencepost.application.delivery.redrive import Redrive, RunNow
from fencepost.application.delivery.retry import Retries
from fencepost.application.delivery.start import Start
from fencepost.application.delivery.switched import Switched
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.watch import Watch
from fencepost.application.delivery.worker import WorkerCalls
from fencepost.application.ports import Notifier, Targets


@dataclass(frozen=True, slots=True)
class Delivery:
    """What handlers call."""

    advance: Advance
    dead_letters: DeadLetters
    workers: WorkerCalls
    redrive: Redrive
    run_now: RunNow
    cancel: Cancel


def delivery(
    tools: Tools,
    doors: Admission,
    targets: Targets,
    notifier: Notifier,
    aftermath: Aftermath | None = None,
) -> Delivery:
    """Builds the parts over the given ports."""
    notices = Notices(notifier=notifier, limits=tools.limits)
    circuits = Circuits(store=tools.store, limits=tools.limits)
    finish = Finish(tools=tools, doors=doors, notices=notices, aftermath=aftermath)
    endings = Endings(tools=tools, finish=finish)
    retries = Retries(tools=tools, finish=finish, endings=endings)
    lapses = Lapses(tools=tools, retries=retries)
    watch = Watch(tools=tools)
    attempts = Attempts(
        tools=tools, doors=doors, targets=targets, circuits=circuits, finish=finish, retries=retries
    )
    start = Start(
        tools=tools,
        doors=doors,
        circuits=circuits,
        endings=endings,
        retries=retries,
        lapses=lapses,
        attempts=attempts,
        switched=Switched(tools=tools, doors=doors, endings=endings),
        hosts=Hosts(tools=tools, finish=finish),
    )
    advance = Advance(tools=tools, finish=finish, lapses=lapses, watch=watch, start=start)
    buried = DeadLetters(
        tools=tools, finish=finish, lapses=lapses, endings=endings, watch=watch, notices=notices
    )
    return Delivery(
        advance=advance,
        dead_letters=buried,
        workers=WorkerCalls(tools=tools, doors=doors, finish=finish, retries=retries),
        redrive=Redrive(tools=tools),
        run_now=RunNow(tools=tools),
        cancel=Cancel(tools=tools, endings=endings),
    )
