"""AWS targets: the same facts to each, its answer read into the one vocabulary."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import boto3
import pytest
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.response import StreamingBody
from botocore.stub import Stubber

from fencepost.adapters.targets.aws import AwsCaller
from fencepost.adapters.targets.aws_errors import REFUSALS, aws_failure, aws_refusal
from fencepost.adapters.targets.credentials import RoleUnavailableError
from fencepost.domain.delivery import facts_to_wire
from fencepost.domain.outcome import Accepted, Delivered, Failed, Refused, TimedOut
from fencepost.domain.targets import (
    EventBridgeTarget,
    LambdaTarget,
    SnsTarget,
    SqsTarget,
    StepFunctionsTarget,
    WebhookTarget,
)
from tests.support.deliveries import DUE, EXECUTION, OneClient, delivery, facts

TEN = timedelta(seconds=10)
REGION = "eu-central-1"
ARN = "arn:aws:{}:" + REGION + ":123456789012:{}"
QUEUE = SqsTarget(queue_url=f"https://sqs.{REGION}.amazonaws.com/123456789012/line")
TOPIC = SnsTarget(topic_arn=ARN.format("sns", "topic"))
BUS = EventBridgeTarget(
    bus_arn=ARN.format("events", "event-bus/jobs"), source="us.jobs", detail_type="Nightly"
)
MACHINE = StepFunctionsTarget(state_machine_arn=ARN.format("states", "stateMachine:m"))
FUNCTION = LambdaTarget(function_arn=ARN.format("lambda", "function:work"))
HTTP_200 = {"ResponseMetadata": {"HTTPStatusCode": 200}}
ATTRIBUTES = {
    "Fencepost-Execution": {"DataType": "String", "StringValue": EXECUTION},
    "Fencepost-Team": {"DataType": "String", "StringValue": "payments"},
    "Fencepost-Job": {"DataType": "String", "StringValue": "nightly-report"},
    "Fencepost-Due": {"DataType": "String", "StringValue": "2026-03-01T02:30:00.000Z"},
    "Idempotency-Key": {"DataType": "String", "StringValue": EXECUTION},
    "Fencepost-Attempt": {"DataType": "Number", "StringValue": "1"},
    "Fencepost-Fence": {"DataType": "Number", "StringValue": "1772332200112"},
}
ENVELOPE = json.dumps({"fencepost": facts_to_wire(facts()), "payload": {"a": 1}}, separators=(",", ":"))


def call(service, operation, target, *, expects=None, answer=None, error=None, body=b'{"a":1}'):
    """Calls `target` with a client that expects one request and gives one answer."""
    client = boto3.client(service, region_name=REGION)
    clients = OneClient(client)
    with Stubber(client) as stub:
        if error is None:
            stub.add_response(operation, {**HTTP_200, **(answer or {})}, expects)
        else:
            code, status = error
            stub.add_client_error(
                operation, code, "because", http_status_code=status, expected_params=expects
            )
        outcome = AwsCaller(clients=clients).call(delivery(target, body=body), timeout=TEN)
        stub.assert_no_pending_responses()
    assert clients.asked == [(service, REGION, "payments", TEN)]
    return outcome


def test_sqs_gets_the_payload_as_message_and_the_facts_as_attributes():
    expects = {"QueueUrl": QUEUE.queue_url, "MessageBody": '{"a":1}', "MessageAttributes": ATTRIBUTES}
    outcome = call("sqs", "send_message", QUEUE, expects=expects, answer={"MessageId": "m-1"})
    assert outcome == Delivered(status=200, excerpt="MessageId m-1")


@pytest.mark.parametrize(("body", "message"), [(b"", "null"), (b"plain \xff", '"plain \\ufffd"')])
def test_a_message_is_always_json_and_never_empty(body, message):
    expects = {"QueueUrl": QUEUE.queue_url, "MessageBody": message, "MessageAttributes": ATTRIBUTES}
    assert isinstance(
        call("sqs", "send_message", QUEUE, expects=expects, answer={"MessageId": "m"}, body=body), Delivered
    )


def test_a_fifo_queue_keeps_a_jobs_order_and_drops_a_repeat():
    target = SqsTarget(queue_url=QUEUE.queue_url + ".fifo")
    expects = {
        "QueueUrl": target.queue_url,
        "MessageBody": '{"a":1}',
        "MessageAttributes": ATTRIBUTES,
        "MessageGroupId": "payments.nightly-report",
        "MessageDeduplicationId": EXECUTION,
    }
    assert isinstance(
        call("sqs", "send_message", target, expects=expects, answer={"MessageId": "m"}), Delivered
    )


def test_sns_gets_the_same():
    expects = {"TopicArn": TOPIC.topic_arn, "Message": '{"a":1}', "MessageAttributes": ATTRIBUTES}
    outcome = call("sns", "publish", TOPIC, expects=expects, answer={"MessageId": "m-2"})
    assert outcome == Delivered(status=200, excerpt="MessageId m-2")


def test_eventbridge_gets_an_event_with_facts_and_payload():
    entry = {
        "EventBusName": BUS.bus_arn,
        "Source": "us.jobs",
        "DetailType": "Nightly",
        "Detail": ENVELOPE,
        "Time": DUE,
    }
    answer = {"FailedEntryCount": 0, "Entries": [{"EventId": "e-1"}]}
    outcome = call("events", "put_events", BUS, expects={"Entries": [entry]}, answer=answer)
    assert outcome == Delivered(status=200, excerpt="EventId e-1")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ThrottlingException", Failed),
        ("InternalFailure", Failed),
        ("AccessDeniedException", Failed),
        ("MalformedDetail", Refused),
        ("InvalidArgument", Refused),
    ],
)
def test_an_event_that_failed_inside_a_call_that_succeeded_is_no_success(code, kind):
    answer = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": code, "ErrorMessage": "why"}]}
    outcome = call("events", "put_events", BUS, answer=answer)
    assert isinstance(outcome, kind)
    assert code in outcome.error


def test_step_functions_starts_an_execution_of_the_same_name():
    started = ARN.format("states", f"execution:m:{EXECUTION}")
    expects = {"stateMachineArn": MACHINE.state_machine_arn, "name": EXECUTION, "input": ENVELOPE}
    answer = {"executionArn": started, "startDate": DUE}
    outcome = call("stepfunctions", "start_execution", MACHINE, expects=expects, answer=answer)
    assert outcome == Delivered(status=200, excerpt=started)


def test_R01_a_machine_that_an_unknown_attempt_had_started_is_delivered():
    outcome = call("stepfunctions", "start_execution", MACHINE, error=("ExecutionAlreadyExists", 400))
    assert outcome == Delivered(excerpt="an earlier attempt had started it")


def invoke(result: bytes, **answer):
    payload = StreamingBody(io.BytesIO(result), len(result))
    expects = {
        "FunctionName": FUNCTION.function_arn,
        "InvocationType": "RequestResponse",
        "Payload": ENVELOPE.encode(),
    }
    return call(
        "lambda", "invoke", FUNCTION, expects=expects, answer={"StatusCode": 200, "Payload": payload} | answer
    )


def test_R05_a_function_is_invoked_synchronously_so_that_only_we_retry():
    assert invoke(b'{"done":true}') == Delivered(status=200, excerpt='{"done":true}')


@pytest.mark.parametrize(
    "result", [b"null", b"", b"[1]", b'"text"', b"\xff", b'{"statusCode":"200"}', b'{"statusCode":true}']
)
def test_whatever_a_function_returns_is_a_success(result):
    assert isinstance(invoke(result), Delivered)


def test_a_functions_error_is_a_failure():
    outcome = invoke(b'{"errorType":"KeyError","errorMessage":"a"}', FunctionError="Unhandled")
    assert outcome == Failed(
        status=200, error="KeyError: a", excerpt='{"errorType":"KeyError","errorMessage":"a"}'
    )
    for result in (b"", b"[]", b"not json"):
        outcome = invoke(result, FunctionError="Unhandled")
        assert isinstance(outcome, Failed)
        assert outcome.error == "Unhandled: no message"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"statusCode": 200, "body": "ok"}, Delivered),
        ({"statusCode": 202}, Accepted),
        ({"statusCode": 410, "headers": None}, Refused),
        ({"statusCode": 500, "headers": {"Fencepost-Never-Again": "true"}}, Refused),
        ({"statusCode": 503, "headers": {"Retry-After": "7"}, "body": "busy"}, Failed),
        ({"statusCode": 500, "headers": [1], "body": {"a": 1}}, Failed),
    ],
)
def test_a_function_may_answer_as_an_http_target_would(result, kind):
    outcome = invoke(json.dumps(result).encode())
    assert isinstance(outcome, kind)
    if result["statusCode"] == 503:
        assert outcome.retry_after == timedelta(seconds=7)
        assert outcome.excerpt == "busy"


def test_only_the_beginning_of_a_large_result_is_read():
    outcome = invoke(b'"' + b"x" * 1_000_000 + b'"')
    assert isinstance(outcome, Delivered)
    assert len(outcome.excerpt) == 512


TABLE = [
    ("ThrottlingException", 400, Failed),
    ("TooManyRequestsException", 429, Failed),
    ("AWS.SimpleQueueService.RequestThrottled", 403, Failed),
    ("AccessDenied", 403, Failed),
    ("AccessDeniedException", 400, Failed),
    ("KMSAccessDeniedException", 502, Failed),
    ("ExpiredTokenException", 403, Failed),
    ("QueueDoesNotExist", 400, Failed),
    ("AWS.SimpleQueueService.NonExistentQueue", 400, Failed),
    ("ResourceNotFoundException", 404, Failed),
    ("NotFoundException", 404, Failed),
    ("StateMachineDoesNotExist", 400, Failed),
    ("ServiceException", 500, Failed),
    ("InternalError", 500, Failed),
    ("SomethingNew", 418, Failed),
    *((code, 400, Refused) for code in sorted(REFUSALS)),
    ("AWS.SimpleQueueService.UnsupportedOperation", 400, Refused),
]


@pytest.mark.parametrize(("code", "status", "kind"), TABLE)
def test_an_error_is_read_by_the_table_and_its_message_is_kept(code, status, kind):
    outcome = call("sqs", "send_message", QUEUE, error=(code, status))
    assert isinstance(outcome, kind)
    assert outcome.status == status
    assert code.removeprefix("AWS.SimpleQueueService.") in outcome.error
    assert "because" in outcome.error or "throttled" in outcome.error


@pytest.mark.parametrize("target", [QUEUE, TOPIC, BUS, MACHINE, FUNCTION])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ReadTimeoutError(endpoint_url="https://x"), TimedOut),
        (ConnectTimeoutError(endpoint_url="https://x"), Failed),
        (EndpointConnectionError(endpoint_url="https://x"), Failed),
        (HTTPClientError(error="broken"), Failed),
        (ParamValidationError(report="too long"), Refused),
        (RoleUnavailableError("the role cannot be assumed"), Failed),
    ],
)
def test_R01_only_silence_is_unknown_and_nothing_is_raised(target, error, kind):
    class Broken:
        class exceptions:  # noqa: N801 - as boto3 names it
            class ExecutionAlreadyExists(Exception):  # noqa: N818 - as the service names it
                pass

        def __getattr__(self, name):
            def operation(**_):
                raise error

            return operation

    outcome = AwsCaller(clients=OneClient(Broken())).call(delivery(target), timeout=TEN)
    assert isinstance(outcome, kind)


def test_a_role_that_cannot_be_had_fails_the_attempt():
    clients = OneClient(RoleUnavailableError("team payments has no delivery role"))
    outcome = AwsCaller(clients=clients).call(delivery(QUEUE), timeout=TEN)
    assert outcome == Failed(error="team payments has no delivery role")


def test_an_answer_without_a_reason_still_says_something():
    assert aws_refusal("", "", None) == Failed(error="AWS refused the call without a reason")
    assert isinstance(aws_failure(HTTPClientError(error="x")), Failed)


def test_a_webhook_is_no_aws_target():
    with pytest.raises(TypeError):
        AwsCaller(clients=OneClient(None)).call(
            delivery(WebhookTarget(url="https://a.example/")), timeout=TEN
        )
