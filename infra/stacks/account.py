"""What an account has once per region, whatever the number of stages in it."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.names import PRODUCT
from infra.settings import Stage

NAME = f"{PRODUCT}-account"


class AccountStack(cdk.Stack):
    """The role with which API Gateway writes logs.

    It is a setting of the account, so a stage that owned it would take the logs of all others with it when it goes.
    Every stage brings this stack along, always the same, and none can delete it.
    """

    def __init__(self, scope: Construct, stage: Stage) -> None:
        super().__init__(
            scope,
            NAME,
            env=cdk.Environment(account=stage.account, region=stage.region),
            description="Fencepost: what an account has once per region",
            termination_protection=True,
            tags={"product": PRODUCT},
        )
        role = iam.Role(
            self,
            "GatewayLogs",
            description="Lets API Gateway write the logs of every API in this account and region",
            assumed_by=iam.ServicePrincipal("apigateway.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(
                    "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
                )
            ],
        )
        role.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        account = apigateway.CfnAccount(self, "Gateway", cloud_watch_role_arn=role.role_arn)
        account.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
