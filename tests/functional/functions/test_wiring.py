"""Functions as they are deployed: composed from the environment, once, lean, over DynamoDB and SQS."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.application import keys
from fencepost.application.codec_job import encode_team
from fencepost.application.ports import QueueName
from fencepost.application.restoring.holding import OPENED
from fencepost.application.store import Put, Query, Table
from fencepost.application.switches.reading import standing_team
from fencepost.domain.model import Team, Tier
from fencepost.runtime.aws import AwsStage
from fencepost.runtime.events import EventError, received
from fencepost.runtime.function import on_lambda
from fencepost.runtime.settings import SettingsError
from functions.deliver import handler as deliver
from functions.scan import handler as scan
from functions.tick import handler as tick
from tests.support.functions import QUEUES, event

ROOT = Path(__file__).resolve().parents[3]
REGION = "eu-central-1"


@pytest.fixture
def deployed(monkeypatch):
    """A stage's tables and queues, and the environment that names them."""
    with mock_aws():
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("FENCEPOST_STAGE", "test")
        monkeypatch.setenv("FENCEPOST_SHARDS", "2")
        tables = create_tables(boto3.client("dynamodb", region_name=REGION), "fencepost-test-")
        for table, name in tables.items():
            monkeypatch.setenv(f"FENCEPOST_TABLE_{table.upper()}", name)
        sqs = boto3.client("sqs", region_name=REGION)
        for queue in QueueName:
            url = sqs.create_queue(QueueName=f"fencepost-test-{queue}")["QueueUrl"]
            monkeypatch.setenv(f"FENCEPOST_QUEUE_{queue.upper().replace('-', '_')}", url)
        key = boto3.client("kms", region_name=REGION).create_key()["KeyMetadata"]["KeyId"]
        monkeypatch.setenv("FENCEPOST_KMS_KEY_ID", key)
        yield sqs


def test_a_tick_fans_out_over_real_queues_and_a_scan_reads_real_tables(deployed, capsys):
    answer = on_lambda(tick.build)(event("schedule_tick"), None)
    assert (answer["leased"], answer["scans"]) == (True, 2)
    url = deployed.get_queue_url(QueueName="fencepost-test-scan")["QueueUrl"]
    bodies = [
        each["Body"] for each in deployed.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    ]
    request = event("sqs_scan")
    request["Records"][0]["body"] = bodies[0]
    assert on_lambda(scan.build)(request, None) == {"batchItemFailures": []}
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert any(line.get("TickRan") == [1.0] for line in metrics)
    assert any("WatermarkAgeSeconds" in line for line in metrics)


@pytest.mark.parametrize("function", sorted(path.parent.name for path in ROOT.glob("functions/*/handler.py")))
def test_every_function_is_composed_from_its_environment(deployed, function):
    handler = importlib.import_module(f"functions.{function}.handler")
    assert callable(handler.build(AwsStage.from_env()))


def test_F5_a_function_on_restored_tables_holds_until_they_are_opened(deployed, monkeypatch):
    monkeypatch.setenv("FENCEPOST_RESTORED", "r1")
    monkeypatch.setenv("FENCEPOST_TABLE_REPLACED", "fencepost-test-executions")
    stage = AwsStage.from_env()
    assert on_lambda(tick.build)(event("schedule_tick"), None) == {"held": "r1"}
    assert stage.replaced is not None
    assert list(stage.replaced.pages(Query(table=Table.EXECUTIONS, pk="nobody"))) in ([], [[]])
    stage.store.write(Put(key=keys.team("payments"), item=encode_team(Team(name="payments"))))

    def shut():
        team = standing_team(stage.store, "payments", stage.clock.now())
        return None if team is None else team.shut

    assert shut() == frozenset(Tier)
    stage.store.write(Put(key=keys.stage(), item={"v": 1, "rev": 2, OPENED: "r1"}))
    assert shut() == frozenset()
    assert on_lambda(tick.build)(event("schedule_tick"), None)["leased"]


def test_a_delivery_function_without_the_key_of_secrets_says_so(deployed, monkeypatch):
    monkeypatch.delenv("FENCEPOST_KMS_KEY_ID")
    with pytest.raises(SettingsError) as refused:
        deliver.build(AwsStage.from_env())
    assert refused.value.problems == {"FENCEPOST_KMS_KEY_ID": "is not set"}


def test_a_function_is_composed_once(deployed):
    built = []

    def build(stage):
        built.append(stage)
        return lambda _event, _context: "answer"

    function = on_lambda(build)
    assert built == [], "outside of Lambda nothing happens before the first event"
    assert [function({}, None), function({}, None)] == ["answer", "answer"]
    assert len(built) == 1


def test_on_lambda_it_is_composed_before_the_first_event(deployed, monkeypatch):
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "fencepost-test-tick")
    built = []

    def build(stage):
        built.append(stage)
        return lambda _event, _context: None

    on_lambda(build)
    assert len(built) == 1


def test_a_stage_that_is_set_up_wrongly_says_so_by_variable(monkeypatch):
    monkeypatch.setenv("FENCEPOST_SHARDS", "few")
    with pytest.raises(SettingsError) as refused:
        on_lambda(tick.build)(event("schedule_tick"), None)
    assert set(refused.value.problems) == {"FENCEPOST_STAGE", "FENCEPOST_SHARDS"}


def test_every_log_line_names_the_request(deployed, capsys):
    class Context:
        aws_request_id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"

    def build(stage):
        return lambda _event, _context: stage.observed.logger.info("hello")

    on_lambda(build)({}, Context())
    (line,) = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert (line["request"], line["stage"], line["message"]) == (Context.aws_request_id, "test", "hello")


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"Records": [{}]},
        {"Records": None},
        {"Records": [{"eventSourceARN": "arn:aws:sqs:r:1:another-queue"}]},
    ],
)
def test_an_event_of_another_source_is_a_fault_of_the_deployment(broken):
    with pytest.raises(EventError):
        received(broken, QUEUES)


HEAVY = (
    "pydantic",
    "rich",
    "typer",
    "fencepost.adapters.api",
    "fencepost.local",
    "fencepost.cli",
    "moto",
    "yaml",
)
WITHOUT = {
    "tick": (*HEAVY, "croniter", "cryptography", "fencepost.adapters.http"),
    "scan": (*HEAVY, "cryptography", "fencepost.adapters.http"),
    "pump": (*HEAVY, "croniter", "cryptography", "fencepost.adapters.http"),
    "sweep": (*HEAVY, "cryptography", "fencepost.adapters.http"),
    "deliver": (*HEAVY, "croniter"),
    "dead_letter": (*HEAVY, "croniter"),
}


@pytest.mark.parametrize("function", WITHOUT)
def test_a_function_loads_nothing_that_it_does_not_use(function):
    code = f"import functions.{function}.handler, fencepost.runtime.aws, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(WITHOUT[function]), sorted(loaded & set(WITHOUT[function]))
