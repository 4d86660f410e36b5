"""What the AwsSolutions rules find and is meant: each finding where it occurs, with the reason."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import IConstruct

from infra.names import DELIVERY_ROLES, PASSES, Fn
from infra.permissions import GRANTS
from infra.settings import Stage

_MANAGED = (
    "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]"
)
_ANY_ACCOUNT = f"IAM5[Resource::arn:<AWS::Partition>:iam::*:role/{DELIVERY_ROLES}]"


def acknowledge(stage: Stage, account: IConstruct, store: IConstruct, service: IConstruct) -> None:
    """Says why, for every finding that stands; what is not said here fails the synthesis."""
    _because(
        account,
        _MANAGED,
        "API Gateway checks for the permissions of this policy when it is given the role; a copy of them could miss one",
    )
    for queue in PASSES:
        _because(
            _child(store, "Queues", queue.capitalize()),
            "SQS3",
            "a scan or pump message that fails is sent anew by the next tick; an old one is worth nothing",
        )
    _because(
        _child(service, "Probe", "Queue"),
        "SQS3",
        "the probe's own queue: no function consumes it, and what lies there is read or expires",
    )
    _because(
        _child(service, "Functions"),
        "L1",
        "python3.13 is supported until 2029; the newest runtime follows when the layers' bytecode is built for it",
    )
    _delivery(service)
    _gateway(stage, service)


def _delivery(service: IConstruct) -> None:
    for function in Fn:
        if GRANTS[function].acts_for_teams:
            _because(
                _child(service, "Functions", function.value),
                _ANY_ACCOUNT,
                "teams bring the role that acts for them, in their own accounts: the name is fixed, its trust policy "
                "and the team's external id are theirs",
            )


def _gateway(stage: Stage, service: IConstruct) -> None:
    _because(
        _child(service, "Api"),
        "COG4",
        "callers are services and engineers with IAM identities: every method demands a SigV4 signature",
    )
    if not stage.api.firewall:
        _because(
            _child(service, "Api"),
            "APIG3",
            "an unsigned call is refused before anything runs; the firewall is for stages that strangers know of",
        )


def _child(construct: IConstruct, *path: str) -> IConstruct:
    for name in path:
        construct = construct.node.find_child(name)
    return construct


def _because(construct: IConstruct, rule: str, reason: str) -> None:
    # The doubled prefix is the form that keeps the finding, with its reason, in the report.
    finding = cdk.Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason)
    cdk.Validations.of(construct).acknowledge(finding)
