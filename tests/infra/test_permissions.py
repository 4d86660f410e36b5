"""Least privilege: each role is written out, and holds no more than its grants."""

from __future__ import annotations

import aws_cdk as cdk
import pytest

from infra.names import DELIVERERS, QUEUES, TABLES, Fn
from infra.permissions import GRANTS
from infra.stages import STAGES
from tests.support.stacks import resolved, statements, synthesised, warnings_in

pytestmark = pytest.mark.xdist_group("infra")


def role_of(stage, function):
    made = stage.one("AWS::Lambda::Function", FunctionName=stage.names.function(function))
    return stage.resources()[made["Role"]["Fn::GetAtt"][0]]


def allowed(function):
    return list(statements(role_of(synthesised("prod"), function)))


@pytest.mark.parametrize("name", STAGES)
def test_no_role_of_ours_has_a_managed_policy_and_none_is_shared(name):
    stage = synthesised(name)
    roles = [role_of(stage, each) for each in Fn]
    assert not any(role["Properties"].get("ManagedPolicyArns") for role in roles)
    assert len({id(role) for role in roles}) == len(Fn)
    assert stage.properties("AWS::IAM::Policy") == []


@pytest.mark.parametrize("function", Fn)
def test_no_action_is_a_wildcard(function):
    for _, actions, _ in allowed(function):
        assert not any("*" in action for action in actions)


@pytest.mark.parametrize("function", Fn)
def test_every_resource_is_named_but_for_the_teams_own_roles(function):
    for sid, _, resources in allowed(function):
        starred = {resource for resource in resources if "*" in resource}
        if sid == "ActForTeams":
            assert starred == {"arn:{AWS::Partition}:iam::*:role/fencepost-delivery-*"}
        else:
            assert starred == set()


@pytest.mark.parametrize("function", Fn)
def test_tables_and_queues_are_those_of_the_grants(function):
    stage, grants = synthesised("prod"), GRANTS[function]
    reached = {resource for _, _, resources in allowed(function) for resource in resources}
    tables = {
        table
        for table in TABLES
        if any(each.endswith(f":table/{stage.names.table(table)}") for each in reached)
    }
    queues = {
        queue for queue in QUEUES if any(each.endswith(f":{stage.names.queue(queue)}") for each in reached)
    }
    assert tables == set(grants.tables)
    assert queues == {*grants.sends, *grants.consumes}


@pytest.mark.parametrize("function", Fn)
def test_only_sweep_and_audit_scan_a_table_and_nobody_changes_what_is_deployed(function):
    every = {action for _, actions, _ in allowed(function) for action in actions}
    assert ("dynamodb:Scan" in every) == (function in {Fn.SWEEP, Fn.AUDIT})
    services = {action.partition(":")[0] for action in every}
    assert services <= {"dynamodb", "sqs", "logs", "kms", "sts"}
    assert not any(action.endswith(("Table", "Queue", "SetQueueAttributes")) for action in every)


def test_only_those_who_handle_secrets_may_use_their_key():
    users = {
        each for each in Fn for _, actions, _ in allowed(each) if any(a.startswith("kms:") for a in actions)
    }
    assert users == {Fn.API, Fn.DEAD_LETTER, *DELIVERERS.values()}
    sealing = {each for each in Fn for _, actions, _ in allowed(each) if "kms:GenerateDataKey" in actions}
    assert sealing == {Fn.API}


def test_only_those_who_call_out_may_act_for_teams():
    users = {each for each in Fn for _, actions, _ in allowed(each) if "sts:AssumeRole" in actions}
    assert users == {Fn.DEAD_LETTER, *DELIVERERS.values()}


def trusted(role):
    return [statement["Principal"] for statement in role["AssumeRolePolicyDocument"]["Statement"]]


def test_each_role_can_be_assumed_by_its_service_alone():
    stage = synthesised("prod")
    for each in Fn:
        assert trusted(role_of(stage, each)["Properties"]) == [{"Service": "lambda.amazonaws.com"}]
    others = [role for role in stage.properties("AWS::IAM::Role") if "may do" not in role["Description"]]
    services = {principal.get("Service") for role in others for principal in trusted(role)}
    assert services == {"scheduler.amazonaws.com", "apigateway.amazonaws.com", None}


def test_the_probes_role_trusts_those_who_act_for_teams_and_reaches_its_own_queue():
    stage = synthesised("prod")
    probe = stage.one("AWS::IAM::Role", RoleName="fencepost-delivery-prod-probe")
    (principal,) = trusted(probe)
    callers = {resolved(arn).strip("{}").removesuffix(".Arn") for arn in principal["AWS"]}
    acting = {each for each in Fn if GRANTS[each].acts_for_teams}
    assert {stage.resources()[caller]["Properties"]["Description"] for caller in callers} == {
        f"What {stage.names.function(each)} may do" for each in acting
    }
    ((_, actions, (queue,)),) = statements({"Properties": probe})
    assert actions == {"sqs:SendMessage"}
    assert stage.resources()[queue.strip("{}").removesuffix(".Arn")]["Properties"]["QueueName"] == (
        "fencepost-prod-probe"
    )


@pytest.mark.parametrize("name", STAGES)
def test_the_rules_of_aws_solutions_find_nothing_that_is_not_explained(name):
    for plugin in synthesised(name).report["pluginReports"]:
        assert plugin["violations"] == [], plugin["pluginName"]
        assert plugin["conclusion"] == "success"


@pytest.mark.parametrize("name", STAGES)
def test_synthesis_warns_of_nothing(name):
    assert synthesised(name).warned == []


def test_a_warning_would_be_seen(tmp_path):
    app = cdk.App(outdir=str(tmp_path), analytics_reporting=False)
    cdk.Annotations.of(cdk.Stack(app, "Loud")).add_warning_v2("Loud:it", "mind this")
    app.synth()
    assert any("mind this" in each for each in warnings_in(tmp_path))


def test_what_is_acknowledged_is_known_and_has_its_reason():
    (nag,) = [
        plugin
        for plugin in synthesised("prod").report["pluginReports"]
        if plugin["pluginName"] == "AwsSolutions"
    ]
    rules = {finding["ruleName"].partition("[")[0] for finding in nag["suppressedViolations"]}
    assert rules == {
        "AwsSolutions-COG4",
        "AwsSolutions-IAM4",
        "AwsSolutions-IAM5",
        "AwsSolutions-L1",
        "AwsSolutions-SQS3",
    }
