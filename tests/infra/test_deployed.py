"""The whole service, deployed: the synthesised templates and packaged assets in the local engine, which checks every
signature and every role's policy, driven over signed HTTP alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from infra.local import refused
from infra.local.deploy import ADMIN, Deployed, create, deploy, local
from infra.local.engine import REGION, Engine, running
from infra.local.identities import create_user
from infra.names import PASSES, Fn
from tests.support.deployed_api import SignedApi
from tests.support.live import until
from tests.support.stacks import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.deployed]

TEAM = "/v1/teams/payments"
PROBE = "https://sqs.us-east-1.amazonaws.com/000000000000/fencepost-local-probe"
# What the engine refuses on the templates' behalf, in its own words.
DIFFERS = {
    refused.composite_alarm: {
        "Type": "AWS::CloudWatch::CompositeAlarm",
        "Properties": {"AlarmRule": "FALSE"},
    },
    refused.math_alarm: {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "ComparisonOperator": "GreaterThanThreshold",
            "EvaluationPeriods": 1,
            "Threshold": 1,
            "Metrics": [{"Id": "e", "Expression": "1 + 1", "ReturnData": True}],
        },
    },
    refused.service_level_objective: {
        "Type": "AWS::ApplicationSignals::ServiceLevelObjective",
        "Properties": {"Name": "on-time"},
    },
}


@dataclass(frozen=True)
class Stage:
    """The deployed stage, and those who call it."""

    engine: Engine
    deployed: Deployed
    output: Path
    admin: SignedApi
    payments: SignedApi

    def output_of(self, name):
        path = self.deployed.names.parameter(name)
        return self.engine.client("ssm").get_parameter(Name=path)["Parameter"]["Value"]

    def lines(self, function):
        """What a function wrote to its log."""
        group = self.deployed.names.log_group(function)
        events = self.engine.client("logs").filter_log_events(logGroupName=group)["events"]
        return [event["message"] for event in events]

    def measured(self, function, metric):
        """Its lines with samples of a metric; None until there are some (they come when an invocation is over)."""
        lines = [json.loads(line) for line in self.lines(function) if line.startswith('{"_aws"')]
        return [line for line in lines if line.get(metric) is not None] or None

    def records(self, job):
        answer = self.payments.call("GET", f"{TEAM}/jobs/{job}/executions")
        assert answer.status == 200, answer
        return answer.body["items"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    home = tmp_path_factory.mktemp("deployed")
    with running(home / "engine") as engine:
        deployed = deploy(engine, home / "cdk", local())

        def api_of(name, methods):
            user = create_user(engine, name, methods)
            credentials = Credentials(user.key, user.secret)
            return user, SignedApi(url=deployed.url, region=REGION, credentials=credentials)

        administrator, admin = api_of(ADMIN.rpartition("/")[2], [deployed.methods("/*")])
        assert administrator.arn == ADMIN
        member, payments = api_of("payments", [deployed.methods(TEAM), deployed.methods(f"{TEAM}/*")])
        made = Stage(engine, deployed, home / "cdk", admin, payments)
        team = {"principals": [member.arn], "delivery_role": made.output_of("probe-role-arn")}
        answer = admin.call("PUT", TEAM, team)
        assert answer.status == 201, answer
        yield made


@pytest.fixture(scope="module")
def registered(stage):
    """A firing beyond the horizon, which takes the whole way, and one within it whose target becomes hostile."""
    far = stage.payments.call(
        "PUT",
        f"{TEAM}/jobs/far",
        {"schedule": {"in": "PT75S"}, "target": {"sqs": {"queue_url": PROBE}}, "payload": {"order": 7}},
    )
    assert far.status == 201, far
    near = stage.payments.call(
        "PUT",
        f"{TEAM}/jobs/near",
        {
            "schedule": {"in": "PT10S"},
            "target": {"webhook": {"url": "https://hooks.example.org/paid"}},
            "retry": {"max_attempts": 1},
        },
    )
    assert near.status == 201, near
    turn_hostile(stage, near.body["uid"])
    return {"far": far.body, "near": near.body}


def turn_hostile(stage, uid):
    """As if the address had been accepted by an older release, with laxer rules."""
    dynamodb = stage.engine.client("dynamodb")
    table = stage.deployed.names.table("jobs")
    found = dynamodb.query(
        TableName=table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
        ExpressionAttributeValues={":pk": {"S": f"J#{uid}"}, ":sk": {"S": "P#"}},
    )["Items"]
    (detail,) = found
    detail["target"]["M"]["webhook"]["M"]["url"] = {
        "S": "https://127.0.0.1/2018-06-01/runtime/invocation/next"
    }
    dynamodb.put_item(TableName=table, Item=detail)


def finished(stage, job):
    """The job's one record, once it is final."""

    def look():
        return [each for each in stage.records(job) if each["state"] in {"SUCCEEDED", "DEAD"}] or None

    (record,) = until(look, 120, f"{job} to come to its end")
    return record


def test_a_firing_takes_the_whole_way_and_the_record_says_so(stage, registered):
    """Registered over signed HTTP; found by the deployed tick and scan; delivered under the team's own role."""
    record = finished(stage, "far")
    assert record["state"] == "SUCCEEDED"
    assert record["due"] == registered["far"]["next"][0]["at"]
    (attempt,) = record["attempts"]
    assert (attempt["number"], attempt["outcome"], attempt["fence"]) == (1, "delivered", record["fence"])
    assert record["claimed_at"] < record["started_at"]
    assert record["lateness_ms"] >= 0
    received = stage.engine.client("sqs").receive_message(
        QueueUrl=f"{stage.engine.endpoint}/000000000000/fencepost-local-probe",
        MaxNumberOfMessages=10,
        MessageAttributeNames=["All"],
    )
    (message,) = received["Messages"]
    assert message["Body"] == '{"order":7}'
    told = {name: attribute["StringValue"] for name, attribute in message["MessageAttributes"].items()}
    assert told["Fencepost-Execution"] == record["id"]
    assert told["Fencepost-Fence"] == str(record["fence"])


@pytest.mark.parametrize("function", [Fn.TICK, Fn.SCAN, Fn.DELIVER_STANDARD])
def test_the_packaged_functions_did_it(stage, registered, function):
    finished(stage, "far")
    metric = {Fn.TICK: "TickRan", Fn.SCAN: "Claimed", Fn.DELIVER_STANDARD: "Fired"}[function]
    said = until(lambda: stage.measured(function, metric), 60, f"{function} to say that it did")
    assert {line["Stage"] for line in said} == {"local"}


def test_the_deployed_guard_refuses_a_loopback_webhook(stage, registered):
    """At the door, and again at delivery: what was stored before is judged when it is called."""
    body = {"schedule": {"in": "PT1H"}, "target": {"webhook": {"url": "https://127.0.0.1/"}}}
    refusal = stage.payments.call("PUT", f"{TEAM}/jobs/inward", body)
    assert refusal.status == 422
    assert "127.0.0.1 is loopback" in refusal.body["detail"]
    record = finished(stage, "near")
    assert record["state"] == "DEAD"
    assert record["attempts"][0]["outcome"] == "blocked"
    assert "loopback" in record["attempts"][0]["error"]


def test_a_dead_firing_passes_its_queue_and_is_listed(stage, registered):
    record = finished(stage, "near")

    until(lambda: stage.measured(Fn.DEAD_LETTER, "DeadLetters"), 60, "the dead-letter function to count it")
    listed = stage.payments.call("GET", f"{TEAM}/dead-letters")
    assert [each["id"] for each in listed.body["items"]] == [record["id"]]


def test_nobody_gets_in_unsigned_or_next_door(stage):
    unsigned = SignedApi(url=stage.deployed.url, region=REGION, credentials=None)
    assert unsigned.call("GET", TEAM).status == 403
    assert stage.payments.call("GET", "/v1/teams/billing").status == 403
    forged = Credentials(stage.payments.credentials.access_key, "not the secret")
    assert (
        SignedApi(url=stage.deployed.url, region=REGION, credentials=forged).call("GET", TEAM).status == 403
    )


@pytest.mark.parametrize("function", [Fn.SWEEP, Fn.AUDIT, Fn.TICK])
def test_what_the_clock_wakes_runs_under_its_own_role(stage, function):
    answer = stage.engine.client("lambda").invoke(
        FunctionName=stage.deployed.names.function(function), Payload=b'{"detail": {"every_minutes": 5}}'
    )
    assert "FunctionError" not in answer, answer["Payload"].read()


def test_the_pump_runs_under_its_own_role(stage):
    event = json.loads((ROOT / "events" / "sqs_pump.json").read_text())
    url = f"{stage.engine.endpoint}/000000000000/{stage.deployed.names.queue('pump')}"
    stage.engine.client("sqs").send_message(QueueUrl=url, MessageBody=event["Records"][0]["body"])
    said = until(lambda: stage.measured(Fn.PUMP, "SlotsInUse"), 60, "the pump to say what it saw")
    assert said[0]["team"] == "payments"


def test_a_stage_proves_its_lateness_to_whoever_deployed_it(stage, registered):
    """`make verify`, on a few firings: how late this engine is proves nothing, that all of them ran does."""
    finished(stage, "far")
    iam = stage.engine.client("iam")
    outputs = {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [outputs]})
    iam.put_user_policy(UserName="administrator", PolicyName="outputs", PolicyDocument=document)
    told = {
        "AWS_ENDPOINT_URL": stage.engine.endpoint,
        "AWS_ACCESS_KEY_ID": stage.admin.credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": stage.admin.credentials.secret_key,
        "AWS_DEFAULT_REGION": REGION,
    }
    command = [sys.executable, "scripts/verify.py", "local", "--endpoint", stage.deployed.url]
    run = subprocess.run(
        [*command, "--firings", "3", "--ahead", "20"],
        cwd=ROOT,
        env=os.environ | told,
        capture_output=True,
        text=True,
        check=False,
        timeout=420,
    )
    rows = {line.split()[0]: line for line in run.stdout.splitlines() if line.split()[:1]}
    for tier in ("critical", "standard", "bulk"):
        assert rows[tier].split()[1] == "3", run.stdout + run.stderr
        assert "did not succeed" not in rows[tier]


def test_no_function_was_refused_anything(stage, registered):
    """A missing grant shows as AccessDenied in somebody's log, whether or not somebody coped with it."""
    finished(stage, "far")
    finished(stage, "near")
    for function in Fn:
        lines = "\n".join(stage.lines(function))
        assert "AccessDenied" not in lines, lines
        assert "not authorized" not in lines, lines


def test_every_resource_of_the_templates_exists(stage):
    cloudformation = stage.engine.client("cloudformation")
    for path in sorted(stage.output.glob("*.template.json")):
        name = path.name.partition(".")[0]
        wanted = refused.accepted(json.loads(path.read_text()))["Resources"]
        pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        listed = {each["LogicalResourceId"] for page in pages for each in page["StackResourceSummaries"]}
        assert set(wanted) - listed == set()


def test_what_is_cut_for_the_engine_is_this_and_nothing_else(stage):
    cut: dict[str, int] = {}
    for path in stage.output.glob("*.template.json"):
        template = json.loads(path.read_text())
        kept = refused.accepted(template)["Resources"]
        for name in set(template["Resources"]) - set(kept):
            kind = template["Resources"][name]["Type"]
            cut[kind] = cut.get(kind, 0) + 1
    assert cut == {
        "AWS::ApplicationSignals::ServiceLevelObjective": 1,
        "AWS::CloudWatch::Alarm": 10,
        "AWS::CloudWatch::CompositeAlarm": 3,
        "AWS::SQS::QueuePolicy": 11,
    }


@pytest.mark.parametrize("kind", refused.REFUSED, ids=lambda kind: kind.__name__)
def test_the_engine_still_refuses_what_is_cut_for_it(stage, kind):
    resource = DIFFERS[kind]
    assert kind(resource)
    with pytest.raises((ClientError, RuntimeError)):
        create(stage.engine, f"refused-{kind.__name__.replace('_', '-')}", {"Resources": {"It": resource}})


def test_the_engine_still_asks_for_batches_by_name(stage):
    """On AWS the permission to send covers sending ten at once."""
    assert refused.ALSO == {"sqs:SendMessage": "sqs:SendMessageBatch"}
    role = stage.engine.client("iam").get_role(RoleName=stage.deployed.names.delivery_role("probe"))["Role"]
    policy = stage.engine.client("iam").get_role_policy(RoleName=role["RoleName"], PolicyName="probe")
    actions = json.dumps(policy["PolicyDocument"])
    assert "sqs:SendMessageBatch" in actions
    assert len(PASSES) == 2
