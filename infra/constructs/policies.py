"""Grants as policy statements: every action and every resource written out."""

from __future__ import annotations

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs

from infra.constructs.refs import StoreRefs
from infra.names import DELIVERY_ROLES
from infra.permissions import Grants


def policy(grants: Grants, refs: StoreRefs, secrets_key: str, log: logs.LogGroup) -> iam.PolicyDocument:
    """The whole of what a role with these grants may do."""
    return iam.PolicyDocument(
        statements=[
            _allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], [log.log_group_arn]),
            *_tables(grants, refs),
            *_ledger_before(grants, refs),
            *_queues(grants, refs),
            *_secrets(grants, secrets_key),
            *_teams(grants),
        ]
    )


def _tables(grants: Grants, refs: StoreRefs) -> Iterator[iam.PolicyStatement]:
    for table, actions in grants.tables.items():
        named = [f"dynamodb:{action}" for action in actions]
        yield _allow(table.capitalize(), named, [refs.table_arn(table)])


def _ledger_before(grants: Grants, refs: StoreRefs) -> Iterator[iam.PolicyStatement]:
    if grants.reads_ledger_before:
        actions = ["dynamodb:GetItem", "dynamodb:Query"]
        yield _allow("LedgerBefore", actions, [refs.ledger_before_arn()])


def _queues(grants: Grants, refs: StoreRefs) -> Iterator[iam.PolicyStatement]:
    if grants.sends:
        yield _allow("Send", ["sqs:SendMessage"], [refs.queue_arn(queue) for queue in grants.sends])
    if grants.consumes:
        actions = [
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
        ]
        yield _allow("Consume", actions, [refs.queue_arn(queue) for queue in grants.consumes])


def _secrets(grants: Grants, secrets_key: str) -> Iterator[iam.PolicyStatement]:
    actions = ["kms:GenerateDataKey"] * grants.seals + ["kms:Decrypt"] * grants.opens
    if actions:
        yield _allow("Secrets", actions, [secrets_key])


def _teams(grants: Grants) -> Iterator[iam.PolicyStatement]:
    if grants.acts_for_teams:
        roles = f"arn:{cdk.Aws.PARTITION}:iam::*:role/{DELIVERY_ROLES}"
        yield _allow("ActForTeams", ["sts:AssumeRole"], [roles])


def _allow(sid: str, actions: list[str], resources: list[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=actions, resources=resources)
