"""The HTTP API: every route signed, logged and throttled, one function behind them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from infra.constructs.functions import log_removal, log_retention
from infra.names import Names
from infra.routes import Route
from infra.settings import Stage

STAGE = "live"
FIREWALL_RATE = 10_000
"""Requests of one address in five minutes; above it the firewall refuses."""


class Api(Construct):
    """A regional REST API, built from the document's routes."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        stage: Stage,
        names: Names,
        routes: Sequence[Route],
        handler: lambda_.IFunction,
    ) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._names = names
        self.access_log = self._access_log()
        self.rest = self._rest(handler)
        self._validator = self.rest.add_request_validator(
            "Validator", validate_request_body=True, validate_request_parameters=True
        )
        for route in routes:
            self._method(route)
        if stage.api.firewall:
            self._firewall()

    def _access_log(self) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "AccessLog",
            log_group_name=f"/aws/apigateway/{self._names.of('api')}",
            retention=log_retention(self._stage.log_days),
            removal_policy=log_removal(self._stage),
        )

    def _rest(self, handler: lambda_.IFunction) -> apigateway.RestApi:
        # One permission for the whole API; one per method would fill the function's policy.
        integration = apigateway.LambdaIntegration(handler, scope_permission_to_method=False)
        return apigateway.RestApi(
            self,
            "Rest",
            rest_api_name=self._names.of("api"),
            description=f"Fencepost {self._stage.name}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            cloud_watch_role=False,
            default_integration=integration,
            # A method without it would be open to the world.
            default_method_options=apigateway.MethodOptions(
                authorization_type=apigateway.AuthorizationType.IAM
            ),
            deploy_options=self._options(),
            policy=self._callers(),
        )

    def _callers(self) -> iam.PolicyDocument | None:
        """Whoever is of another account has to be let in on both sides: here, and by a policy of its own. Callers of this
        account need theirs alone, with this one or without.
        """
        if not self._stage.callers:
            return None
        return iam.PolicyDocument(
            statements=[
                iam.PolicyStatement(
                    sid="OtherAccounts",
                    principals=[iam.AccountPrincipal(account) for account in self._stage.callers],
                    actions=["execute-api:Invoke"],
                    resources=["execute-api:/*"],
                )
            ]
        )

    def _options(self) -> apigateway.StageOptions:
        return apigateway.StageOptions(
            stage_name=STAGE,
            throttling_rate_limit=self._stage.api.rate,
            throttling_burst_limit=self._stage.api.burst,
            metrics_enabled=True,
            logging_level=apigateway.MethodLoggingLevel.ERROR,
            access_log_destination=apigateway.LogGroupLogDestination(self.access_log),
            access_log_format=apigateway.AccessLogFormat.custom(
                cdk.Stack.of(self).to_json_string(dict(ACCESS_LOG))
            ),
        )

    def _method(self, route: Route) -> None:
        resource: apigateway.IResource = self.rest.root
        for part in route.parts:
            resource = resource.get_resource(part) or resource.add_resource(part)
        resource.add_method(
            route.method,
            request_validator=self._validator,
            request_parameters={f"method.request.path.{name}": True for name in route.variables},
        )

    def _firewall(self) -> None:
        acl = waf.CfnWebACL(
            self,
            "Firewall",
            name=self._names.of("api"),
            scope="REGIONAL",
            default_action={"allow": {}},
            rules=[_reputation(), _rate()],
            visibility_config=_visible("firewall"),
        )
        waf.CfnWebACLAssociation(
            self,
            "FirewallOnApi",
            resource_arn=self.rest.deployment_stage.stage_arn,
            web_acl_arn=acl.attr_arn,
        )


ACCESS_LOG: Mapping[str, str] = {
    "requestId": apigateway.AccessLogField.context_request_id(),
    "at": apigateway.AccessLogField.context_request_time_epoch(),
    "caller": apigateway.AccessLogField.context_identity_user_arn(),
    "sourceIp": apigateway.AccessLogField.context_identity_source_ip(),
    "method": apigateway.AccessLogField.context_http_method(),
    "path": apigateway.AccessLogField.context_path(),
    "status": apigateway.AccessLogField.context_status(),
    "latencyMs": apigateway.AccessLogField.context_response_latency(),
    "error": apigateway.AccessLogField.context_error_response_type(),
}


def _visible(metric: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=metric, sampled_requests_enabled=True
    )


def _reputation() -> waf.CfnWebACL.RuleProperty:
    """Addresses that AWS knows for attacks. The rules about bodies are left out: a payload may look like anything."""
    return waf.CfnWebACL.RuleProperty(
        name="reputation",
        priority=0,
        override_action={"none": {}},
        statement=waf.CfnWebACL.StatementProperty(
            managed_rule_group_statement=waf.CfnWebACL.ManagedRuleGroupStatementProperty(
                vendor_name="AWS", name="AWSManagedRulesAmazonIpReputationList"
            )
        ),
        visibility_config=_visible("reputation"),
    )


def _rate() -> waf.CfnWebACL.RuleProperty:
    return waf.CfnWebACL.RuleProperty(
        name="rate",
        priority=1,
        action={"block": {}},
        statement=waf.CfnWebACL.StatementProperty(
            rate_based_statement=waf.CfnWebACL.RateBasedStatementProperty(
                limit=FIREWALL_RATE, aggregate_key_type="IP"
            )
        ),
        visibility_config=_visible("rate"),
    )
