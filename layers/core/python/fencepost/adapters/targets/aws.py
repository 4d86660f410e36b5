"""AWS targets: what is sent to each, and how its answer is read. One caller for all, so that errors are read alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.adapters.targets.aws_errors import aws_failure, aws_refusal
from fencepost.adapters.targets.clients import ClientFactory
from fencepost.adapters.targets.credentials import AwsClient, RoleUnavailableError
from fencepost.domain.delivery import Delivery, DeliveryFacts, envelope, json_text
from fencepost.domain.instants import to_wire
from fencepost.domain.outcome import Delivered, Failed, Outcome, classify_http, clip, excerpt
from fencepost.domain.targets import (
    EventBridgeTarget,
    LambdaTarget,
    SnsTarget,
    SqsTarget,
    StepFunctionsTarget,
    WebhookTarget,
)

ANSWER_LIMIT = 64 * 1024
AwsTarget = SqsTarget | LambdaTarget | SnsTarget | EventBridgeTarget | StepFunctionsTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCall:
    """One request to one service in one region."""

    service: str
    region: str
    perform: Callable[[AwsClient], Outcome]


class AwsCaller:
    """Delivers to AWS targets with the team's own credentials."""

    def __init__(self, *, clients: ClientFactory) -> None:
        self._clients = clients

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """One call. A webhook is a mistake of the caller: TypeError."""
        call = _prepare(delivery)
        try:
            client = self._clients.client(call.service, call.region, delivery.sender, timeout)
            return call.perform(client)
        except RoleUnavailableError as error:
            return Failed(error=clip(str(error)))
        except (ClientError, BotoCoreError) as error:
            return aws_failure(error)


def _prepare(delivery: Delivery) -> AwsCall:
    match delivery.target:
        case SqsTarget():
            return _sqs(delivery.facts, delivery.target)
        case LambdaTarget():
            return _lambda(delivery, delivery.target)
        case SnsTarget():
            return _sns(delivery.facts, delivery.target)
        case EventBridgeTarget():
            return _event_bridge(delivery.facts, delivery.target)
        case StepFunctionsTarget():
            return _step_functions(delivery.facts, delivery.target)
        case WebhookTarget():
            raise TypeError("a webhook is no AWS target")


def attributes(facts: DeliveryFacts) -> dict[str, dict[str, str]]:
    """The facts as message attributes, under the names that webhooks have as headers."""
    texts = {
        "Fencepost-Execution": facts.execution_id,
        "Fencepost-Team": facts.team,
        "Fencepost-Job": facts.job,
        "Fencepost-Due": to_wire(facts.due),
        "Idempotency-Key": facts.execution_id,
    }
    numbers = {"Fencepost-Attempt": facts.attempt, "Fencepost-Fence": facts.fence}
    named = {name: {"DataType": "String", "StringValue": text} for name, text in texts.items()}
    counted = {name: {"DataType": "Number", "StringValue": str(number)} for name, number in numbers.items()}
    return named | counted


def _fifo(name: str, facts: DeliveryFacts) -> dict[str, str]:
    """A FIFO queue or topic keeps a job's firings in order, and drops a repeat of one within five minutes."""
    if not name.endswith(".fifo"):
        return {}
    return {"MessageGroupId": f"{facts.team}.{facts.job}"[:128], "MessageDeduplicationId": facts.execution_id}


def _sqs(facts: DeliveryFacts, target: SqsTarget) -> AwsCall:
    def perform(client: AwsClient) -> Outcome:
        answer = client.send_message(
            QueueUrl=target.queue_url,
            MessageBody=json_text(facts.body),
            MessageAttributes=attributes(facts),
            **_fifo(target.queue_url, facts),
        )
        return Delivered(status=_status(answer), excerpt=f"MessageId {answer['MessageId']}")

    host = target.queue_url.split("/")[2]
    region = host.split(".")[1] if host.startswith("sqs.") else "us-east-1"
    return AwsCall(service="sqs", region=region, perform=perform)


def _sns(facts: DeliveryFacts, target: SnsTarget) -> AwsCall:
    def perform(client: AwsClient) -> Outcome:
        answer = client.publish(
            TopicArn=target.topic_arn,
            Message=json_text(facts.body),
            MessageAttributes=attributes(facts),
            **_fifo(target.topic_arn, facts),
        )
        return Delivered(status=_status(answer), excerpt=f"MessageId {answer['MessageId']}")

    return AwsCall(service="sns", region=region_of(target.topic_arn), perform=perform)


def _event_bridge(facts: DeliveryFacts, target: EventBridgeTarget) -> AwsCall:
    def perform(client: AwsClient) -> Outcome:
        entry = {
            "EventBusName": target.bus_arn,
            "Source": target.source,
            "DetailType": target.detail_type,
            "Detail": envelope(facts),
            "Time": facts.due,
        }
        return read_entries(client.put_events(Entries=[entry]))

    return AwsCall(service="events", region=region_of(target.bus_arn), perform=perform)


def read_entries(answer: dict[str, Any]) -> Outcome:
    """The outcome of PutEvents with one entry: the call may succeed while its entry failed."""
    (entry,) = answer["Entries"]
    if answer.get("FailedEntryCount"):
        return aws_refusal(entry.get("ErrorCode", ""), entry.get("ErrorMessage", ""), None)
    return Delivered(status=_status(answer), excerpt=f"EventId {entry['EventId']}")


def _step_functions(facts: DeliveryFacts, target: StepFunctionsTarget) -> AwsCall:
    def perform(client: AwsClient) -> Outcome:
        try:
            answer = client.start_execution(
                stateMachineArn=target.state_machine_arn, name=facts.execution_id, input=envelope(facts)
            )
        except client.exceptions.ExecutionAlreadyExists:
            return Delivered(excerpt="an earlier attempt had started it")
        return Delivered(status=_status(answer), excerpt=answer["executionArn"])

    return AwsCall(service="stepfunctions", region=region_of(target.state_machine_arn), perform=perform)


def _lambda(delivery: Delivery, target: LambdaTarget) -> AwsCall:
    def perform(client: AwsClient) -> Outcome:
        answer = client.invoke(
            FunctionName=target.function_arn,
            InvocationType="RequestResponse",
            Payload=envelope(delivery.facts).encode(),
        )
        body = answer["Payload"].read(ANSWER_LIMIT)
        return _invoked(answer, body, delivery)

    return AwsCall(service="lambda", region=region_of(target.function_arn), perform=perform)


def _invoked(answer: dict[str, Any], body: bytes, delivery: Delivery) -> Outcome:
    """A function that answers as one behind an HTTP gateway would is read as an HTTP answer: 202 begins long work,
    410 means never again. Any other result is a success, an error of the function a failure.
    """
    result = _json(body)
    if answer.get("FunctionError"):
        told = result if isinstance(result, dict) else {}
        error = f"{told.get('errorType', answer['FunctionError'])}: {told.get('errorMessage', 'no message')}"
        return Failed(status=_status(answer), error=clip(error), excerpt=excerpt(body))
    if isinstance(result, dict) and type(result.get("statusCode")) is int:
        headers = result.get("headers")
        named = (
            {str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}
        )
        text = result.get("body")
        inner = text.encode("utf-8", errors="replace") if isinstance(text, str) else b""
        return classify_http(result["statusCode"], named, inner, delivery.sent_at)
    return Delivered(status=_status(answer), excerpt=excerpt(body))


def region_of(arn: str) -> str:
    """The region that an ARN names."""
    return arn.split(":")[3]


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _status(answer: dict[str, Any]) -> int | None:
    status = answer.get("StatusCode", answer.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    return status if isinstance(status, int) else None
