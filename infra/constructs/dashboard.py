"""One page that answers, from top to bottom: is the promise kept, who waits, is work claimed, what refuses, what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra import prices
from infra.constructs.conditions import CLAIM_LAG_MS
from infra.constructs.metrics import FIVE_MINUTES, MAX, P50, P99, SUM, Metrics, Own
from infra.names import DEAD, DELIVERERS, TABLES, TIERS, Fn, Names
from infra.settings import Stage

HALF, THIRD, QUARTER = 12, 8, 6
TOP = 10


class Dashboard(Construct):
    """The stage's dashboard."""

    def __init__(
        self, scope: Construct, name: str, stage: Stage, names: Names, alarms: Sequence[cloudwatch.AlarmBase]
    ) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._names = names
        self._metrics = Metrics(names=names)
        cloudwatch.Dashboard(
            self,
            "Page",
            dashboard_name=names.of("dashboard"),
            default_interval=cdk.Duration.hours(3),
            widgets=[
                [self._title(), _alarm_states(alarms)],
                [self._promise(), self._budget(), self._late()],
                [self._lateness(tier) for tier in TIERS],
                [self._firings(), self._by_tier("Retries", Own.RETRIES), self._letters()],
                [self._teams("Backlog", Own.BACKLOG), self._teams("Slots in use", Own.SLOTS_IN_USE)],
                [self._waiting(), self._ages(), self._depths()],
                [self._claims(), self._claim_lag(), self._watermark()],
                [self._throttles(), self._hot_keys(), self._lapses()],
                [self._concurrency(), self._errors(), self._api()],
                [self._truth(), self._cost()],
            ],
        )

    def _title(self) -> cloudwatch.IWidget:
        promise = self._stage.objective
        return cloudwatch.TextWidget(
            markdown=f"# Fencepost {self._stage.name}\n"
            f"{promise.goal:g} % of firings begin within 5 s of due, over {promise.days} days. "
            f"What each alarm means and asks for: {self._stage.runbook}",
            width=HALF,
            height=3,
        )

    def _promise(self) -> cloudwatch.IWidget:
        return cloudwatch.SingleValueWidget(
            title="On time, % of firings in the range shown",
            metrics=[self._percent("100 * ontime / fired", "on time")],
            set_period_to_time_range=True,
            width=QUARTER,
        )

    def _budget(self) -> cloudwatch.IWidget:
        allowed = 1 - self._stage.objective.goal / 100
        left = f"100 * (1 - (fired - ontime) / fired / {allowed:.6g})"
        return cloudwatch.SingleValueWidget(
            title="Error budget left, % (set the range to the objective's days)",
            metrics=[self._percent(left, "budget left")],
            set_period_to_time_range=True,
            width=QUARTER,
        )

    def _late(self) -> cloudwatch.IWidget:
        allowed = 1 - self._stage.objective.goal / 100
        return cloudwatch.GraphWidget(
            title="Share of firings that were late",
            left=[self._metrics.late_ratio(FIVE_MINUTES)],
            left_annotations=[
                cloudwatch.HorizontalAnnotation(value=allowed, label="allowed in the long run")
            ],
            width=HALF,
        )

    def _lateness(self, tier: str) -> cloudwatch.IWidget:
        lateness = [self._metrics.own(Own.LATENESS_MS, stat, tier=tier) for stat in (P50, P99, MAX)]
        return cloudwatch.GraphWidget(
            title=f"Lateness, {tier}, ms",
            left=[metric.with_(label=metric.statistic) for metric in lateness],
            width=QUARTER,
        )

    def _firings(self) -> cloudwatch.IWidget:
        """Those that count for the promise: what travels in the recovery queue is late by its owner's choice."""
        tiers = [self._metrics.own(Own.FIRED, SUM, tier=tier) for tier in TIERS if tier != "recovery"]
        return cloudwatch.GraphWidget(title="Firings a minute", left=tiers, stacked=True, width=THIRD)

    def _by_tier(self, title: str, metric: Own) -> cloudwatch.IWidget:
        tiers = [self._metrics.own(metric, SUM, tier=tier) for tier in TIERS]
        return cloudwatch.GraphWidget(title=f"{title} a minute", left=tiers, stacked=True, width=THIRD)

    def _letters(self) -> cloudwatch.IWidget:
        tiers = [self._metrics.own(Own.DEAD_LETTERS, SUM, FIVE_MINUTES, tier) for tier in TIERS]
        return cloudwatch.GraphWidget(title="Dead letters in five minutes", left=tiers, width=THIRD)

    def _teams(self, title: str, metric: Own) -> cloudwatch.IWidget:
        """Teams are fields of the line, not dimensions: asked when looked at, paid for by the look."""
        return cloudwatch.LogQueryWidget(
            title=f"{title}, the {TOP} teams with most",
            log_group_names=[self._names.log_group(Fn.PUMP)],
            view=cloudwatch.LogQueryVisualizationType.TABLE,
            query_lines=[
                f"filter ispresent({metric})",
                f"stats max({metric}) as most by team",
                "sort most desc",
                f"limit {TOP}",
            ],
            width=HALF,
        )

    def _waiting(self) -> cloudwatch.IWidget:
        both = [self._metrics.own(metric, SUM) for metric in (Own.BACKLOG, Own.SLOTS_IN_USE)]
        return cloudwatch.GraphWidget(title="Waiting for a slot, and slots in use", left=both, width=THIRD)

    def _ages(self) -> cloudwatch.IWidget:
        ages = [
            self._metrics.queue(queue, "ApproximateAgeOfOldestMessage") for queue in (*TIERS, *DEAD, "scan")
        ]
        return cloudwatch.GraphWidget(title="Age of the oldest message, s", left=ages, width=THIRD)

    def _depths(self) -> cloudwatch.IWidget:
        depths = [self._metrics.queue(tier, "ApproximateNumberOfMessagesVisible") for tier in TIERS]
        return cloudwatch.GraphWidget(title="Messages ready to be received", left=depths, width=THIRD)

    def _claims(self) -> cloudwatch.IWidget:
        return self._by_tier("Claims", Own.CLAIMED)

    def _claim_lag(self) -> cloudwatch.IWidget:
        lag = [self._metrics.own(Own.CLAIM_LAG_MS, stat) for stat in (P50, P99, MAX)]
        late = cloudwatch.HorizontalAnnotation(value=CLAIM_LAG_MS, label="scans do not keep up")
        return cloudwatch.GraphWidget(
            title="Claim lag: ms from due to the claim, 0 where claimed ahead",
            left=[metric.with_(label=metric.statistic) for metric in lag],
            left_annotations=[late],
            width=THIRD,
        )

    def _watermark(self) -> cloudwatch.IWidget:
        return cloudwatch.GraphWidget(
            title="Watermark of the shard furthest behind, and ticks",
            left=[self._metrics.own(Own.WATERMARK_AGE_SECONDS, MAX)],
            right=[self._metrics.own(Own.TICK_RAN, SUM)],
            width=THIRD,
        )

    def _throttles(self) -> cloudwatch.IWidget:
        events = [self._metrics.table(table, "WriteThrottleEvents") for table in TABLES]
        return cloudwatch.GraphWidget(
            title="Throttled calls, and throttled writes by table",
            left=[self._metrics.own(Own.THROTTLED, SUM), *events],
            width=THIRD,
        )

    def _hot_keys(self) -> cloudwatch.IWidget:
        writes = [self._metrics.table(table, "WriteKeyRangeThroughputThrottleEvents") for table in TABLES]
        reads = [self._metrics.table(table, "ReadKeyRangeThroughputThrottleEvents") for table in TABLES]
        return cloudwatch.GraphWidget(
            title="Hot keys: writes (left) and reads (right) that one partition refused",
            left=writes,
            right=reads,
            width=THIRD,
        )

    def _lapses(self) -> cloudwatch.IWidget:
        lapses = self._metrics.own(Own.LAPSED_LEASES, SUM, FIVE_MINUTES)
        return cloudwatch.GraphWidget(title="Leases that ran past their end", left=[lapses], width=THIRD)

    def _concurrency(self) -> cloudwatch.IWidget:
        used = [
            self._metrics.function(each, "ConcurrentExecutions", MAX)
            for each in (*DELIVERERS.values(), Fn.SCAN)
        ]
        return cloudwatch.GraphWidget(title="Concurrency in use", left=used, width=THIRD)

    def _errors(self) -> cloudwatch.IWidget:
        errors = [self._metrics.function(each, "Errors") for each in Fn]
        return cloudwatch.GraphWidget(title="Functions that failed", left=errors, width=THIRD)

    def _api(self) -> cloudwatch.IWidget:
        return cloudwatch.GraphWidget(
            title="API: requests and errors (left), p99 latency in ms (right)",
            left=[self._metrics.api(metric) for metric in ("Count", "4XXError", "5XXError")],
            right=[self._metrics.api("Latency", P99)],
            width=THIRD,
        )

    def _truth(self) -> cloudwatch.IWidget:
        found = (
            Own.AUDIT_FINDINGS,
            Own.TIMERLESS_JOBS,
            Own.QUARANTINED,
            Own.NEWER_SHAPES,
            Own.ABSENT_JOBS,
            Own.TZDATA_AGE_DAYS,
        )
        return cloudwatch.SingleValueWidget(
            title="Last day: audit findings, healed jobs, quarantine, newer shapes, absent jobs, age of the time-zone data in days",
            metrics=[self._metrics.own(metric, MAX, cdk.Duration.days(1)) for metric in found],
            width=HALF,
        )

    def _cost(self) -> cloudwatch.IWidget:
        """What grows with the firings; pollers, alarms and storage are the same whether anything fires or not."""
        return cloudwatch.SingleValueWidget(
            title="Dollars per million firings: DynamoDB units and Lambda time, on demand",
            metrics=[cost_per_million(self._stage, self._metrics)],
            set_period_to_time_range=True,
            width=HALF,
        )

    def _percent(self, expression: str, label: str) -> cloudwatch.MathExpression:
        return cloudwatch.MathExpression(
            expression=expression,
            using_metrics={
                "fired": self._metrics.own(Own.FIRED, SUM, FIVE_MINUTES),
                "ontime": self._metrics.own(Own.ON_TIME, SUM, FIVE_MINUTES),
            },
            period=FIVE_MINUTES,
            label=label,
        )


def cost_per_million(stage: Stage, metrics: Metrics) -> cloudwatch.MathExpression:
    """Consumed units and milliseconds at list prices, over the firings of the same time."""
    used: dict[str, cloudwatch.Metric] = {"fired": metrics.own(Own.FIRED, SUM)}
    terms: list[str] = []
    for table in TABLES:
        used[f"w{table}"] = metrics.table(table, "ConsumedWriteCapacityUnits")
        used[f"r{table}"] = metrics.table(table, "ConsumedReadCapacityUnits")
        terms.append(f"w{table} * {_micro(prices.WRITE_UNIT)} + r{table} * {_micro(prices.READ_UNIT)}")
    for function in Fn:
        word = function.value.replace("-", "_")
        used[f"d{word}"] = metrics.function(function, "Duration")
        per_ms = stage.size(function).memory / 1024 / 1000 * prices.GIGABYTE_SECOND
        terms.append(f"FILL(d{word}, 0) * {_micro(per_ms)}")
    return cloudwatch.MathExpression(
        expression=f"({' + '.join(terms)}) / fired",
        using_metrics={name: metric.with_(period=FIVE_MINUTES) for name, metric in used.items()},
        period=FIVE_MINUTES,
        label="dollars",
    )


def _micro(dollars: float) -> str:
    """Dollars per million, without the exponent that metric math would take for a name."""
    return f"{dollars * 1e6:.6f}"


def _alarm_states(alarms: Sequence[cloudwatch.AlarmBase]) -> cloudwatch.IWidget:
    return cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=HALF, height=3)
