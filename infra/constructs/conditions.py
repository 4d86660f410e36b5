"""What raises an alarm, and what whoever is woken shall do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.constructs.metrics import DAY, FIVE_MINUTES, HOUR, MAX, MINUTE, P99, SUM, Metrics, Own
from infra.names import DEAD, TABLES, Fn
from infra.settings import Stage

ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
SILENCE_IS_BAD = cloudwatch.TreatMissingData.BREACHING
SILENCE_IS_GOOD = cloudwatch.TreatMissingData.NOT_BREACHING

CLAIM_LAG_MS = 1_000
DEAD_LETTER_AGE = 300
WATERMARK_AGE = 900
TZDATA_AGE = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What raises an alarm. `page` is the runbook's heading, the same for alarms that differ only in whom they watch."""

    name: str
    page: str
    says: str
    do: str
    metric: cloudwatch.IMetric
    threshold: float
    compare: cloudwatch.ComparisonOperator = ABOVE
    periods: int = 1
    out_of: int | None = None
    silence: cloudwatch.TreatMissingData = SILENCE_IS_GOOD


def conditions(stage: Stage, metrics: Metrics) -> Iterable[Condition]:
    """Every single alarm of a stage."""
    yield from _wakes(metrics)
    yield from _scans(metrics)
    yield from _firings(metrics)
    yield from _truth(metrics)
    yield from _audited(metrics)
    yield from _functions(stage, metrics)
    yield from _tables(metrics)
    yield from _platform(stage, metrics)


def _wakes(metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="tick-stopped",
        page="tick-stopped",
        says="No tick ran for three minutes: nothing new is claimed.",
        do="Find out why the schedule or the tick function does not run.",
        metric=metrics.own(Own.TICK_RAN, SUM),
        threshold=1,
        compare=BELOW,
        periods=3,
        silence=SILENCE_IS_BAD,
    )


def _scans(metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="tick-unsent",
        page="tick-unsent",
        says="Ticks run, but the queues do not take what they send: shards are not scanned.",
        do="Find out why SQS refuses or does not answer the tick.",
        metric=metrics.own(Own.UNSENT, SUM),
        threshold=0,
        periods=3,
        out_of=5,
    )
    yield Condition(
        name="watermark-old",
        page="watermark-old",
        says="A shard is not proven empty for a quarter of an hour: its firings may be late.",
        do="Find the shard that lags and why its scan does not get through.",
        metric=metrics.own(Own.WATERMARK_AGE_SECONDS, MAX),
        threshold=WATERMARK_AGE,
        periods=3,
        silence=SILENCE_IS_BAD,
    )
    yield Condition(
        name="sweep-silent",
        page="sweep-silent",
        says="No share of the sweep has reported for two hours: what it heals stays unhealed.",
        do="Run one by hand and read its log.",
        metric=metrics.own(Own.TIMERLESS_JOBS, "SampleCount", HOUR),
        threshold=1,
        compare=BELOW,
        periods=2,
        silence=SILENCE_IS_BAD,
    )


def _firings(metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="claim-lag",
        page="claim-lag",
        says="One claim in a hundred is made more than a second after due: scans do not keep up.",
        do="Give the scan more room, or the stage a longer horizon.",
        metric=metrics.own(Own.CLAIM_LAG_MS, P99),
        threshold=CLAIM_LAG_MS,
        periods=3,
        out_of=5,
    )
    for queue in DEAD:
        yield Condition(
            name=f"{queue}-age",
            page="dead-letter-age",
            says=f"A message lies in {queue} for five minutes: a team is not told.",
            do="Read why the dead-letter function cannot settle it.",
            metric=metrics.queue(queue, "ApproximateAgeOfOldestMessage"),
            threshold=DEAD_LETTER_AGE,
        )
    yield Condition(
        name="leases-lapse",
        page="leases-lapse",
        says="More than five leases in a quarter of an hour ran past their end: workers die.",
        do="Read the delivery functions' errors, timeouts and memory.",
        metric=metrics.own(Own.LAPSED_LEASES, SUM, cdk.Duration.minutes(15)),
        threshold=5,
    )


def _truth(metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="timerless-jobs",
        page="timerless-jobs",
        says="The sweep found active jobs without a timer. They fire again, but a rule was broken.",
        do="Find the write that left them so; explain what they missed to their teams.",
        metric=metrics.own(Own.TIMERLESS_JOBS, MAX, DAY),
        threshold=0,
    )
    yield Condition(
        name="quarantine",
        page="quarantine",
        says="Timers or messages lie in quarantine; jobs of such timers are in ERROR and do not fire.",
        do="Read why they could not be understood; repair and resume the jobs.",
        metric=metrics.own(Own.QUARANTINED, MAX, DAY),
        threshold=0,
    )
    yield Condition(
        name="absent-jobs",
        page="absent-jobs",
        says="Timers name jobs that could not be found for ten minutes: their firings wait.",
        do="Find out what removed the jobs; a restore of one table alone does.",
        metric=metrics.own(Own.ABSENT_JOBS, SUM, FIVE_MINUTES),
        threshold=0,
    )
    yield Condition(
        name="tzdata-age",
        page="tzdata-age",
        says="The time-zone data is half a year old: a country may have changed its clocks since.",
        do="Renew the lock of tzdata and deploy.",
        metric=metrics.own(Own.TZDATA_AGE_DAYS, MAX, HOUR),
        threshold=TZDATA_AGE,
    )


def _audited(metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="audit-findings",
        page="audit-findings",
        says="The audit found occurrences that the ledger does not explain as it should.",
        do="Read which ones in its log; find what broke the rule, and tell the owners.",
        metric=metrics.own(Own.AUDIT_FINDINGS, MAX, DAY),
        threshold=0,
    )
    yield Condition(
        name="audit-silent",
        page="audit-silent",
        says="No share of the audit has reported for two hours: nobody checks the ledger.",
        do="Run one by hand and read its log.",
        metric=metrics.own(Own.AUDIT_FINDINGS, "SampleCount", HOUR),
        threshold=1,
        compare=BELOW,
        periods=2,
        silence=SILENCE_IS_BAD,
    )


def _functions(stage: Stage, metrics: Metrics) -> Iterator[Condition]:
    for function in Fn:
        yield Condition(
            name=f"{function}-errors",
            page="function-errors",
            says=f"{function} fails again and again.",
            do="Read its log; a handler reports failures one by one and never fails as a whole.",
            metric=metrics.function(function, "Errors").with_(period=FIVE_MINUTES),
            threshold=2,
            periods=2,
            out_of=3,
        )
    for function in stage.polling:
        yield Condition(
            name=f"{function}-throttled",
            page="function-throttled",
            says=f"{function} is refused concurrency that it reserves: its messages wait out their visibility.",
            do="Hold its pollers and reservation against each other, and the account's quota.",
            metric=metrics.function(function, "Throttles"),
            threshold=0,
            periods=3,
            out_of=5,
        )


def _tables(metrics: Metrics) -> Iterator[Condition]:
    for table in TABLES:
        yield Condition(
            name=f"{table}-hot-key",
            page="hot-key",
            says=f"One partition of {table} refuses writes.",
            do="Read the throttled keys in its contributor insights.",
            metric=metrics.refused(table, "WriteKeyRangeThroughputThrottleEvents"),
            threshold=10,
            periods=3,
            out_of=5,
        )
    yield Condition(
        name="throttled",
        page="throttled",
        says="More than a hundred calls a minute are throttled.",
        do="Compare the tables' consumed and warm throughput.",
        metric=metrics.own(Own.THROTTLED, SUM, MINUTE),
        threshold=100,
        periods=3,
        out_of=5,
    )


def _platform(stage: Stage, metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="api-5xx",
        page="api-5xx",
        says="The API answers with server errors.",
        do="Read the api function's log beside the access log.",
        metric=metrics.api("5XXError").with_(period=FIVE_MINUTES),
        threshold=4,
        periods=2,
        out_of=3,
    )
    yield Condition(
        name="account-concurrency",
        page="account-concurrency",
        says="The account's concurrency is nearly used up, by this stage or by its neighbours.",
        do="Raise the quota, or move a neighbour.",
        metric=metrics.account("ClaimedAccountConcurrency"),
        threshold=stage.account_concurrency * 0.9,
        periods=3,
        out_of=5,
    )
