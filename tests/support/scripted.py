"""A client of AWS whose answers a test writes down: everything up to the wire is real, the service is not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.store import DynamoDbStore
from tests.support.clock import CountingEntropy, SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

Answer: TypeAlias = "Mapping[str, Any] | Failure | Exception"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the service words it; `more` are further members of its body."""

    code: str
    more: Mapping[str, Any] = field(default_factory=dict)
    status: int = 400


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent."""

    operation: str
    body: Mapping[str, Any]


class _Body:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: object) -> Sequence[bytes]:
        """The body in one piece."""
        return [self._content]


class Script:
    """Answers in the order given; `requests` collects what was asked. Asking for more than was written fails."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []

    def dynamodb(self) -> DynamoDBClient:
        """A DynamoDB client that follows the script."""
        client = boto3.client("dynamodb", config=client_config(Patience(), validate=True))
        client.meta.events.register("before-send.dynamodb", cast("Any", self._answer))
        return client

    def sqs(self) -> SQSClient:
        """An SQS client that follows the script."""
        client = boto3.client("sqs", config=client_config(Patience(), validate=True))
        client.meta.events.register("before-send.sqs", cast("Any", self._answer))
        return client

    @property
    def operations(self) -> list[str]:
        """The names of what was asked."""
        return [request.operation for request in self.requests]

    def finished(self) -> bool:
        """Whether every answer was asked for."""
        return not self._answers

    def _answer(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        target = request.headers["X-Amz-Target"]
        operation = (target if isinstance(target, str) else target.decode()).rpartition(".")[2]
        self.requests.append(Request(operation, json.loads(cast("bytes", request.body))))
        if not self._answers:
            raise AssertionError(f"{operation} was not expected")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Failure):
            body = {"__type": f"com.amazonaws#{answer.code}", "message": answer.code, **answer.more}
            return _response(request, answer.status, body)
        return _response(request, 200, answer)


def _response(request: AWSPreparedRequest, status: int, body: Mapping[str, Any]) -> AWSResponse:
    headers = HTTPHeaders.from_dict({"Content-Type": "application/x-amz-json-1.0"})
    return AWSResponse(request.url, status, headers, _Body(json.dumps(body).encode()))


class ScriptedStore:
    """The DynamoDB adapter over a script, on a clock that stands."""

    def __init__(self, *answers: Answer) -> None:
        self.script = Script(*answers)
        self.clock = SettableClock("2026-03-02T10:00:00.000Z")
        client = self.script.dynamodb()
        self.store = DynamoDbStore(client, table_names("t-"), clock=self.clock, entropy=CountingEntropy(0.5))
