"""What the client that firings use on AWS makes of answers and of silence: always botocore's own words."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from typing import Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from fencepost.adapters.aws import NEVER_SENT, aws_errors, no_answer, throttled
from fencepost.adapters.wire.service import DYNAMODB, KMS, SQS, BrokenAnswerError, Dialect
from tests.support.services import Service, wire_client

BLOB = bytes(range(256))


def refused(service: Service, dialect: Dialect = DYNAMODB) -> Exception:
    """The error of one call."""
    name = "get_item" if dialect is DYNAMODB else "send_message_batch"
    with service.running() as endpoint:
        call = getattr(wire_client(endpoint, dialect, read=0.2), name)
        with pytest.raises((BotoCoreError, ClientError)) as caught:
            call(Key={})
    return caught.value


def _failure(code: str, **more: Any) -> bytes:
    return json.dumps(
        {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no", **more}
    ).encode()


def test_what_was_never_sent_is_known() -> None:
    error = _error_of("http://127.0.0.1:9")
    assert isinstance(error, EndpointConnectionError)
    assert isinstance(error, NEVER_SENT)
    assert not no_answer(error)


def test_silence_and_a_closed_connection_are_no_answers() -> None:
    silent, closed = refused(Service(hang=threading.Event())), refused(Service(drop=True))
    assert isinstance(silent, ReadTimeoutError)
    assert isinstance(closed, ConnectionClosedError)
    assert no_answer(silent)
    assert no_answer(closed)


@pytest.mark.parametrize(
    ("body", "headers"),
    [(b"<html>", {}), (b'{"Item"', {}), (b"{}", {"x-amz-crc32": "1"})],
    ids=["html", "cut", "checksum"],
)
def test_an_answer_that_cannot_be_read_is_no_answer(body, headers) -> None:
    error = refused(Service(body=body, headers=headers))
    assert isinstance(error, BrokenAnswerError)
    assert isinstance(error, aws_errors())
    assert no_answer(error)


def test_a_checksum_that_fits_is_fine() -> None:
    body = b'{"Item": {"a": {"S": "b"}}}'
    with Service(body=body, headers={"x-amz-crc32": str(zlib.crc32(body))}).running() as endpoint:
        assert wire_client(endpoint).get_item(Key={}) == {"Item": {"a": {"S": "b"}}}


def test_a_failed_condition_brings_what_was_there() -> None:
    error = refused(Service(400, _failure("ConditionalCheckFailedException", Item={"a": {"S": "b"}})))
    assert isinstance(error, ClientError)
    assert error.response["Error"] == {"Code": "ConditionalCheckFailedException", "Message": "no"}
    assert error.response["Item"] == {"a": {"S": "b"}}  # type: ignore[typeddict-item]  # an answer may hold more than the stubs say
    assert not no_answer(error)


def test_a_cancelled_transaction_brings_its_reasons() -> None:
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "1"}}}]
    error = refused(Service(400, _failure("TransactionCanceledException", CancellationReasons=reasons)))
    assert isinstance(error, ClientError)
    assert error.response["CancellationReasons"] == reasons


def test_throttles_and_faults_of_the_service_are_told_apart() -> None:
    throttle = refused(Service(400, _failure("ProvisionedThroughputExceededException")))
    fault = refused(Service(500, _failure("InternalServerError")))
    gateway = refused(Service(503, b"<html>Service Unavailable</html>"))
    assert throttled(throttle)
    assert not no_answer(throttle)
    assert no_answer(fault)
    assert no_answer(gateway)
    assert isinstance(gateway, ClientError)
    assert gateway.response["Error"]["Code"] == "503"


def test_sqs_codes_are_those_that_botocore_tells() -> None:
    headers = {"x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender"}
    body = b'{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "gone"}'
    error = refused(Service(400, body, headers), SQS)
    assert isinstance(error, ClientError)
    assert error.response["Error"] == {"Code": "AWS.SimpleQueueService.NonExistentQueue", "Message": "gone"}


def test_blobs_travel_as_base64_both_ways() -> None:
    body = json.dumps({"Plaintext": base64.b64encode(BLOB).decode(), "KeyId": "k"}).encode()
    with (service := Service(body=body)).running() as endpoint:
        answer = wire_client(endpoint, KMS).decrypt(CiphertextBlob=BLOB, KeyId="k")
    assert answer == {"Plaintext": BLOB, "KeyId": "k"}
    assert base64.b64decode(json.loads(service.heard[0][1])["CiphertextBlob"]) == BLOB


def test_only_known_operations_are_spoken_of() -> None:
    with pytest.raises(AttributeError, match="drop_table"):
        wire_client("http://127.0.0.1:9").drop_table()
    with pytest.raises(TypeError, match="set"):
        wire_client("http://127.0.0.1:9").get_item(Key={"a": {"SS": {"b"}}})


def _error_of(endpoint: str) -> Exception:
    with pytest.raises((BotoCoreError, ClientError)) as caught:
        wire_client(endpoint).get_item(Key={})
    return caught.value
