"""The service's template: functions, what feeds and wakes them, the API in front."""

from __future__ import annotations

import json
from dataclasses import replace

import aws_cdk as cdk
import pytest

from infra.app import build
from infra.names import DELIVERERS, PASSES, TIERS, Fn
from infra.permissions import GRANTS
from infra.settings import AtMost, Pollers, StageError
from infra.stacks.service import Contents
from infra.stages import STAGES, dev, prod
from tests.support.stacks import placeholders, resolved, routes, synthesise, synthesised

pytestmark = pytest.mark.xdist_group("infra")

FUNCTION = "AWS::Lambda::Function"
MAPPING = "AWS::Lambda::EventSourceMapping"


def function(stage, name):
    return stage.one(FUNCTION, FunctionName=stage.names.function(name))


def mappings(stage):
    """What feeds what: (queue, function) with the mapping's properties."""
    found = {}
    for mapping in stage.properties(MAPPING):
        fed = stage.resources()[mapping["FunctionName"]["Ref"]]["Properties"]["FunctionName"]
        queue = resolved(mapping["EventSourceArn"]).rpartition(":")[2]
        found[queue.removeprefix(stage.names.of("")), fed.removeprefix(stage.names.of(""))] = mapping
    return found


@pytest.mark.parametrize("name", STAGES)
def test_every_function_has_exactly_the_room_that_its_stage_gives(name):
    stage = synthesised(name)
    assert len(stage.properties(FUNCTION)) == len(Fn)
    for each, size in stage.stage.functions.items():
        made = function(stage, each)
        assert made["ReservedConcurrentExecutions"] == size.reserved
        assert (made["MemorySize"], made["Timeout"]) == (size.memory, size.timeout)


@pytest.mark.parametrize("each", Fn)
def test_functions_run_the_handler_of_their_folder_on_the_layers_python(each):
    made = function(synthesised("prod"), each)
    assert made["Handler"] == f"functions.{each.folder}.handler.handler"
    assert (made["Runtime"], made["Architectures"]) == ("python3.13", ["arm64"])
    assert len(made["Layers"]) == 2


def test_the_four_delivery_functions_share_one_asset():
    assert {function.folder for function in DELIVERERS.values()} == {"deliver"}
    keys = {function(synthesised("prod"), each)["Code"]["S3Key"] for each in DELIVERERS.values()}
    assert len(keys) == 1


def test_every_consumer_is_fed_by_its_queues_and_by_nothing_else():
    wanted = {(queue, each.value) for each in Fn for queue in GRANTS[each].consumes}
    assert mappings(synthesised("prod")).keys() == wanted
    assert {(tier, f"deliver-{tier}") for tier in TIERS} <= wanted


@pytest.mark.parametrize("name", STAGES)
def test_failures_are_reported_message_by_message_and_nothing_waits_for_a_fuller_batch(name):
    for (queue, _), mapping in mappings(synthesised(name)).items():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["BatchSize"] == (1 if queue in PASSES else 10)
        assert "MaximumBatchingWindowInSeconds" not in mapping


@pytest.mark.parametrize("name", STAGES)
def test_pollers_are_provisioned_where_lateness_counts_and_capped_elsewhere_never_both(name):
    stage = synthesised(name)
    for (queue, fed), mapping in mappings(stage).items():
        polling = stage.stage.polling[Fn(fed)]
        pollers, scaling = mapping.get("ProvisionedPollerConfig"), mapping.get("ScalingConfig")
        assert (pollers is None) != (scaling is None)
        if queue in {"critical", "standard"}:
            assert isinstance(polling, Pollers)
            assert pollers == {"MinimumPollers": polling.minimum, "MaximumPollers": polling.maximum}
        else:
            assert isinstance(polling, AtMost)
            assert scaling == {"MaximumConcurrency": polling.concurrency}


@pytest.mark.parametrize("name", STAGES)
def test_R06_a_message_stays_hidden_six_times_as_long_as_its_function_may_take(name):
    stage = synthesised(name)
    for queue, fed in mappings(stage):
        hidden = stage.one("AWS::SQS::Queue", QueueName=stage.names.queue(queue))["VisibilityTimeout"]
        assert hidden >= 6 * function(stage, Fn(fed))["Timeout"]


def test_what_sends_to_itself_is_not_taken_for_a_runaway_loop():
    """A retry travels through the queue of its own function: Lambda would stop the seventeenth."""
    for each in DELIVERERS.values():
        assert function(synthesised("prod"), each)["RecursiveLoop"] == "Allow"


def test_functions_are_told_of_what_they_have_business_with():
    stage = synthesised("prod")
    told = function(stage, Fn.TICK)["Environment"]["Variables"]
    assert told["FENCEPOST_STAGE"] == "prod"
    assert (told["FENCEPOST_SHARDS"], told["FENCEPOST_HORIZON_SECONDS"]) == ("64", "180")
    queues = {name for name in told if name.startswith("FENCEPOST_QUEUE_")}
    assert queues == {f"FENCEPOST_QUEUE_{queue.upper()}" for queue in (*TIERS, *PASSES)}
    assert "FENCEPOST_KMS_KEY_ID" not in told


@pytest.mark.parametrize("each", Fn)
def test_the_environment_is_one_that_the_service_accepts(each):
    """Read by the very code that reads it when a function starts."""
    from fencepost.runtime.settings import Settings

    stage = synthesised("prod")
    told = function(stage, each)["Environment"]["Variables"]
    read = Settings.from_env({name: resolved(value) for name, value in told.items()})
    assert read.stage == "prod"
    assert {str(table) for table in read.tables} == set(GRANTS[each].tables)
    assert {str(queue) for queue in read.queues} == {*GRANTS[each].sends, *GRANTS[each].consumes}
    assert sum(len(name) + len(resolved(value)) for name, value in told.items()) < 4096


def test_administrators_are_told_to_the_api_alone():
    admin = "arn:aws:iam::123456789012:role/platform"
    stage = synthesise(replace(prod(), admins=(admin,)))
    told = {
        each["FunctionName"]: each["Environment"]["Variables"].get("FENCEPOST_ADMINS")
        for each in stage.properties(FUNCTION)
    }
    assert {name for name, value in told.items() if value == admin} == {"fencepost-prod-api"}


def test_the_tick_comes_every_minute_and_is_never_tried_again():
    stage = synthesised("prod")
    schedule = stage.one("AWS::Scheduler::Schedule", Name="fencepost-prod-tick")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    (invoke,) = [
        each
        for each in stage.properties("AWS::Lambda::EventInvokeConfig")
        if "tick" in each["FunctionName"]["Ref"]
    ]
    assert (invoke["MaximumRetryAttempts"], invoke["MaximumEventAgeInSeconds"]) == (0, 60)


@pytest.mark.parametrize("name", STAGES)
def test_F04_maintenance_never_competes_with_the_tick(name):
    """The sweep has a function, a schedule and a reservation of its own; what is old is deleted by the table itself."""
    stage = synthesised(name)
    made = function(stage, Fn.SWEEP)
    assert made["ReservedConcurrentExecutions"] >= 1
    assert made["Timeout"] == 900
    assert GRANTS[Fn.SWEEP].consumes == ()
    expiring = [
        each["TableName"]
        for each in stage.properties("AWS::DynamoDB::GlobalTable")
        if each.get("TimeToLiveSpecification", {}).get("Enabled")
    ]
    assert stage.names.of("executions") in expiring


def test_a_closed_stage_has_no_tick_and_is_otherwise_the_same():
    closed = synthesise(replace(prod(), closed=True))
    states = {each["Name"]: each["State"] for each in closed.properties("AWS::Scheduler::Schedule")}
    assert states == {
        "fencepost-prod-tick": "DISABLED",
        "fencepost-prod-sweep": "ENABLED",
        "fencepost-prod-audit": "ENABLED",
    }
    open_stage = synthesised("prod")
    assert {each["State"] for each in open_stage.properties("AWS::Scheduler::Schedule")} == {"ENABLED"}
    assert set(closed.resources()) == set(open_stage.resources())


def test_the_sweep_is_told_how_often_it_comes():
    """From that and the clock it knows its share of the day."""
    from fencepost.domain.instants import from_wire
    from fencepost.runtime.scanning import share

    schedule = synthesised("prod").one("AWS::Scheduler::Schedule", Name="fencepost-prod-sweep")
    event = json.loads(schedule["Target"]["Input"])
    assert schedule["ScheduleExpression"] == f"cron(0/{event['detail']['every_minutes']} * * * ? *)"
    shares = {share(event, from_wire(f"2026-11-29T{n // 12:02}:{n % 12 * 5:02}:09Z")) for n in range(288)}
    assert shares == {(number, 288) for number in range(288)}
    assert share({"detail": {}}, from_wire("2026-11-29T03:17:00Z")) == (0, 1)


def test_the_scheduler_wakes_what_it_should_and_nothing_else():
    stage = synthesised("prod")
    woken = set()
    for schedule in stage.properties("AWS::Scheduler::Schedule"):
        logical = schedule["Target"]["Arn"]["Fn::GetAtt"][0]
        woken.add(stage.resources()[logical]["Properties"]["FunctionName"])
    assert woken == {"fencepost-prod-tick", "fencepost-prod-sweep", "fencepost-prod-audit"}


@pytest.mark.parametrize("name", STAGES)
def test_every_log_group_ends_and_belongs_to_somebody(name):
    stage = synthesised(name)
    groups = {
        each["LogGroupName"]: each["RetentionInDays"] for each in stage.properties("AWS::Logs::LogGroup")
    }
    assert set(groups) == {stage.names.log_group(each) for each in Fn} | {
        f"/aws/apigateway/{stage.names.of('api')}"
    }
    assert set(groups.values()) == {stage.stage.log_days}


def test_a_first_deployment_that_failed_leaves_no_log_group_in_the_way_of_the_second():
    """Names are fixed, so what a rollback kept would be there already. What was in use is kept."""
    groups = synthesised("prod").resources("AWS::Logs::LogGroup").values()
    assert {each["DeletionPolicy"] for each in groups} == {"RetainExceptOnCreate"}
    assert {each["UpdateReplacePolicy"] for each in groups} == {"Retain"}
    groups = synthesised("dev").resources("AWS::Logs::LogGroup").values()
    assert {each["DeletionPolicy"] for each in groups} == {"Delete"}


def methods(stage):
    """The routes of the template: path and method."""
    parents = stage.resources("AWS::ApiGateway::Resource")

    def path(reference):
        logical = reference.get("Ref")
        if logical is None:
            return ""
        resource = parents[logical]["Properties"]
        return f"{path(resource['ParentId'])}/{resource['PathPart']}"

    return {
        (path(each["ResourceId"]), each["HttpMethod"]): each
        for each in stage.properties("AWS::ApiGateway::Method")
    }


def test_the_deployed_routes_are_the_documented_ones():
    wanted = {(route.path, route.method) for route in routes()}
    assert methods(synthesised("prod")).keys() == wanted


@pytest.mark.parametrize("name", STAGES)
def test_every_method_demands_a_signature(name):
    stage = synthesised(name)
    assert {each["AuthorizationType"] for each in methods(stage).values()} == {"AWS_IAM"}


def test_other_accounts_call_only_where_the_stage_names_them():
    """A signature of another account has to be let in by the API as well as by that account."""
    assert "Policy" not in synthesised("prod").one("AWS::ApiGateway::RestApi")
    stage = synthesise(replace(dev(), callers=("111122223333", "444455556666")))
    (statement,) = stage.one("AWS::ApiGateway::RestApi")["Policy"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "execute-api:Invoke")
    named = [resolved(each) for each in statement["Principal"]["AWS"]]
    assert [each.split(":")[4:] for each in named] == [["111122223333", "root"], ["444455556666", "root"]]
    assert {each["AuthorizationType"] for each in methods(stage).values()} == {"AWS_IAM"}


def test_path_parts_are_a_literal_or_one_variable():
    for resource in synthesised("prod").properties("AWS::ApiGateway::Resource"):
        part = resource["PathPart"]
        assert ("{" in part) == (part.startswith("{") and part.endswith("}"))


def test_the_gateway_may_call_the_api_function_and_nobody_else_may_call_any():
    """The local engine does not check these, so they are checked here."""
    stage = synthesised("prod")
    permission = stage.one("AWS::Lambda::Permission")
    called = permission["FunctionName"]["Fn::GetAtt"][0]
    assert stage.resources()[called]["Properties"]["FunctionName"] == "fencepost-prod-api"
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert resolved(permission["SourceArn"]).endswith("/*/*/*")


@pytest.mark.parametrize("name", STAGES)
def test_the_gateway_logs_and_throttles(name):
    stage = synthesised(name)
    live = stage.one("AWS::ApiGateway::Stage")
    (settings,) = live["MethodSettings"]
    assert settings["ThrottlingRateLimit"] == stage.stage.api.rate
    assert settings["ThrottlingBurstLimit"] == stage.stage.api.burst
    assert settings["DataTraceEnabled"] is False
    assert json.loads(live["AccessLogSetting"]["Format"]).keys() >= {"caller", "method", "path", "status"}


def test_a_firewall_stands_before_the_stages_that_ask_for_one():
    assert len(synthesised("prod").properties("AWS::WAFv2::WebACLAssociation")) == 1
    assert synthesised("dev").properties("AWS::WAFv2::WebACL") == []


def test_the_account_is_set_up_the_same_by_every_stage_and_outlives_them_all():
    templates = [synthesised(name).templates["account"]["Resources"] for name in STAGES]
    assert templates[0] == templates[1] == templates[2]
    assert {each["DeletionPolicy"] for each in templates[0].values()} == {"Retain"}
    assert not any(each["Type"] == "AWS::ApiGateway::Account" for each in _of(synthesised("prod"), "service"))


def test_the_gateway_has_a_role_to_log_with_before_an_api_asks_it_to_log():
    """In an account without one an API that logs is refused, and nothing else orders the stacks."""
    app = cdk.App(analytics_reporting=False)
    account, store, service = build(app, dev(), Contents(assets=placeholders(), routes=routes()))
    assert {each.stack_name for each in service.dependencies} == {account.stack_name, store.stack_name}
    assert not account.dependencies


def _of(stage, stack):
    return stage.templates[stack]["Resources"].values()


@pytest.mark.parametrize("name", STAGES)
def test_outputs_are_found_under_the_stages_path(name):
    stage = synthesised(name)
    found = {each["Name"] for each in stage.properties("AWS::SSM::Parameter")}
    wanted = ("api-url", "api-id", "alarm-topic-arn", "probe-queue-url", "probe-role-arn", "secrets-key-arn")
    assert found == {f"/fencepost/{name}/{each}" for each in wanted}


def test_prod_is_not_deployed_without_bytecode():
    from tests.support import stacks

    bare = replace(placeholders(), bytecode=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacks, "placeholders", lambda: bare)
        with pytest.raises(StageError, match=r"no bytecode of Python 3\.13"):
            synthesise(prod())


def test_nothing_in_a_template_names_an_account_or_needs_docker():
    for template in synthesised("prod").templates.values():
        text = json.dumps(template)
        assert "AssetParameters" not in text
        assert "dkr.ecr" not in text
