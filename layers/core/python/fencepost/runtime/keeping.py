"""Composes what keeps jobs in order by itself: pauses that end, pauses after deaths, deletes after the last firing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from fencepost.application.registry.aftermath import Aftermath
from fencepost.application.registry.expiry import Expiry
from fencepost.application.registry.ports import CancelNow, ClaimNow, LeftToDelivery, RegistryPorts
from fencepost.application.registry.refresh import refresh_job
from fencepost.application.scanning.claimer import Claimer
from fencepost.application.scanning.report import ScanReport
from fencepost.domain.model import Caller, Job, Timer
from fencepost.runtime import scanning
from fencepost.runtime.stage import Stage

REFRESHER = Caller(principal="fencepost:tz-refresh", source="sweep")


def expiry(stage: Stage) -> Expiry:
    """Ends pauses that are over."""
    return Expiry(ports=_ports(stage, ClaimAtOnce(scanning.claimer(stage))))


def aftermath(stage: Stage) -> Aftermath:
    """What becomes of a job after a firing. It pauses and deletes: no timer is planted."""
    return Aftermath(ports=_ports(stage, _left_to_scan))


def refresher(stage: Stage) -> Callable[[Job], bool]:
    """What the sweep calls for a job whose timer the loaded time-zone rules may have moved."""
    ports = _ports(stage, ClaimAtOnce(scanning.claimer(stage)))

    def refresh(job: Job) -> bool:
        moved = refresh_job(ports, REFRESHER, job)
        if moved is not None:
            told = {"team": job.team, "job": job.name, "before": moved.before, "after": moved.after}
            stage.observed.logger.info("time-zone rules moved a job", extra=told)
        return moved is not None

    return refresh


def ports(stage: Stage, cancel: CancelNow) -> RegistryPorts:
    """For what deletes jobs: no timer is planted, and what waits is cancelled at once."""
    return replace(_ports(stage, _left_to_scan), cancel=cancel)


def _ports(stage: Stage, claim_now: ClaimNow) -> RegistryPorts:
    return RegistryPorts(
        store=stage.store,
        clock=stage.clock,
        entropy=stage.entropy,
        claim_now=claim_now,
        cancel=LeftToDelivery(),
        limits=stage.settings.limits,
        egress=stage.settings.egress,
    )


def _left_to_scan(timers: Sequence[Timer], now: datetime) -> None:
    """The scan finds whatever was planted."""
    del timers, now


class ClaimAtOnce:
    """The registry's `ClaimNow`: unpaced, since these are single timers and somebody may wait for the answer."""

    def __init__(self, claimer: Claimer) -> None:
        self._claimer = claimer

    def __call__(self, timers: Sequence[Timer], now: datetime) -> None:
        """See the port."""
        del now  # the claimer reads its own clock for every group
        self._claimer.claim(timers, ScanReport())
