"""The wake-ups that AWS gives: a tick each minute, a share of sweep and audit every few minutes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from infra.names import Fn, Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """When a function is woken, and how long a wake-up that failed is still worth trying."""

    expression: str
    retries: int
    worth: int
    detail: Mapping[str, int] = field(default_factory=dict)


SWEEP_MINUTES = 5
"""A day's sweep of ten million jobs takes hours; in shares of a day it takes minutes at a time, and any may fail."""

# A tick that comes late is no use, the next one does its work too. A share of the sweep comes again tomorrow.
WAKES: Mapping[Fn, Wake] = {
    Fn.TICK: Wake(expression="rate(1 minute)", retries=0, worth=60),
    Fn.SWEEP: Wake(
        expression=f"cron(0/{SWEEP_MINUTES} * * * ? *)",
        retries=0,
        worth=60,
        detail={"every_minutes": SWEEP_MINUTES},
    ),
    Fn.AUDIT: Wake(
        expression=f"cron(2/{SWEEP_MINUTES} * * * ? *)",
        retries=0,
        worth=60,
        detail={"every_minutes": SWEEP_MINUTES},
    ),
}


class Schedules(Construct):
    """One schedule per function that is woken by the clock, and the one role that wakes them."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        names: Names,
        functions: Mapping[Fn, lambda_.Function],
        *,
        closed: bool,
    ) -> None:
        super().__init__(scope, name)
        self._names = names
        self._closed = closed
        role = self._role([functions[each].function_arn for each in WAKES])
        for each, wake in WAKES.items():
            self._schedule(each, wake, functions[each], role)

    def _role(self, arns: list[str]) -> iam.Role:
        account = cdk.Stack.of(self).account
        return iam.Role(
            self,
            "Role",
            description=f"Wakes functions of {self._names.of('')}".rstrip("-"),
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": account}}
            ),
            inline_policies={
                "wake": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(sid="Wake", actions=["lambda:InvokeFunction"], resources=arns)
                    ]
                )
            },
        )

    def _schedule(self, function: Fn, wake: Wake, target: lambda_.Function, role: iam.Role) -> None:
        scheduler.CfnSchedule(
            self,
            function.value.capitalize(),
            name=self._names.of(function.value),
            description=f"Wakes {self._names.function(function)}",
            schedule_expression=wake.expression,
            state="DISABLED" if self._closed and function is Fn.TICK else "ENABLED",
            schedule_expression_timezone="UTC",
            flexible_time_window={"mode": "OFF"},
            target=scheduler.CfnSchedule.TargetProperty(
                arn=target.function_arn,
                role_arn=role.role_arn,
                input=json.dumps({**EVENT, "detail": dict(wake.detail)}),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_retry_attempts=wake.retries, maximum_event_age_in_seconds=wake.worth
                ),
            ),
        )
        # The scheduler only hands over; what becomes of the event then is the function's own setting.
        target.configure_async_invoke(
            retry_attempts=wake.retries, max_event_age=cdk.Duration.seconds(wake.worth)
        )


# The shape of an EventBridge event, filled in by the scheduler.
EVENT: Mapping[str, str] = {
    "version": "0",
    "id": "<aws.scheduler.execution-id>",
    "detail-type": "Scheduled Event",
    "source": "fencepost.schedule",
    "time": "<aws.scheduler.scheduled-time>",
}
