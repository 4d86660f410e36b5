"""When somebody has to act. Each alarm names the action and its page of the runbook; one that names none is not here.

What heals by itself raises no alarm: a lost race, a single retry, one worker that died.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.constructs.metrics import FIVE_MINUTES, HOUR, MAX, MINUTE, P99, SUM, Metrics, Own
from infra.names import DEAD, TABLES, Fn, Names
from infra.settings import Stage

ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
SILENCE_IS_BAD = cloudwatch.TreatMissingData.BREACHING
SILENCE_IS_GOOD = cloudwatch.TreatMissingData.NOT_BREACHING
SILENCE_SAYS_NOTHING = cloudwatch.TreatMissingData.IGNORE
"""For what is measured once a day: the last word stands until the next."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Burn:
    """A share of the error budget spent within the long window, and still being spent in the short one."""

    name: str
    share: float
    long: cdk.Duration
    short: cdk.Duration

    def rate(self, days: int) -> float:
        """How many times faster than allowed the budget of `days` is spent."""
        return self.share * days * 24 / self.long.to_hours()


BURNS = (
    Burn(name="fast", share=0.02, long=HOUR, short=FIVE_MINUTES),
    Burn(name="steady", share=0.05, long=cdk.Duration.hours(6), short=cdk.Duration.minutes(30)),
    Burn(name="slow", share=0.10, long=cdk.Duration.days(3), short=cdk.Duration.hours(6)),
)


class Alarms(Construct):
    """The stage's alarms, and the topic that they speak to."""

    def __init__(self, scope: Construct, name: str, stage: Stage, names: Names, key: kms.IKey | None) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._names = names
        self._metrics = Metrics(names=names)
        self.topic = self._topic(key)
        self._action = actions.SnsAction(self.topic)
        self.all: list[cloudwatch.AlarmBase] = [
            *map(self._alarm, conditions(stage, self._metrics)),
            *map(self._burn, BURNS),
        ]
        for alarm in self.all:
            alarm.add_alarm_action(self._action)

    def _topic(self, key: kms.IKey | None) -> sns.Topic:
        topic = sns.Topic(
            self, "Topic", topic_name=self._names.of("alarms"), enforce_ssl=True, master_key=key
        )
        # Refusing plain connections gives the topic a policy of its own, which then has to let the alarms in.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsSpeak",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account}},
            )
        )
        for email in self._stage.alarm_emails:
            topic.add_subscription(subscriptions.EmailSubscription(email))
        return topic

    def _alarm(self, condition: Condition) -> cloudwatch.Alarm:
        return cloudwatch.Alarm(
            self,
            _pascal(condition.name),
            alarm_name=self._names.of(condition.name),
            alarm_description=self._description(condition.says, condition.do, condition.page),
            metric=condition.metric,
            threshold=condition.threshold,
            comparison_operator=condition.compare,
            evaluation_periods=condition.out_of or condition.periods,
            datapoints_to_alarm=condition.periods,
            treat_missing_data=condition.silence,
        )

    def _burn(self, burn: Burn) -> cloudwatch.CompositeAlarm:
        """Both windows have to agree: the long one that it matters, the short one that it goes on."""
        page = f"on-time-burn-{burn.name}"
        says = (
            f"{burn.share:.0%} of the error budget went within {burn.long.to_human_string()}, and it goes on."
        )
        return cloudwatch.CompositeAlarm(
            self,
            _pascal(page),
            composite_alarm_name=self._names.of(page),
            alarm_description=self._description(says, "Find what makes firings late.", page),
            alarm_rule=cloudwatch.AlarmRule.all_of(
                *(self._window(burn, window, page) for window in (burn.long, burn.short))
            ),
        )

    def _window(self, burn: Burn, window: cdk.Duration, page: str) -> cloudwatch.Alarm:
        objective = self._stage.objective
        rate = burn.rate(objective.days)
        return self._alarm(
            Condition(
                name=f"{page}-{window.to_minutes():.0f}m",
                page=page,
                says=f"Firings are late {rate:.4g} times as often as the objective allows.",
                do="None by itself: it is one half of the alarm of the same name.",
                metric=self._metrics.late_ratio(window, objective.at_least),
                threshold=round(rate * (1 - objective.goal / 100), 6),
            )
        )

    def _description(self, says: str, do: str, page: str) -> str:
        return f"{says} Action: {do} Runbook: {self._stage.runbook}#{page}"


def conditions(stage: Stage, metrics: Metrics) -> Iterable[Condition]:
    """Every single alarm of a stage."""
    yield from _wakes(metrics)
    yield from _firings(stage, metrics)
    yield from _truth(metrics)
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
        says="The daily sweep has not reported for 26 hours: what it heals stays unhealed.",
        do="Run the sweep by hand and read its log.",
        metric=metrics.own(Own.TIMERLESS_JOBS, "SampleCount", HOUR),
        threshold=1,
        compare=BELOW,
        periods=26,
        silence=SILENCE_IS_BAD,
    )


def _firings(stage: Stage, metrics: Metrics) -> Iterator[Condition]:
    yield Condition(
        name="claim-lag",
        page="claim-lag",
        says="Claims take nearly the whole horizon: the next crowded minute will fire late.",
        do="Give the scan more room, or the stage a longer horizon.",
        metric=metrics.own(Own.CLAIM_LAG_MS, P99),
        threshold=stage.horizon * 1000 * 0.9,
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
        metric=metrics.own(Own.TIMERLESS_JOBS, MAX, HOUR),
        threshold=0,
        silence=SILENCE_SAYS_NOTHING,
    )
    yield Condition(
        name="quarantine",
        page="quarantine",
        says="Timers lie in quarantine: their jobs are in ERROR and do not fire.",
        do="Read why they could not be understood; repair and resume the jobs.",
        metric=metrics.own(Own.QUARANTINED, MAX, FIVE_MINUTES),
        threshold=0,
        silence=SILENCE_SAYS_NOTHING,
    )
    yield Condition(
        name="tzdata-age",
        page="tzdata-age",
        says="The time-zone data is half a year old: a country may have changed its clocks since.",
        do="Renew the lock of tzdata and deploy.",
        metric=metrics.own(Own.TZDATA_AGE_DAYS, MAX, HOUR),
        threshold=TZDATA_AGE,
        silence=SILENCE_SAYS_NOTHING,
    )


def _platform(stage: Stage, metrics: Metrics) -> Iterator[Condition]:
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
    for table in TABLES:
        yield Condition(
            name=f"{table}-hot-key",
            page="hot-key",
            says=f"One partition of {table} refuses writes.",
            do="Read the throttled keys in its contributor insights.",
            metric=metrics.table(table, "WriteKeyRangeThroughputThrottleEvents"),
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


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
