"""AWS targets against services that hold what they are given."""

from __future__ import annotations

import json
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from fencepost.adapters.targets.aws import AwsCaller
from fencepost.adapters.targets.clients import TeamClients, boto_clients
from fencepost.adapters.targets.credentials import BotoSts, RoleCredentials
from fencepost.domain.outcome import Delivered, Failed
from fencepost.domain.targets import EventBridgeTarget, SnsTarget, SqsTarget, StepFunctionsTarget
from tests.support.deliveries import DUE, EXECUTION, SENDER, delivery

REGION = "eu-central-1"
TEN = timedelta(seconds=10)


@pytest.fixture(autouse=True)
def services():
    with mock_aws():
        yield


@pytest.fixture
def caller():
    sts = BotoSts(lambda: boto3.client("sts", region_name=REGION))
    roles = RoleCredentials(sts=sts, now=lambda: DUE)
    return AwsCaller(clients=TeamClients(build=boto_clients(), roles=roles, now=lambda: DUE))


@pytest.fixture
def queue():
    """A queue and a way to read what came."""
    sqs = boto3.client("sqs", region_name=REGION)
    url = sqs.create_queue(QueueName="line")["QueueUrl"]

    def received():
        answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
        return answer.get("Messages", [])

    return url, f"arn:aws:sqs:{REGION}:123456789012:line", received


def test_a_queue_gets_the_message(caller, queue):
    url, _, received = queue
    assert isinstance(caller.call(delivery(SqsTarget(queue_url=url), attempt=3), timeout=TEN), Delivered)
    (message,) = received()
    assert message["Body"] == '{"a":1}'
    assert message["MessageAttributes"]["Fencepost-Attempt"]["StringValue"] == "3"
    assert message["MessageAttributes"]["Idempotency-Key"]["StringValue"] == EXECUTION


def test_a_topics_subscriber_gets_the_message(caller, queue):
    _, arn, received = queue
    sns = boto3.client("sns", region_name=REGION)
    topic = sns.create_topic(Name="topic")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    assert isinstance(caller.call(delivery(SnsTarget(topic_arn=topic)), timeout=TEN), Delivered)
    (message,) = received()
    assert message["Body"] == '{"a":1}'
    assert message["MessageAttributes"]["Fencepost-Team"]["StringValue"] == "payments"


def test_a_bus_takes_the_event_and_a_payload_that_is_no_json_too(caller):
    bus = boto3.client("events", region_name=REGION).create_event_bus(Name="jobs")["EventBusArn"]
    target = EventBridgeTarget(bus_arn=bus, source="us.jobs", detail_type="Nightly")
    for body in (b'{"a":1}', b"", b"plain \xff text"):
        outcome = caller.call(delivery(target, body=body), timeout=TEN)
        assert isinstance(outcome, Delivered)
        assert outcome.excerpt.startswith("EventId ")


def test_a_machine_is_started_once_however_often_it_is_tried(caller):
    machines = boto3.client("stepfunctions", region_name=REGION)
    definition = json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}})
    arn = machines.create_state_machine(
        name="m", definition=definition, roleArn="arn:aws:iam::123456789012:role/m"
    )["stateMachineArn"]
    target = StepFunctionsTarget(state_machine_arn=arn)
    for attempt in (1, 2, 3):
        outcome = caller.call(delivery(target, attempt=attempt), timeout=TEN)
        assert isinstance(outcome, Delivered)
    executions = machines.list_executions(stateMachineArn=arn)["executions"]
    assert [execution["name"] for execution in executions] == [EXECUTION]


def test_what_does_not_exist_fails_and_is_named(caller):
    missing = SqsTarget(queue_url=f"https://sqs.{REGION}.amazonaws.com/123456789012/missing")
    outcome = caller.call(delivery(missing), timeout=TEN)
    assert isinstance(outcome, Failed)
    assert "NonExistentQueue" in outcome.error or "QueueDoesNotExist" in outcome.error


def test_the_role_is_assumed_with_the_teams_external_id(monkeypatch):
    sts = boto3.client("sts", region_name=REGION)
    asked = []
    sts.meta.events.register(
        "before-parameter-build.sts.AssumeRole", lambda params, **_: asked.append(params)
    )
    credentials = RoleCredentials(sts=BotoSts(lambda: sts), now=lambda: DUE).of(SENDER)
    assert credentials.access_key.startswith("ASIA")
    ((params),) = asked
    assert params["RoleArn"] == SENDER.role_arn
    assert params["ExternalId"] == "x-payments"
    assert params["RoleSessionName"] == "fencepost-payments"
    assert params["DurationSeconds"] == 3600
