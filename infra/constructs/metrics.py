"""Metrics to read: the service's own, exactly as `docs/metrics.md` lists them, and those that AWS keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.names import NAMESPACE, Fn, Names

MINUTE = cdk.Duration.minutes(1)
FIVE_MINUTES = cdk.Duration.minutes(5)
HOUR = cdk.Duration.hours(1)
DAY = cdk.Duration.days(1)
SUM, MAX, P50, P99 = "Sum", "Maximum", "p50", "p99"


class Own(StrEnum):
    """What the service emits."""

    FIRED = "Fired"
    ON_TIME = "OnTime"
    LATENESS_MS = "LatenessMs"
    RETRIES = "Retries"
    THROTTLED = "Throttled"
    DEAD_LETTERS = "DeadLetters"
    LAPSED_LEASES = "LapsedLeases"
    TICK_RAN = "TickRan"
    UNSENT = "Unsent"
    CLAIMED = "Claimed"
    CLAIM_LAG_MS = "ClaimLagMs"
    WATERMARK_AGE_SECONDS = "WatermarkAgeSeconds"
    QUARANTINED = "Quarantined"
    NEWER_SHAPES = "NewerShapes"
    ABSENT_JOBS = "AbsentJobs"
    BACKLOG = "Backlog"
    SLOTS_IN_USE = "SlotsInUse"
    TIMERLESS_JOBS = "TimerlessJobs"
    TZDATA_AGE_DAYS = "TzdataAgeDays"
    AUDIT_FINDINGS = "AuditFindings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The metrics of one stage."""

    names: Names

    def own(
        self, metric: Own, stat: str, period: cdk.Duration = MINUTE, tier: str | None = None
    ) -> cloudwatch.Metric:
        """One of ours; of the whole stage, or of one tier."""
        dimensions = {"Stage": self.names.stage} | ({} if tier is None else {"Tier": tier})
        return cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=metric.value,
            dimensions_map=dimensions,
            statistic=stat,
            period=period,
        )

    def queue(self, queue: str, metric: str, stat: str = MAX) -> cloudwatch.Metric:
        """What SQS says of a queue."""
        return _aws("SQS", metric, {"QueueName": self.names.queue(queue)}, stat)

    def table(self, table: str, metric: str) -> cloudwatch.Metric:
        """What DynamoDB says of a table, as a sum."""
        return _aws("DynamoDB", metric, {"TableName": self.names.table(table)}, SUM)

    def refused(self, table: str, metric: str) -> cloudwatch.MathExpression:
        """What DynamoDB refused, 0 where it says nothing. It says nothing while it refuses nothing, and an alarm on a metric
        of DynamoDB's own stays in its state then, whatever it is told of missing data: it would never end.
        """
        return cloudwatch.MathExpression(
            expression="FILL(refused, 0)", using_metrics={"refused": self.table(table, metric)}, period=MINUTE
        )

    def function(self, function: Fn, metric: str, stat: str = SUM) -> cloudwatch.Metric:
        """What Lambda says of a function."""
        return _aws("Lambda", metric, {"FunctionName": self.names.function(function)}, stat)

    def api(self, metric: str, stat: str = SUM) -> cloudwatch.Metric:
        """What the gateway says of the API."""
        return _aws("ApiGateway", metric, {"ApiName": self.names.of("api")}, stat)

    def account(self, metric: str) -> cloudwatch.Metric:
        """What Lambda says of the whole account in this region."""
        return _aws("Lambda", metric, {}, MAX)

    def late_ratio(self, period: cdk.Duration, at_least: int = 1) -> cloudwatch.MathExpression:
        """The share of firings that were late; nothing where there were fewer than `at_least`."""
        return cloudwatch.MathExpression(
            expression=f"IF(fired >= {at_least}, 1 - ontime / fired, 0)",
            using_metrics={
                "fired": self.own(Own.FIRED, SUM, period),
                "ontime": self.own(Own.ON_TIME, SUM, period),
            },
            period=period,
            label="late",
        )


def _aws(service: str, metric: str, dimensions: Mapping[str, str], stat: str) -> cloudwatch.Metric:
    # No label: an alarm whose metric has one is written as metric math, which costs more and can do less.
    return cloudwatch.Metric(
        namespace=f"AWS/{service}",
        metric_name=metric,
        dimensions_map=dict(dimensions) or None,
        statistic=stat,
        period=MINUTE,
    )
