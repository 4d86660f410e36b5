"""A CDK construct that declares a team's jobs with the stack that needs them. Needs aws-cdk-lib.

    from fencepost.client.cdk import Api, FencepostJobs

    FencepostJobs(self, "Jobs", api=Api(endpoint="https://..."), team="payments", jobs={
        "nightly": {"schedule": cron("30 2 * * *", "Europe/Berlin"), "target": function(close_books.function_arn)},
    })

The function that declares them has a role of its own (or yours), which may declare jobs of this team and do nothing else;
the team's `principals` must name it. What belongs to the stack is told by a label: see `fencepost.client.cloudformation`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = (
    "__init__.py",
    "client/*.py",
    "domain/__init__.py",
    "domain/identity.py",
    "domain/instants.py",
    "domain/signing.py",
)
NOT_SHIPPED = frozenset({"cdk.py"})
RESOURCE_TYPE = "Custom::FencepostJobs"
CALLS = ("GET jobs", "PUT jobs/*", "DELETE jobs/*", "POST bulk")
"""All that declaring jobs takes: list them, try a change, make the changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The stage. `arn` narrows the role to it: `arn:aws:execute-api:REGION:ACCOUNT:API/*`. `region`: where it is, if not
    where the stack is.
    """

    endpoint: str
    arn: str = "arn:*:execute-api:*:*:*/*"
    region: str | None = None


class FencepostJobs(Construct):
    """Declares `jobs` (by name, as a file of jobs holds them) for `team`; values of the stack may be part of them.

    `role`: one that exists already, and that may call for the team; or a name for the construct's own, so that the team can
    name it among its principals before the first deployment. A stack that may not declare rolls back.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        api: Api,
        team: str,
        jobs: Mapping[str, Mapping[str, Any]],
        role: iam.IRole | str | None = None,
    ) -> None:
        super().__init__(scope, name)
        named = role if isinstance(role, str) else None
        given = None if isinstance(role, str) else role
        self.role: iam.IRole = given or self._own_role(team, api.arn, named)
        self.function = lambda_.Function(
            self,
            "Declare",
            description=f"Declares the jobs of {team} that this stack has",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler="fencepost.client.cloudformation.handler",
            code=lambda_.Code.from_asset(str(asset())),
            role=self.role,
            memory_size=512,
            timeout=cdk.Duration.minutes(15),
        )
        self.resource = cdk.CustomResource(
            self,
            "Jobs",
            resource_type=RESOURCE_TYPE,
            service_token=self.function.function_arn,
            properties={
                "Endpoint": api.endpoint,
                "Team": team,
                "Region": api.region or cdk.Stack.of(self).region,
                "Jobs": cdk.Stack.of(self).to_json_string({"version": 1, "jobs": jobs}),
            },
        )
        self.resource.node.add_dependency(self.role)

    def _own_role(self, team: str, api_arn: str, called: str | None) -> iam.Role:
        """May write its log and declare jobs of this team, nothing else."""
        paths = [f"{method}/v1/teams/{team}/{path}" for method, path in map(str.split, CALLS)]
        calls = iam.PolicyStatement(
            actions=["execute-api:Invoke"], resources=[f"{api_arn}/{path}" for path in paths]
        )
        log = iam.PolicyStatement(
            actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[
                cdk.Stack.of(self).format_arn(
                    service="logs",
                    resource="log-group",
                    resource_name="/aws/lambda/*",
                    arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
                )
            ],
        )
        return iam.Role(
            self,
            "Role",
            role_name=called,
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"Declares jobs of {team}",
            inline_policies={"declare": iam.PolicyDocument(statements=[calls, log])},
        )


def asset() -> Path:
    """A folder with what the function needs of this package; botocore and urllib3 are the runtime's own."""
    folder = Path(tempfile.mkdtemp(prefix="fencepost-jobs-"))
    for pattern in SHIPPED:
        for source in PACKAGE.glob(pattern):
            if source.name in NOT_SHIPPED:
                continue
            copy = folder / "fencepost" / source.relative_to(PACKAGE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    # Modes travel in the zip, and the function runs as another user than whoever packed it under whatever umask.
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder
