"""Composes what finds due timers: tick, scan, claim, second net. No HTTP client, no API code."""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.application.calendars import RememberedCalendars
from fencepost.application.codec import UndecodableError
from fencepost.application.delivery.notices import wants
from fencepost.application.delivery.reads import Reads
from fencepost.application.ports import Clock
from fencepost.application.scanning.claimer import Claimer
from fencepost.application.scanning.handover import HandOver
from fencepost.application.scanning.plan import default_retention
from fencepost.application.scanning.quarantine import Quarantine, SetAside
from fencepost.application.scanning.report import ScanReport
from fencepost.application.scanning.resolve import Resolver
from fencepost.application.scanning.scan import Scan
from fencepost.application.scanning.sweep import Refresh, Sweep, SweepReport
from fencepost.application.scanning.tick import Tick, TickReport
from fencepost.application.scanning.watermark import Watermark
from fencepost.application.store import StoreError
from fencepost.domain.instants import MINUTE, SECOND
from fencepost.domain.model import Execution
from fencepost.domain.notification import NotificationKind
from fencepost.domain.schedule import tzdata_age
from fencepost.runtime.events import Event
from fencepost.runtime.observability import Metric, Observability, Telemetry
from fencepost.runtime.stage import Stage

DAY = timedelta(days=1)


def tick(stage: Stage) -> Tick:
    """The minute's wake-up."""
    return Tick(store=stage.store, queues=stage.queues, limits=stage.settings.limits)


def scan(stage: Stage) -> Scan:
    """One shard's pass."""
    claims = claimer(stage)
    return Scan(
        store=stage.store,
        clock=stage.clock,
        entropy=stage.entropy,
        claimer=claims,
        handover=claims.handover,
        quarantine=claims.quarantine,
        watermark=Watermark(store=stage.store, limits=stage.settings.limits),
        limits=stage.settings.limits,
    )


def sweep(stage: Stage, refresh: Refresh | None = None) -> Sweep:
    """The second net. `refresh` plants timers anew that other time-zone rules planted."""
    return Sweep(store=stage.store, scan=scan(stage), limits=stage.settings.limits, refresh=refresh)


def share(event: Event, now: datetime) -> tuple[int, int]:
    """Which share of the sweep a wake-up is for, and of how many: `detail.share` of `detail.shares` where it says so.

    `detail.every_minutes` says how often wake-ups come all day; the clock tells those shares apart, so nothing has to
    be remembered between them. Without either: all of it.
    """
    detail = event.get("detail", {})
    if "shares" in detail:
        return detail["share"], detail["shares"]
    every = detail.get("every_minutes")
    if every is None:
        return 0, 1
    shares = DAY // (every * MINUTE)
    return (now - now.replace(hour=0, minute=0, second=0, microsecond=0)) // (every * MINUTE) % shares, shares


def claimer(stage: Stage) -> Claimer:
    """Turns timers into executions; job writes inside the horizon use it as well (protocol B9)."""
    limits = stage.settings.limits
    reads = Reads(stage.store)
    retention = _Retention(reads, stage.clock)
    handover = HandOver(
        store=stage.store,
        queues=stage.queues,
        clock=stage.clock,
        limits=limits,
        tells=_Tells(reads, stage.clock),
    )
    return Claimer(
        store=stage.store,
        clock=stage.clock,
        entropy=stage.entropy,
        handover=handover,
        resolver=Resolver(store=stage.store, handover=handover, limits=limits),
        quarantine=Quarantine(store=stage.store, tell=_Alarm(stage), retention=retention),
        limits=limits,
        retention=retention,
        calendars=RememberedCalendars(stage.store, stage.clock),
        no_fire_before=stage.settings.no_fire_before,
    )


class _Tells:
    """Whether anybody waits to hear of an occurrence that was skipped at its claim, or has plans for after the last."""

    def __init__(self, reads: Reads, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock

    def __call__(self, record: Execution) -> bool:
        try:
            job = self._reads.job(record.id.uid)
            team = self._reads.team(record.team, self._clock.now())
        except (StoreError, UndecodableError):
            return True  # whoever is woken finds out
        plans = job is not None and job.delete_after_completion
        return plans or (team is not None and wants(NotificationKind.SKIPPED, team, job))


class _Retention:
    """How long a team wants its records kept, as of a few seconds ago."""

    def __init__(self, reads: Reads, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock

    def __call__(self, team: str) -> timedelta:
        found = self._reads.team(team, self._clock.now()) if team else None
        return default_retention(team) if found is None else found.retention


class _Alarm:
    """Says at once, in the log, what was set aside; the metric raises the alarm."""

    def __init__(self, stage: Stage) -> None:
        self._logger = stage.observed.logger

    def __call__(self, event: SetAside) -> None:
        named = {"uid": event.uid, "team": event.team, "job": event.job, "why": event.why}
        self._logger.error("timer set aside", extra=named)


def measure_tick(report: TickReport, observed: Observability) -> None:
    """That it ran, and what it could not send: a tick that sends nothing is as good as none."""
    observed.telemetry.add(Metric.TICK_RAN)
    if report.unsent:
        observed.telemetry.add(Metric.UNSENT, report.unsent)
        told = {"unsent": report.unsent, "scans": report.scans, "pumps": report.pumps}
        observed.logger.error("the tick could not send everything", extra=told)


def measure_scan(report: ScanReport, telemetry: Telemetry, now: datetime, shard: int) -> None:
    """What one pass over `shard` says about itself."""
    for lag in report.claim_lag_ms:
        telemetry.add(Metric.CLAIM_LAG, lag)
    for tier, count in report.claimed_by_tier.items():
        telemetry.add(Metric.CLAIMED, count, tier=tier)
    if report.watermark is not None:
        telemetry.add(Metric.WATERMARK_AGE, (now - report.watermark) / SECOND, shard=str(shard))
    if report.absent_jobs:
        telemetry.add(Metric.ABSENT_JOBS, report.absent_jobs)
    if report.quarantined:
        telemetry.add(Metric.QUARANTINED, report.quarantined)
    if report.newer:
        telemetry.add(Metric.NEWER_SHAPES, report.newer)


def measure_sweep(report: SweepReport, telemetry: Telemetry, now: datetime) -> None:
    """What the second net says about itself; zeros as well, so that silence is an alarm."""
    telemetry.add(Metric.TIMERLESS_JOBS, report.timerless_jobs)
    telemetry.add(Metric.QUARANTINED, report.quarantined)
    age = tzdata_age(now)
    if age is not None:
        telemetry.add(Metric.TZDATA_AGE, age // DAY)
