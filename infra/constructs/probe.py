"""What `make verify` fires at: a queue, and the delivery role of the team that owns it."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.names import Names


class Probe(Construct):
    """A stage proves its own lateness to whoever deployed it, without any other system.

    The role trusts the stage's own functions and asks for no external id, since the id is given to the probe's team
    after the deployment. Another team that names this role gains a queue that nobody believes anything from.
    """

    def __init__(self, scope: Construct, name: str, names: Names, callers: Sequence[iam.IRole]) -> None:
        super().__init__(scope, name)
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=names.queue("probe"),
            retention_period=cdk.Duration.hours(1),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        self.role = iam.Role(
            self,
            "Role",
            role_name=names.delivery_role("probe"),
            description="Acts for the probe team: sends to the probe's queue",
            assumed_by=iam.CompositePrincipal(*(iam.ArnPrincipal(role.role_arn) for role in callers)),
            inline_policies={
                "probe": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            sid="Send", actions=["sqs:SendMessage"], resources=[self.queue.queue_arn]
                        )
                    ]
                )
            },
        )
