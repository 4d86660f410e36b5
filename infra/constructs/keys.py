"""Encryption keys: one for the teams' secrets, and one for the stage's data where it asks for its own."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.names import Names
from infra.settings import Stage

# Those that put messages into the stage's queues and topic on their own account. The keys that AWS manages for
# queues and topics let none of them in, and a key of ours does not either unless it says so.
SENDING_SERVICES = ("cloudwatch.amazonaws.com", "events.amazonaws.com", "sns.amazonaws.com")


def secrets_key(scope: Construct, stage: Stage, names: Names) -> kms.Key:
    """Seals the teams' signing keys. Losing it loses them all, so it is kept whatever becomes of its stack."""
    return kms.Key(
        scope,
        "SecretsKey",
        alias=f"alias/{names.of('secrets')}",
        description=f"Seals the signing keys of Fencepost's teams in stage {stage.name}",
        enable_key_rotation=True,
        pending_window=cdk.Duration.days(30),
        removal_policy=_policy(stage),
    )


def data_key(scope: Construct, stage: Stage, names: Names) -> kms.Key | None:
    """The key of tables, queues and topic, where the stage wants one of its own."""
    if not stage.customer_key:
        return None
    key = kms.Key(
        scope,
        "DataKey",
        alias=f"alias/{names.of('data')}",
        description=f"Encrypts Fencepost's tables, queues and alarms in stage {stage.name}",
        enable_key_rotation=True,
        pending_window=cdk.Duration.days(30),
        removal_policy=_policy(stage),
    )
    let_services_send(key)
    let_callers_through(key)
    return key


def let_services_send(key: kms.Key) -> None:
    """Without this an alarm's message to an encrypted topic is lost without a word."""
    account = cdk.Stack.of(key).account
    for service in SENDING_SERVICES:
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"Send{service.split('.')[0].capitalize()}",
                principals=[iam.ServicePrincipal(service)],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": account}},
            )
        )


def let_callers_through(key: kms.Key) -> None:
    """Whoever may use a table or a queue may use the key through it, and in no other way."""
    stack = cdk.Stack.of(key)
    services = [f"{service}.{stack.region}.amazonaws.com" for service in ("dynamodb", "sqs")]
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="UseThroughTablesAndQueues",
            principals=[iam.AnyPrincipal()],
            actions=[
                "kms:CreateGrant",
                "kms:Decrypt",
                "kms:DescribeKey",
                "kms:Encrypt",
                "kms:GenerateDataKey*",
                "kms:ReEncrypt*",
            ],
            resources=["*"],
            conditions={"StringEquals": {"kms:CallerAccount": stack.account, "kms:ViaService": services}},
        )
    )


def _policy(stage: Stage) -> cdk.RemovalPolicy:
    return cdk.RemovalPolicy.RETAIN if stage.retain else cdk.RemovalPolicy.DESTROY
