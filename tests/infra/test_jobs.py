"""The construct for a team's own stacks: what it makes, what its role may, and that its code needs nothing else."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_sqs as sqs

from fencepost.client import cron, every, webhook
from fencepost.client import sqs as to_sqs
from fencepost.client.cdk import Api, FencepostJobs, asset
from fencepost.client.cloudformation import on_event
from fencepost.client.declaration import read_jobs
from fencepost.local.gateway.policy import INVOKE, Decision, Policy, decide
from tests.support.api import Front
from tests.support.clients import InProcess, client

pytestmark = pytest.mark.xdist_group("infra")

ROOT = Path(__file__).resolve().parents[2]
API = Api(
    endpoint="https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod",
    arn="arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/*",
)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    stack = cdk.Stack(cdk.App(), "Ledger")
    queue = sqs.Queue(stack, "Invoices")
    schedule = cron("0 6 1 * *", "Europe/Berlin")
    jobs = {
        "invoices": {"schedule": schedule, "target": to_sqs(queue.queue_url), "retry": {"max_attempts": 3}}
    }
    FencepostJobs(stack, "Jobs", api=API, team="payments", jobs=jobs)
    return dict(assertions.Template.from_stack(stack).to_json())


def one(template: dict[str, Any], kind: str) -> dict[str, Any]:
    (found,) = [each for each in template["Resources"].values() if each["Type"] == kind]
    return dict(found)


def test_jobs_go_as_text_with_the_stacks_own_values_in_it(template):
    properties = one(template, "Custom::FencepostJobs")["Properties"]
    parts = properties["Jobs"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else "https://sqs.example/invoices" for part in parts)

    assert properties["Team"] == "payments"
    assert read_jobs(json.loads(text)).jobs["invoices"] == {
        "schedule": {"cron": "0 6 1 * *", "timezone": "Europe/Berlin"},
        "target": {"sqs": {"queue_url": "https://sqs.example/invoices"}},
        "retry": {"max_attempts": 3},
    }


@pytest.fixture(scope="module")
def statement(template) -> dict[str, Any]:
    document = one(template, "AWS::IAM::Role")["Properties"]["Policies"][0]["PolicyDocument"]
    (found,) = [each for each in document["Statement"] if each["Action"] == INVOKE]
    return dict(found)


def may(statement: dict[str, Any], call: str, api: str = "a1b2c3") -> bool:
    arn = f"arn:aws:execute-api:eu-central-1:123456789012:{api}/prod/{call}"
    return decide([Policy.parse({"Statement": [statement]})], INVOKE, arn) is Decision.ALLOWED


def test_P10_the_role_may_declare_jobs_of_this_team_and_nothing_else(statement):
    assert may(statement, "PUT/v1/teams/payments/jobs/x")
    for refused in (
        "PUT/v1/teams/payments-eu/jobs/x",
        "GET/v1/teams/payments",
        "PUT/v1/teams/payments",
        "PATCH/v1/teams/payments",
        "DELETE/v1/teams/payments",
        "POST/v1/teams/payments/pause",
        "POST/v1/teams/payments/keys",
        "POST/v1/teams/payments/jobs/x/run",
        "GET/v1/teams/payments/jobs/x/executions",
        "GET/v1/teams/ops/jobs",
    ):
        assert not may(statement, refused), refused
    assert not may(statement, "PUT/v1/teams/payments/jobs/x", api="other")


def test_P10_what_the_role_may_is_what_declaring_takes(statement):
    front = Front.at()
    transport = InProcess(front)
    payments = client(front, transport=transport)
    kept, tuned = (
        {"schedule": every("PT1H"), "target": webhook("https://example.com/hook"), **more}
        for more in ({}, {"tier": "bulk"})
    )
    for number, (kind, jobs) in enumerate(
        [("Create", {"a": kept, "b": kept}), ("Update", {"b": tuned}), ("Delete", {})]
    ):
        on_event(
            {
                "RequestType": kind,
                "RequestId": f"r-{number}",
                "StackId": "ledger",
                "LogicalResourceId": "Jobs",
                "PhysicalResourceId": "x",
                "ResourceProperties": {"Jobs": json.dumps({"version": 1, "jobs": jobs})},
            },
            lambda _: payments,
        )
    made = {f"{each.method}{urlsplit(each.url).path.removeprefix('/prod')}" for each in transport.requests}
    assert all(may(statement, call) for call in made), made
    for resource in statement["Resource"]:
        assert any(may({**statement, "Resource": [resource]}, call) for call in made), resource


def test_the_function_runs_the_handler_of_the_package(template):
    function = one(template, "AWS::Lambda::Function")["Properties"]

    assert function["Handler"] == "fencepost.client.cloudformation.handler"
    assert function["Timeout"] == 900


def test_a_role_of_ones_own_is_used_as_it_is():
    stack = cdk.Stack(cdk.App(), "Ledger")
    role = cdk.aws_iam.Role.from_role_arn(stack, "Deploy", "arn:aws:iam::111122223333:role/payments-deploy")
    FencepostJobs(stack, "Jobs", api=API, team="payments", jobs={}, role=role)

    template = assertions.Template.from_stack(stack)
    template.resource_count_is("AWS::IAM::Role", 0)
    template.has_resource_properties(
        "AWS::Lambda::Function", {"Role": "arn:aws:iam::111122223333:role/payments-deploy"}
    )


def test_a_role_may_be_given_a_name_so_that_a_team_can_name_it_before_it_is_made():
    """Without one nobody knows it before the first deployment, which is refused for it and takes the role back."""
    stack = cdk.Stack(cdk.App(), "Ledger")
    FencepostJobs(stack, "Jobs", api=API, team="payments", jobs={}, role="payments-jobs")

    template = assertions.Template.from_stack(stack)
    template.has_resource_properties("AWS::IAM::Role", {"RoleName": "payments-jobs"})


def test_the_code_needs_nothing_but_itself_and_botocore():
    """As on Lambda, whose runtime brings botocore and what that needs; anything else would not be there."""
    program = """
import importlib.abc, sys
KNOWN = {"fencepost", "botocore", "urllib3", "jmespath", "dateutil", "six"} | set(sys.stdlib_module_names)
class Guard(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in KNOWN and not name.startswith("_"):
            raise ModuleNotFoundError(f"{name} is not there on Lambda", name=name)
sys.meta_path.insert(0, Guard())
sys.path.insert(0, sys.argv[1])
from fencepost.client.cloudformation import handler
import fencepost
assert fencepost.__file__.startswith(sys.argv[1]), fencepost.__file__
print(handler.__name__)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, str(asset())], capture_output=True, text=True, timeout=60, check=False
    )

    assert (ran.returncode, ran.stdout.strip()) == (0, "handler"), ran.stderr


def test_the_code_can_be_read_by_whoever_runs_it_whatever_the_umask_of_whoever_packs():
    before = os.umask(0o077)
    try:
        packed = asset()
    finally:
        os.umask(before)
    kinds = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in packed.rglob("*")}
    assert kinds == {(True, 0o755), (False, 0o644)}


def test_the_example_synthesises():
    path = ROOT / "examples" / "cdk" / "app.py"
    spec = importlib.util.spec_from_file_location("ledger", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    template = assertions.Template.from_stack(module.Ledger(cdk.App(), "Ledger"))

    template.resource_count_is("Custom::FencepostJobs", 1)
    template.has_output("Principal", {})
