"""Operations as code: every alarm asks for an action that the runbook describes, and reads a metric that exists."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from infra.constructs.alarms import BURNS
from infra.constructs.metrics import Own
from infra.names import NAMESPACE, TABLES
from infra.stages import STAGES, dev
from tests.support.stacks import ROOT, resolved, synthesise, synthesised

pytestmark = pytest.mark.xdist_group("infra")

ALARM = "AWS::CloudWatch::Alarm"
COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
METRICS = (ROOT / "docs" / "metrics.md").read_text()


def documented():
    """Name, unit and dimensions of each metric in `docs/metrics.md`."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]+) \| ([\w, ]+) \|", METRICS, re.MULTILINE)
    return {name: (unit, set(dimensions.split(", "))) for name, unit, dimensions, _ in rows}


def pages():
    """The runbook's pages about alarms, by heading."""
    alarms, _, _ = RUNBOOK.partition("\n## Operations\n")
    parts = re.split(r"^### (\S+)$", alarms, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def alarms(stage):
    return {**stage.resources(ALARM), **stage.resources(COMPOSITE)}


def page_of(alarm):
    return alarm["Properties"]["AlarmDescription"].rpartition("#")[2]


@pytest.mark.parametrize("name", STAGES)
def test_every_alarm_has_its_page_and_every_page_its_alarm(name):
    assert {page_of(alarm) for alarm in alarms(synthesised(name)).values()} == set(pages())


def test_every_page_says_what_it_means_and_what_to_do():
    for heading, text in pages().items():
        for word in ("**Means.**", "**Look.**", "**Do.**"):
            assert text.count(word) == 1, heading


def test_links_within_the_runbook_lead_somewhere():
    headings = re.findall(r"^#+ (.+)$", RUNBOOK, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([\w-]+)\)", RUNBOOK)) <= anchors


def test_F06_every_alarm_names_an_action_and_where_to_read_on():
    for alarm in alarms(synthesised("prod")).values():
        said = alarm["Properties"]["AlarmDescription"]
        assert re.search(r"Action: \S.{10,}\. Runbook: docs/runbook\.md#[\w-]+$", said), said
        assert len(said) <= 1024


def test_the_runbooks_address_can_be_set():
    stage = synthesise(replace(dev(), runbook="https://wiki.example/fencepost"))
    for alarm in alarms(stage).values():
        assert "Runbook: https://wiki.example/fencepost#" in alarm["Properties"]["AlarmDescription"]


def test_every_alarm_speaks_to_somebody_but_the_halves_of_composites():
    stage = synthesised("prod")
    halves = {
        name
        for composite in stage.properties(COMPOSITE)
        for name in re.findall(r"{(\w+)\.Arn}", resolved(composite["AlarmRule"]))
    }
    assert len(halves) == 2 * len(BURNS)
    for name, alarm in alarms(stage).items():
        actions = alarm["Properties"].get("AlarmActions", [])
        assert [each["Ref"] for each in actions] == (
            [] if name in halves else list(stage.resources("AWS::SNS::Topic"))
        )


def test_the_alarms_may_publish_to_their_topic_and_use_its_key():
    """Without either an alarm is lost without a word."""
    for stage in (synthesised("prod"), synthesise(replace(dev(), customer_key=True))):
        topic = stage.one("AWS::SNS::Topic")
        policy = stage.one("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
        (speaking,) = [each for each in policy if each["Effect"] == "Allow"]
        assert speaking["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
        assert speaking["Action"] == "sns:Publish"
        if "KmsMasterKeyId" in topic:
            exported = resolved(topic["KmsMasterKeyId"])
            assert "DataKey" in exported
            key = next(each for name, each in stage.resources("AWS::KMS::Key").items() if "DataKey" in name)
            users = [each["Principal"].get("Service") for each in key["Properties"]["KeyPolicy"]["Statement"]]
            assert "cloudwatch.amazonaws.com" in users


def test_whoever_is_named_is_told():
    stage = synthesise(replace(dev(), alarm_emails=("oncall@example.org",)))
    subscription = stage.one("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "oncall@example.org")


def by_name(stage, name):
    return stage.one(ALARM, AlarmName=stage.names.of(name))


def test_silence_raises_the_alarms_of_what_must_not_fall_silent():
    stage = synthesised("prod")
    for name in ("tick-stopped", "watermark-old", "sweep-silent"):
        assert by_name(stage, name)["TreatMissingData"] == "breaching"
    tick = by_name(stage, "tick-stopped")
    assert (tick["Period"], tick["EvaluationPeriods"], tick["ComparisonOperator"]) == (
        60,
        3,
        "LessThanThreshold",
    )


@pytest.mark.parametrize("name", STAGES)
def test_claims_that_come_after_due_wake_somebody_before_firings_are_misfires(name):
    """The lag counts from due, and is 0 while claims are ahead: a share of the horizon would be minutes too late."""
    alarm = by_name(synthesised(name), "claim-lag")
    assert (alarm["MetricName"], alarm["ExtendedStatistic"], alarm["Threshold"]) == (
        "ClaimLagMs",
        "p99",
        1000,
    )
    assert (alarm["Period"], alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (60, 3, 5)


def test_an_alarm_about_a_table_ends_when_the_table_refuses_nothing_any_more():
    """DynamoDB then says nothing, and alarms on its own metrics keep their state: the next night would wake nobody."""
    stage = synthesised("prod")
    own = [each for each in stage.properties(ALARM) if each.get("Namespace") == "AWS/DynamoDB"]
    assert own == []
    for table in TABLES:
        alarm = by_name(stage, f"{table}-hot-key")
        (said,) = [each["Expression"] for each in alarm["Metrics"] if "Expression" in each]
        (read,) = [each for each in alarm["Metrics"] if "MetricStat" in each]
        assert said == f"FILL({read['Id']}, 0)"
        assert read["MetricStat"]["Metric"]["Dimensions"] == [
            {"Name": "TableName", "Value": stage.names.table(table)}
        ]


def test_what_a_share_of_the_sweep_found_stands_until_its_next_turn():
    """Other shares report none in between."""
    stage = synthesised("prod")
    for name in ("timerless-jobs", "quarantine"):
        alarm = by_name(stage, name)
        assert (alarm["Period"], alarm["Statistic"], alarm["Threshold"]) == (86_400, "Maximum", 0)


@pytest.mark.parametrize("tier", ["critical", "standard", "bulk", "recovery"])
def test_a_dead_letter_that_waits_five_minutes_wakes_somebody(tier):
    alarm = by_name(synthesised("prod"), f"dead-{tier}-age")
    assert (alarm["MetricName"], alarm["Threshold"]) == ("ApproximateAgeOfOldestMessage", 300)
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": f"fencepost-prod-dead-{tier}"}]


@pytest.mark.parametrize(
    ("pair", "long", "short", "rate"),
    [("fast", 3600, 300, 13.44), ("steady", 21_600, 1800, 5.6), ("slow", 259_200, 21_600, 0.9333)],
)
def test_burn_rates_are_those_of_the_objective(pair, long, short, rate):
    """A share of 28 days' budget within the long window, and the short one agrees."""
    stage = synthesised("prod")
    for window in (long, short):
        alarm = by_name(stage, f"on-time-burn-{pair}-{window // 60}m")
        assert alarm["Threshold"] == pytest.approx(rate * 0.01, rel=1e-3)
        periods = {each["MetricStat"]["Period"] for each in alarm["Metrics"] if "MetricStat" in each}
        assert periods == {window}
        assert window * alarm["EvaluationPeriods"] <= 604_800
    rule = resolved(stage.one(COMPOSITE, AlarmName=f"fencepost-prod-on-time-burn-{pair}")["AlarmRule"])
    assert rule.count("ALARM(") == 2
    assert " AND " in rule


def test_the_objective_counts_firings():
    slo = synthesised("prod").one("AWS::ApplicationSignals::ServiceLevelObjective")
    assert slo["Goal"]["AttainmentGoal"] == 99.0
    assert slo["Goal"]["Interval"] == {"RollingInterval": {"Duration": 28, "DurationUnit": "DAY"}}
    metric = slo["RequestBasedSli"]["RequestBasedSliMetric"]
    good = metric["MonitoredRequestCountMetric"]["GoodCountMetric"][0]["MetricStat"]
    total = metric["TotalRequestCountMetric"][0]["MetricStat"]
    assert (good["Metric"]["MetricName"], total["Metric"]["MetricName"]) == ("OnTime", "Fired")
    windows = {each["LookBackWindowMinutes"] for each in slo["BurnRateConfigurations"]}
    assert windows == {5, 30, 60, 360, 4320}


def dashboard(stage):
    """The widgets, with references read as text."""
    body = resolved(stage.one("AWS::CloudWatch::Dashboard")["DashboardBody"])
    return json.loads(body)["widgets"]


def charted(stage):
    """Every metric of the dashboard: namespace, name, dimensions."""
    found = set()
    for widget in dashboard(stage):
        for metric in widget["properties"].get("metrics", []):
            words = [word for word in metric if isinstance(word, str)]
            if words:  # an expression has none
                assert not {".", "..."} & set(words)
                found.add((words[0], words[1], frozenset(zip(words[2::2], words[3::2], strict=True))))
    return found


def watched(stage):
    """Every metric of alarms and objective, in the same shape."""
    found = set()
    stats = [alarm for alarm in stage.properties(ALARM) if "MetricName" in alarm]
    for alarm in stage.properties(ALARM):
        stats += [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    slo = stage.one("AWS::ApplicationSignals::ServiceLevelObjective")["RequestBasedSli"][
        "RequestBasedSliMetric"
    ]
    counted = [*slo["TotalRequestCountMetric"], *slo["MonitoredRequestCountMetric"]["GoodCountMetric"]]
    stats += [each["MetricStat"]["Metric"] for each in counted]
    for metric in stats:
        dimensions = frozenset((each["Name"], each["Value"]) for each in metric.get("Dimensions", []))
        found.add((metric["Namespace"], metric["MetricName"], dimensions))
    return found


def test_own_metrics_are_documented_with_the_dimensions_that_are_read():
    stage = synthesised("prod")
    known = documented()
    read = {each for each in charted(stage) | watched(stage) if each[0] == NAMESPACE}
    assert len(read) > 30
    for _, name, dimensions in read:
        assert {key for key, _ in dimensions} <= known[name][1], name
        assert ("Stage", "prod") in dimensions
    assert {name for _, name, _ in read} == {own.value for own in Own}


def test_documented_metrics_are_read():
    """A metric that nobody looks at is paid for in vain. The auditor's is its own issue."""
    assert set(documented()) - {own.value for own in Own} <= {"AuditFindings"}


def test_metrics_of_aws_are_those_of_the_stages_own_resources():
    stage = synthesised("prod")
    words = {
        "FunctionName": {each["FunctionName"] for each in stage.properties("AWS::Lambda::Function")},
        "QueueName": {each["QueueName"] for each in stage.properties("AWS::SQS::Queue")},
        "TableName": {each["TableName"] for each in stage.properties("AWS::DynamoDB::GlobalTable")},
        "ApiName": {each["Name"] for each in stage.properties("AWS::ApiGateway::RestApi")},
    }
    for namespace, name, dimensions in charted(stage) | watched(stage):
        if namespace != NAMESPACE:
            assert all(value in words[key] for key, value in dimensions), (namespace, name)


def test_teams_are_fields_of_a_line_and_never_dimensions():
    queries = [
        widget["properties"]["query"] for widget in dashboard(synthesised("prod")) if widget["type"] == "log"
    ]
    assert len(queries) == 2
    for query in queries:
        assert "fencepost-prod-pump" in query
        metric, team = re.findall(r"stats max\((\w+)\) as most by (\w+)", query)[0]
        assert metric in documented()
        assert team == "team"


def test_the_dashboard_shows_what_it_promises():
    titles = " | ".join(widget["properties"].get("title", "") for widget in dashboard(synthesised("prod")))
    for word in (
        "On time",
        "Error budget",
        "Lateness, critical",
        "Firings",
        "Backlog, the 10 teams",
        "Slots in use, the 10 teams",
        "Claim lag",
        "Watermark",
        "Retries",
        "Dead letters",
        "Throttled",
        "Hot keys",
        "Dollars per million firings",
    ):
        assert word in titles


def test_costs_are_written_without_exponents():
    """Metric math would take the e of 6.25e-07 for the name of a metric."""
    for widget in dashboard(synthesised("prod")):
        for metric in widget["properties"].get("metrics", []):
            expression = metric[0].get("expression", "") if isinstance(metric[0], dict) else ""
            assert not re.search(r"\de[-+]\d", expression)


def test_the_validator_of_templates_is_awake():
    """The tests that find no violation would pass without one."""
    import aws_cdk as cdk
    from aws_cdk import aws_sqs as sqs

    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = cdk.App(context={**flags, "@aws-cdk/core:failSynthOnValidationErrors": False})
    queue = sqs.CfnQueue(cdk.Stack(app, "Broken"), "Queue")
    queue.add_property_override("VisibilityTimeout", 99_999)
    report = json.loads((ROOT / app.synth().directory / "validation-report.json").read_text())
    assert [
        finding["ruleName"] for plugin in report["pluginReports"] for finding in plugin["violations"]
    ] == ["F3034"]
