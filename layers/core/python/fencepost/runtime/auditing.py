"""Composes the audit of the whole stage, a share of its jobs at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from fencepost.application.auditing.audit import SETTLED, Window
from fencepost.application.auditing.teams import ShareAudit, ShareAuditor
from fencepost.application.store import Share, Table
from fencepost.domain.instants import to_wire
from fencepost.runtime.observability import Metric, Telemetry
from fencepost.runtime.stage import Stage

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

REACH = timedelta(hours=25) + SETTLED
"""How far back a share looks: a day, and an hour that the one of yesterday saw as well."""
PATIENCE = timedelta(minutes=12)
"""How long a share may take; what it has not reached then is reached by tomorrow's."""
SAID = 100
"""How many findings one run writes down; the metric counts all."""


def auditor(stage: Stage) -> ShareAuditor:
    """Reads, and nothing else."""
    return ShareAuditor(store=stage.store, clock=stage.clock)


def run(auditor: ShareAuditor, stage: Stage, now: datetime, number: int = 0, of: int = 1) -> ShareAudit:
    """Share `number` of `of`: the last day of each of its jobs."""
    window = Window(since=now - REACH, before=now, now=now, limits=stage.settings.limits)
    share = Share(table=Table.JOBS, number=number, of=of, strong=False)
    return auditor.run(share, window, now + PATIENCE)


def measure(report: ShareAudit, telemetry: Telemetry) -> None:
    """A zero as well, so that silence is an alarm."""
    telemetry.add(Metric.AUDIT_FINDINGS, len(report.findings))


def say(report: ShareAudit, logger: Logger) -> None:
    """Every finding names its job and its occurrence."""
    for job, finding in report.findings[:SAID]:
        named = {"team": job.team, "job": job.name, "uid": job.uid, "kind": finding.kind.value}
        facts = {"at": to_wire(finding.at), "execution": finding.execution, "says": finding.says}
        logger.error("the ledger is not as it should be", extra={**named, **facts})
    if report.unread or not report.finished:
        seen = {"unread": report.unread, "finished": report.finished}
        logger.warning("the audit is not complete", extra=seen)


def told(report: ShareAudit) -> dict[str, Any]:
    """The counts of a run."""
    return {
        "jobs": report.jobs,
        "records": report.records,
        "explained": report.explained,
        "pending": report.pending,
        "unread": report.unread,
        "finished": report.finished,
        "findings": len(report.findings),
    }
