"""Targets: what a team may write, all faults at once, and what is stored and read again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.domain.egress import EgressPolicy
from fencepost.domain.faults import Faults
from fencepost.domain.targets import (
    EventBridgeTarget,
    LambdaTarget,
    SnsTarget,
    SqsTarget,
    StepFunctionsTarget,
    WebhookTarget,
    decode_target,
    parse_target,
    target_host,
    target_timeout,
    target_to_wire,
)

STRICT = EgressPolicy()
ARN = "arn:aws:{}:eu-central-1:123456789012:{}"
GOOD = [
    (
        {"webhook": {"url": "https://a.example/x"}},
        WebhookTarget(url="https://a.example/x", method="POST", headers={}, timeout_seconds=10),
        "a.example",
        10,
    ),
    (
        {
            "webhook": {
                "url": "https://a.example",
                "method": "PUT",
                "headers": {"X": "1"},
                "timeout_seconds": 30,
            }
        },
        WebhookTarget(url="https://a.example", method="PUT", headers={"X": "1"}, timeout_seconds=30),
        "a.example",
        30,
    ),
    (
        {"sqs": {"queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/line.fifo"}},
        SqsTarget(queue_url="https://sqs.eu-central-1.amazonaws.com/123456789012/line.fifo"),
        "https://sqs.eu-central-1.amazonaws.com/123456789012/line.fifo",
        10,
    ),
    (
        {"lambda": {"function_arn": ARN.format("lambda", "function:work:live"), "timeout_seconds": 1}},
        LambdaTarget(function_arn=ARN.format("lambda", "function:work:live"), timeout_seconds=1),
        ARN.format("lambda", "function:work:live"),
        1,
    ),
    (
        {"sns": {"topic_arn": ARN.format("sns", "topic")}},
        SnsTarget(topic_arn=ARN.format("sns", "topic")),
        ARN.format("sns", "topic"),
        10,
    ),
    (
        {"eventbridge": {"bus_arn": ARN.format("events", "event-bus/default"), "source": "us.jobs"}},
        EventBridgeTarget(bus_arn=ARN.format("events", "event-bus/default"), source="us.jobs"),
        ARN.format("events", "event-bus/default"),
        10,
    ),
    (
        {"step_functions": {"state_machine_arn": ARN.format("states", "stateMachine:m")}},
        StepFunctionsTarget(state_machine_arn=ARN.format("states", "stateMachine:m")),
        ARN.format("states", "stateMachine:m"),
        10,
    ),
]


def refused(raw, policy=STRICT):
    with pytest.raises(Faults) as caught:
        parse_target(raw, policy)
    return {fault.field: fault.rule for fault in caught.value.faults}


@pytest.mark.parametrize(("raw", "target", "host", "seconds"), GOOD)
def test_each_kind_is_read_written_and_read_again(raw, target, host, seconds):
    assert parse_target(raw, STRICT) == target
    wire = target_to_wire(target)
    assert decode_target(wire) == target
    assert parse_target(wire, STRICT) == target
    assert target_host(target) == host
    assert target_timeout(target) == timedelta(seconds=seconds)


def test_R01_the_timeout_is_on_the_target_with_its_default():
    wire = target_to_wire(parse_target({"webhook": {"url": "https://a.example/"}}, STRICT))
    assert wire == {
        "webhook": {"url": "https://a.example/", "method": "POST", "headers": {}, "timeout_seconds": 10}
    }


@pytest.mark.parametrize("seconds", [0, 31, -1, 1.5, "10", True, [], {}])
def test_R01_a_timeout_is_one_to_thirty_whole_seconds(seconds):
    faults = refused({"webhook": {"url": "https://a.example/", "timeout_seconds": seconds}})
    assert list(faults) == ["target.webhook.timeout_seconds"]
    assert "1 to 30" in faults["target.webhook.timeout_seconds"]


def test_all_faults_of_a_target_are_told_at_once():
    faults = refused(
        {
            "webhook": {
                "url": "http://10.0.0.1:8080/",
                "method": "TRACE",
                "headers": {"Host": "x", "X-A": "a\nb"},
                "timeout_seconds": 99,
                "colour": "red",
            }
        }
    )
    assert set(faults) == {
        "target.webhook.url",
        "target.webhook.method",
        "target.webhook.headers.Host",
        "target.webhook.headers.X-A",
        "target.webhook.timeout_seconds",
        "target.webhook.colour",
    }


@pytest.mark.parametrize(
    "raw",
    [
        None,
        1,
        "https://a.example/",
        [],
        {},
        {"webhook": {}, "sqs": {}},
        {"carrier_pigeon": {}},
        {"webhook": "x"},
        {5: {}},
    ],
)
def test_what_is_no_target_is_refused_as_a_whole(raw):
    assert refused(raw)


@pytest.mark.parametrize("kind", ["webhook", "sqs", "lambda", "sns", "eventbridge", "step_functions"])
def test_each_kind_names_what_it_misses_and_what_it_does_not_know(kind):
    faults = refused({kind: {"surprise": 1}})
    assert f"target.{kind}.surprise" in faults
    assert any("is required" in rule for rule in faults.values())


@pytest.mark.parametrize("value", [None, 5, "", [], {}])
def test_a_required_field_is_a_string(value):
    assert refused({"sqs": {"queue_url": value}}) == {
        "target.sqs.queue_url": "is required and must be a string"
    }


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/123456789012/line",
        "https://sqs.eu-central-1.amazonaws.com.evil.example/123456789012/line",
        "https://sqs.eu-central-1.amazonaws.com@evil.example/123456789012/line",
        "http://sqs.eu-central-1.amazonaws.com/123456789012/line",
        "https://sqs.eu-central-1.amazonaws.com/1/line",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/line?x",
        "http://169.254.169.254/123456789012/line",
        "arn:aws:sqs:eu-central-1:123456789012:line",
    ],
)
def test_R07_a_queue_url_names_a_queue_and_no_other_host(url):
    assert "target.sqs.queue_url" in refused({"sqs": {"queue_url": url}})


def test_R07_a_local_queue_is_for_local_stages_only_and_still_guarded():
    local = EgressPolicy.local()
    raw = {"sqs": {"queue_url": "http://127.0.0.1:4566/000000000000/line"}}
    assert parse_target(raw, local) == SqsTarget(queue_url="http://127.0.0.1:4566/000000000000/line")
    assert refused(raw)
    assert refused({"sqs": {"queue_url": "http://169.254.169.254/000000000000/line"}}, local)


@pytest.mark.parametrize(
    ("kind", "field", "arn"),
    [
        ("lambda", "function_arn", ARN.format("lambda", "layer:work")),
        ("lambda", "function_arn", ARN.format("sns", "function:work")),
        ("lambda", "function_arn", "work"),
        ("lambda", "function_arn", ARN.format("lambda", "function:work\n")),
        ("sns", "topic_arn", ARN.format("sns", "a/b")),
        ("sns", "topic_arn", "arn:aws:sns:eu-central-1:12345:topic"),
        ("eventbridge", "bus_arn", ARN.format("events", "rule/x")),
        ("step_functions", "state_machine_arn", ARN.format("states", "execution:m:x")),
    ],
)
def test_an_arn_names_a_thing_of_its_kind(kind, field, arn):
    assert f"target.{kind}.{field}" in refused({kind: {field: arn}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("source", "aws.ec2"), ("source", "AWS.x"), ("source", ""), ("detail_type", "a" * 129), ("source", 5)],
)
def test_an_event_names_a_source_of_its_own(field, value):
    raw = {"eventbridge": {"bus_arn": ARN.format("events", "event-bus/b"), field: value}}
    assert f"target.eventbridge.{field}" in refused(raw)


@pytest.mark.parametrize(
    "raw", [None, {}, [], {"webhook": {}}, {"webhook": None}, {"x": {}}, {"sqs": {"a": 1}}, 7, "webhook"]
)
def test_R10_a_stored_target_that_cannot_be_read_is_one_named_error(raw):
    with pytest.raises(ValueError, match="not a target"):
        decode_target(raw)


def test_what_was_stored_is_read_even_if_it_would_be_refused_today():
    stored = {"webhook": {"url": "http://10.0.0.1/", "method": "POST", "headers": {}, "timeout_seconds": 99}}
    assert target_to_wire(decode_target(stored)) == stored
