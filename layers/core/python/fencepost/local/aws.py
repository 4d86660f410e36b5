"""AWS as one machine has it: what would go to topics, queues, buses, functions is written down instead."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from fencepost.domain.delivery import Sender

Record = Callable[[Mapping[str, Any]], None]


class LocalClients:
    """A `ClientFactory` whose clients take everything and tell `record` what they took."""

    def __init__(self, record: Record, new_id: Callable[[], str]) -> None:
        self._record = record
        self._new_id = new_id

    def client(self, service: str, region: str, sender: Sender, timeout: timedelta) -> LocalClient:
        """A client of that service."""
        del region, timeout
        return LocalClient(service, sender.team, self._record, self._new_id)


class LocalClient:
    """One service, as far as targets and notifications use it. No firing is taken twice by a state machine."""

    class exceptions:  # noqa: N801 - the attribute's name is boto3's
        """The errors by name, as boto3's clients have them."""

        class ExecutionAlreadyExists(Exception):  # noqa: N818 - the service's own word
            """The name was used before."""

    def __init__(self, service: str, team: str, record: Record, new_id: Callable[[], str]) -> None:
        self._service = service
        self._team = team
        self._record = record
        self._new_id = new_id

    def publish(self, **request: Any) -> dict[str, Any]:
        """SNS."""
        return self._took("publish", request["TopicArn"], request["Message"], MessageId=self._new_id())

    def send_message(self, **request: Any) -> dict[str, Any]:
        """SQS."""
        return self._took(
            "send_message", request["QueueUrl"], request["MessageBody"], MessageId=self._new_id()
        )

    def put_events(self, **request: Any) -> dict[str, Any]:
        """EventBridge."""
        (entry,) = request["Entries"]
        entries = [{"EventId": self._new_id()}]
        return self._took(
            "put_events", entry["EventBusName"], entry["Detail"], Entries=entries, FailedEntryCount=0
        )

    def start_execution(self, **request: Any) -> dict[str, Any]:
        """Step Functions."""
        machine = request["stateMachineArn"]
        return self._took(
            "start_execution", machine, request["input"], executionArn=f"{machine}:{request['name']}"
        )

    def invoke(self, **request: Any) -> dict[str, Any]:
        """Lambda: the function answers nothing."""
        payload = io.BytesIO(b"null")
        return self._took(
            "invoke", request["FunctionName"], request["Payload"].decode(), StatusCode=200, Payload=payload
        )

    def _took(self, call: str, whom: str, content: str, **answer: Any) -> dict[str, Any]:
        try:
            body: object = json.loads(content)
        except ValueError:
            body = content
        self._record({"service": self._service, "call": call, "to": whom, "team": self._team, "body": body})
        return {"ResponseMetadata": {"HTTPStatusCode": 200}, **answer}
