"""The store's template: what the service's schema and the design ask of tables, queues and keys."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from fencepost.adapters.dynamodb.schema import PARTITION_KEY, SCHEMAS, SORT_KEY, TTL_ATTRIBUTE
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.application.ports import QueueName
from infra.names import DELIVERERS, QUEUES, TABLES, TIERS, Fn
from infra.settings import Provisioned, TableSize
from infra.stages import STAGES, dev
from tests.support.stacks import statements, synthesise, synthesised

pytestmark = pytest.mark.xdist_group("infra")

TABLE = "AWS::DynamoDB::GlobalTable"
QUEUE = "AWS::SQS::Queue"


def table(stage, name):
    return stage.one(TABLE, TableName=stage.names.of(name))


def replica(stage, name):
    (only,) = table(stage, name)["Replicas"]
    return only


def queue(stage, name):
    return stage.one(QUEUE, QueueName=stage.names.of(name))


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_tables_are_those_of_the_schema(name, schema):
    stage = synthesised(name)
    made = table(stage, str(schema.table))
    assert made["KeySchema"] == [
        {"AttributeName": PARTITION_KEY, "KeyType": "HASH"},
        {"AttributeName": SORT_KEY, "KeyType": "RANGE"},
    ]
    expiry = {"AttributeName": TTL_ATTRIBUTE, "Enabled": True} if schema.time_to_live else None
    assert made.get("TimeToLiveSpecification") == expiry
    assert "GlobalSecondaryIndexes" not in made


def test_timers_never_expire():
    assert "TimeToLiveSpecification" not in table(synthesised("prod"), "timers")


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("which", TABLES)
def test_every_table_can_be_restored_to_any_second(name, which):
    stage = synthesised(name)
    assert replica(stage, which)["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": True,
        "RecoveryPeriodInDays": stage.stage.recovery_days,
    }


@pytest.mark.parametrize("which", TABLES)
def test_throttled_keys_are_recorded(which):
    insights = replica(synthesised("prod"), which)["ContributorInsightsSpecification"]
    assert insights == {"Enabled": True, "Mode": "THROTTLED_KEYS"}


def test_prod_loses_no_table_and_no_key_to_a_deployment():
    stage = synthesised("prod")
    kept = {**stage.resources(TABLE), **stage.resources("AWS::KMS::Key")}
    assert len(kept) == len(TABLES) + 1
    for resource in kept.values():
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    assert all(replica(stage, which)["DeletionProtectionEnabled"] for which in TABLES)


def test_dev_leaves_nothing_behind():
    stage = synthesised("dev")
    assert {resource["DeletionPolicy"] for resource in stage.resources(TABLE).values()} == {"Delete"}
    assert not any(replica(stage, which)["DeletionProtectionEnabled"] for which in TABLES)


def test_tables_are_on_demand_unless_a_stage_says_otherwise():
    for name in STAGES:
        assert {each["BillingMode"] for each in synthesised(name).properties(TABLE)} == {"PAY_PER_REQUEST"}


def test_prod_takes_its_crowded_second_from_the_start():
    """A new table gives 4,000 writes a second; the crowded one asks for several times that."""
    warm = table(synthesised("prod"), "executions")["WarmThroughput"]
    assert warm == {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 30_000}


def test_a_stage_may_buy_capacity_for_one_table():
    bought = TableSize(writes=Provisioned(least=500, most=4000), reads=Provisioned(least=100, most=1000))
    stage = synthesise(replace(dev(), tables={"timers": bought}))
    assert table(stage, "timers")["BillingMode"] == "PROVISIONED"
    scaling = table(stage, "timers")["WriteProvisionedThroughputSettings"]["WriteCapacityAutoScalingSettings"]
    assert (scaling["MinCapacity"], scaling["MaxCapacity"]) == (500, 4000)
    assert table(stage, "jobs")["BillingMode"] == "PAY_PER_REQUEST"


def test_the_words_for_queues_and_tiers_are_the_services_own():
    assert set(QUEUES) == {name.value for name in QueueName}
    assert set(DELIVERERS) == set(TIERS)


@pytest.mark.parametrize("name", QueueName)
def test_queues_keep_to_the_times_that_the_service_counts_on(name):
    made, meant = queue(synthesised("prod"), name.value), QUEUE_SETTINGS[name]
    assert made["VisibilityTimeout"] == meant.visibility.total_seconds()
    assert made["MessageRetentionPeriod"] == meant.retention.total_seconds()
    letters = made.get("RedrivePolicy")
    assert (letters is None) == (meant.dead is None)
    if letters is not None:
        assert letters["maxReceiveCount"] == meant.max_receives


@pytest.mark.parametrize("tier", TIERS)
def test_each_tier_has_a_dead_letter_queue_of_its_own(tier):
    stage = synthesised("prod")
    target = queue(stage, tier)["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
    assert stage.resources()[target]["Properties"]["QueueName"] == stage.names.of(f"dead-{tier}")
    assert queue(stage, f"dead-{tier}")["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_no_queue_is_first_in_first_out():
    """Fair queues are standard queues with a group on each message; delays per message exist on no other."""
    assert not any(each.get("FifoQueue") for each in synthesised("prod").properties(QUEUE))


@pytest.mark.parametrize("name", STAGES)
def test_every_queue_refuses_plain_connections(name):
    stage = synthesised(name)
    denied = set()
    for policy in stage.properties("AWS::SQS::QueuePolicy"):
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Effect"] == "Deny"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        denied |= {reference["Ref"] for reference in policy["Queues"]}
    assert denied == set(stage.resources(QUEUE))


def test_the_key_of_the_secrets_turns_every_year():
    key = synthesised("prod").one("AWS::KMS::Key")
    assert key["EnableKeyRotation"] is True
    assert key["PendingWindowInDays"] == 30


def test_two_stages_in_one_account_share_no_name():
    assert physical_names("dev") & physical_names("prod") == set()


def physical_names(name):
    words = {
        "AlarmName",
        "AliasName",
        "DashboardName",
        "FunctionName",
        "LogGroupName",
        "Name",
        "QueueName",
        "TableName",
        "TopicName",
    }
    found = {
        (resource["Type"], value)
        for resource in synthesised(name).resources().values()
        for word, value in resource.get("Properties", {}).items()
        if word in words and isinstance(value, str)
    }
    assert len(found) > 80
    return found - {("AWS::ApiGateway::RequestValidator", "Validator")}


@cache
def with_own_key():
    return synthesise(replace(dev(), customer_key=True))


def test_a_stage_may_bring_its_own_key():
    stage = with_own_key()
    encrypted = [*stage.properties(QUEUE), *stage.properties("AWS::SNS::Topic")]
    probe = stage.names.of("probe")
    assert all("KmsMasterKeyId" in each for each in encrypted if each.get("QueueName") != probe)
    for which in TABLES:
        assert table(stage, which)["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}


def test_a_key_of_the_stages_own_lets_in_those_that_send_on_their_own_account():
    stage = with_own_key()
    (key,) = [
        each
        for each in stage.properties("AWS::KMS::Key")
        if "tables, queues and alarms" in each["Description"]
    ]
    senders = {
        statement["Principal"].get("Service"): statement
        for statement in key["KeyPolicy"]["Statement"]
        if "Service" in statement["Principal"]
    }
    assert {"cloudwatch.amazonaws.com", "events.amazonaws.com"} <= set(senders)
    for statement in senders.values():
        assert set(statement["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
        assert "aws:SourceAccount" in statement["Condition"]["StringEquals"]


def test_a_restored_stage_uses_the_restored_tables_and_keeps_the_old_ones():
    stage = synthesise(replace(dev(), restored="r1", no_fire_before="2026-11-29T12:00:00Z"))
    assert {each["TableName"] for each in stage.properties(TABLE)} == {
        f"fencepost-dev-{which}" for which in TABLES
    }
    for function in stage.properties("AWS::Lambda::Function"):
        told = function["Environment"]["Variables"]
        assert told["FENCEPOST_TABLE_JOBS"] == "fencepost-dev-jobs-r1"
        assert told["FENCEPOST_NO_FIRE_BEFORE"] == "2026-11-29T12:00:00Z"
        assert told["FENCEPOST_RESTORED"] == "r1"
    assert json.dumps(stage.templates["service"]).count(':table/fencepost-dev-jobs"') == 0


@pytest.mark.parametrize(("replaced", "ledger"), [(None, "executions"), ("r0", "executions-r0")])
def test_only_the_api_of_a_restored_stage_reads_the_ledger_that_is_replaced(replaced, ledger):
    stage = synthesise(replace(dev(), restored="r1", replaced=replaced))
    for function in Fn:
        made = stage.one("AWS::Lambda::Function", FunctionName=stage.names.function(function))
        role = stage.resources()[made["Role"]["Fn::GetAtt"][0]]
        actions = {
            action
            for _, named, resources in statements(role)
            if any(resource.endswith(f":table/fencepost-dev-{ledger}") for resource in resources)
            for action in named
        }
        told = made["Environment"]["Variables"].get("FENCEPOST_TABLE_REPLACED")
        if function is Fn.API:
            assert actions == {"dynamodb:GetItem", "dynamodb:Query"}
            assert told == f"fencepost-dev-{ledger}"
        else:
            assert (actions, told) == (set(), None)
