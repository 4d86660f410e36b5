"""A team's own stack: a function, and the job that calls it each night, deployed and removed together.

pip install fencepost aws-cdk-lib
cdk deploy --app "python app.py"
"""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from fencepost.client import cron, function
from fencepost.client.cdk import Api, FencepostJobs

API = Api(
    endpoint="https://a1b2c3.execute-api.eu-central-1.amazonaws.com/live",
    arn="arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/*",
)


class Ledger(cdk.Stack):
    """Closes the books."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        close_books = lambda_.Function(
            self,
            "CloseBooks",
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context):\n    return {}\n"),
        )
        nightly = {
            "schedule": cron("30 2 * * *", "Europe/Berlin"),
            "target": function(close_books.function_arn),
            "overlap": "skip",
        }
        # The team's principals must name this role before the stack is deployed: fencepost team put payments --principal ...
        jobs = FencepostJobs(
            self, "Jobs", api=API, team="payments", jobs={"nightly": nightly}, role="payments-jobs"
        )
        cdk.CfnOutput(self, "Principal", value=jobs.role.role_arn)


if __name__ == "__main__":
    app = cdk.App()
    Ledger(app, "Ledger")
    app.synth()
