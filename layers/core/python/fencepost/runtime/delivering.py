"""Composes what takes an execution from its wake-up to its final record: delivery, dead letters, pump."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from fencepost.application.admission import Admission, Context, PumpReport, admission
from fencepost.application.codec import UndecodableError
from fencepost.application.delivery.advance import Advance
from fencepost.application.delivery.reads import Reads
from fencepost.application.delivery.results import Acknowledge, Alone, Disposition, Facts, PutBack
from fencepost.application.delivery.tools import Tools
from fencepost.application.delivery.wiring import Delivery, delivery
from fencepost.application.messages import read_wake
from fencepost.application.ports import Received
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Origin, Tier
from fencepost.domain.outcome import OutcomeKind
from fencepost.domain.states import ExecutionState
from fencepost.runtime.batches import Again, Done, Last, Verdict
from fencepost.runtime.keeping import aftermath
from fencepost.runtime.observability import Metric, Telemetry
from fencepost.runtime.stage import Stage

ON_TIME = timedelta(seconds=5)
MAX_BATCH = 10
_MILLISECOND = timedelta(milliseconds=1)


def deliveries(stage: Stage) -> Delivery:
    """What advances executions and what empties the dead-letter queues."""
    return delivery(tools(stage), doors(stage), stage.targets, stage.notifier, aftermath(stage))


def tools(stage: Stage) -> Tools:
    """What every part of delivery works with."""
    return Tools(
        store=stage.store,
        queues=stage.queues,
        clock=stage.clock,
        entropy=stage.entropy,
        reads=Reads(stage.store, threading.Lock()),
        limits=stage.settings.limits,
    )


def doors(stage: Stage) -> Admission:
    """Slots, backlog and overlap gate, over the store that answers quickly or not at all."""
    context = Context(
        store=stage.quick_store,
        queues=stage.queues,
        clock=stage.clock,
        entropy=stage.entropy,
        limits=stage.settings.limits,
        lock=threading.Lock,
    )
    return admission(context)


def expect(advance: Advance, batch: Sequence[Received]) -> None:
    """Reads the records of a batch at once. A message that cannot be understood says so when its turn comes."""
    identities = list[ExecutionId]()
    for message in batch:
        with suppress(UndecodableError):
            identities.append(read_wake(message.body))
    advance.expect(identities)


def verdict_of(disposition: Disposition) -> Verdict:
    """What becomes of the message."""
    match disposition:
        case Acknowledge():
            return Done()
        case PutBack(seconds=seconds):
            return Again(seconds)
        case Alone():
            return Last()


def measure(disposition: Disposition, telemetry: Telemetry) -> None:
    """What one wake-up says about the service."""
    facts = None if isinstance(disposition, Alone) else disposition.facts
    if facts is None:
        return
    if facts.lateness is not None:
        _began(facts, facts.lateness, telemetry)
    if facts.outcome == OutcomeKind.WORKER_LOST:
        telemetry.add(Metric.LAPSED_LEASES)
    elif facts.outcome is not None and facts.state is ExecutionState.RETRY_WAIT:
        telemetry.add(Metric.RETRIES, tier=facts.tier)


def _began(facts: Facts, lateness: timedelta, telemetry: Telemetry) -> None:
    """A first attempt: late by its owner's own choice or not, its lateness is measured; the promise holds for the rest."""
    telemetry.add(Metric.LATENESS, lateness // _MILLISECOND, tier=facts.tier)
    promised = facts.origin is Origin.SCHEDULE and facts.tier is not Tier.RECOVERY and not facts.waited
    if promised:
        telemetry.add(Metric.FIRED, tier=facts.tier)
        telemetry.add(Metric.ON_TIME, float(lateness <= ON_TIME), tier=facts.tier)


def measure_death(disposition: Disposition, telemetry: Telemetry) -> None:
    """One dead letter that was told, or that still has to be."""
    measure(disposition, telemetry)
    facts = None if isinstance(disposition, Alone) else disposition.facts
    if facts is not None and facts.state is ExecutionState.DEAD and isinstance(disposition, Acknowledge):
        telemetry.add(Metric.DEAD_LETTERS, tier=facts.tier)


def measure_pump(report: PumpReport, team: str, telemetry: Telemetry) -> None:
    """What one pass saw of a team."""
    telemetry.add(Metric.BACKLOG, report.waiting, team=team)
    telemetry.add(Metric.SLOTS_IN_USE, report.slots_in_use, team=team)
