"""When somebody has to act. Each alarm names the action and its page of the runbook; one that names none is not here.

What heals by itself raises no alarm: a lost race, a single retry, one worker that died.
"""

from __future__ import annotations

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.constructs.conditions import Condition, conditions
from infra.constructs.metrics import FIVE_MINUTES, HOUR, Metrics
from infra.names import Names
from infra.settings import Stage


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


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
