"""A client of one AWS service that speaks JSON: what a firing needs of botocore's, at a fifth of its CPU.

Parameters and answers are those of botocore's clients, but for blobs inside items, which stay base64 text in answers.
Errors are botocore's own, so that callers need not know which client they hold.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

import urllib3
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
)
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import ConnectTimeoutError as NotConnected
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError
from urllib3.exceptions import ReadTimeoutError as NotHeard

from fencepost.adapters.wire.signature import Signer

Answer = dict[str, Any]
Now = Callable[[], datetime]


class BrokenAnswerError(BotoCoreError):
    """An answer came that is none of the service's."""

    fmt = "The answer to {operation} cannot be read: {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a service is spoken to: the prefix of its targets, its JSON version, the blobs at the top of answers."""

    name: str
    prefix: str
    json: str
    operations: frozenset[str]
    blobs: frozenset[str] = frozenset()


DYNAMODB = Dialect(
    name="dynamodb",
    prefix="DynamoDB_20120810",
    json="1.0",
    operations=frozenset(
        {
            "BatchGetItem",
            "BatchWriteItem",
            "DeleteItem",
            "GetItem",
            "PutItem",
            "Query",
            "Scan",
            "TransactWriteItems",
            "UpdateItem",
        }
    ),
)
SQS = Dialect(
    name="sqs",
    prefix="AmazonSQS",
    json="1.0",
    operations=frozenset(
        {"ChangeMessageVisibility", "DeleteMessageBatch", "ReceiveMessage", "SendMessageBatch"}
    ),
)
KMS = Dialect(
    name="kms",
    prefix="TrentService",
    json="1.1",
    operations=frozenset({"Decrypt", "GenerateDataKey"}),
    blobs=frozenset({"CiphertextBlob", "Plaintext"}),
)


class WireClient:
    """Methods are named as botocore's: ``get_item(**parameters)``. One request each, no repeats. Thread-safe."""

    def __init__(
        self,
        dialect: Dialect,
        pool: HTTPConnectionPool,
        *,
        signer: Signer,
        now: Now,
        timeout: urllib3.Timeout,
    ) -> None:
        self._dialect = dialect
        self._pool = pool
        self._signer = signer
        self._now = now
        self._timeout = timeout
        default = {"http": 80, "https": 443}[pool.scheme]
        host = pool.host if pool.port in {None, default} else f"{pool.host}:{pool.port}"
        self._fixed = {"content-type": f"application/x-amz-json-{dialect.json}", "host": host}

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        operation = "".join(word.capitalize() for word in name.split("_"))
        if operation not in self._dialect.operations:
            raise AttributeError(f"{self._dialect.name} is not spoken to by {name}")
        method = partial(self._call, operation)
        self.__dict__[name] = method
        return method

    def _call(self, operation: str, **parameters: Any) -> Answer:
        body = json.dumps(parameters, separators=(",", ":"), default=_blob).encode()
        headers = {**self._fixed, "x-amz-target": f"{self._dialect.prefix}.{operation}"}
        signed = self._signer.signed(headers, body, self._now())
        try:
            response = self._pool.urlopen("POST", "/", body, signed, retries=False, timeout=self._timeout)
        except HTTPError as error:
            self._unanswered(error)
        return self._read(operation, response)

    def _unanswered(self, error: HTTPError) -> NoReturn:
        """Whether the request can have been seen is what callers must know."""
        url = f"{self._pool.scheme}://{self._fixed['host']}"
        match error:
            case NewConnectionError():
                raise EndpointConnectionError(endpoint_url=url, error=error) from error
            case NotConnected():
                raise ConnectTimeoutError(endpoint_url=url, error=error) from error
            case NotHeard():
                raise ReadTimeoutError(endpoint_url=url, error=error) from error
            case ProtocolError():
                raise ConnectionClosedError(endpoint_url=url, error=error) from error
            case _:
                raise HTTPClientError(error=error) from error

    def _read(self, operation: str, response: urllib3.BaseHTTPResponse) -> Answer:
        data = response.data
        told = response.headers.get("x-amz-crc32")
        if told is not None and int(told) != zlib.crc32(data):
            raise BrokenAnswerError(operation=operation, why="its checksum is wrong")
        try:
            answer: Answer = json.loads(data) if data else {}
        except ValueError as error:
            if response.status < 300:
                raise BrokenAnswerError(operation=operation, why=error) from error
            answer = {}
        if response.status >= 300:
            raise ClientError(_failure(answer, response), operation)
        for name in self._dialect.blobs & answer.keys():
            answer[name] = base64.b64decode(answer[name])
        return answer


def _blob(value: object) -> str:
    """Bytes travel as base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} does not travel in JSON")


def _failure(answer: Mapping[str, Any], response: urllib3.BaseHTTPResponse) -> Any:  # noqa: ANN401 - as botocore has it
    """The error as botocore words it: its code, its message, and whatever else the service told."""
    code = str(answer.get("__type") or response.status).rpartition("#")[2]
    queried = response.headers.get("x-amzn-query-error")  # how SQS spells codes for older clients
    message = answer.get("message") or answer.get("Message") or ""
    return {
        **answer,
        "Error": {"Code": queried.partition(";")[0] if queried else code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": response.status},
    }
