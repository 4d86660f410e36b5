"""The client that firings use on AWS, held to botocore: what it sends, how it signs, when it is used."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
)
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.clients import Clients
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.wire.service import SQS, WireClient
from fencepost.adapters.wire.signature import Credentials, Signer
from fencepost.application.ports import Outgoing, QueueName, Received
from fencepost.application.store import Absent, Check, Delete, Key, Put, Query, Share, Table, Update, equals
from tests.support.certificates import Authority
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.services import NOW, Service, wire_client

TEXT = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=20)
BLOB = bytes(range(256))


@given(body=st.binary(max_size=200), key=TEXT, secret=TEXT, token=st.none() | TEXT, target=TEXT)
def test_it_signs_as_botocore_does(body, key, secret, token, target) -> None:
    headers = {"content-type": "application/x-amz-json-1.0", "host": "dynamodb.eu-west-1.amazonaws.com"}
    headers["x-amz-target"] = target
    signer = Signer(Credentials(access_key=key, secret_key=secret, token=token), "dynamodb", "eu-west-1")
    ours = signer.signed(headers, body, NOW)
    theirs = AWSRequest("POST", f"https://{headers['host']}/", headers, body)
    signing = SigV4Auth(BotoCredentials(key, secret, token), "dynamodb", "eu-west-1")
    theirs.context["timestamp"] = ours["x-amz-date"]
    signing._modify_request_before_signing(theirs)  # type: ignore[attr-defined]  # no part of what the stubs describe
    canonical = signing.canonical_request(theirs)
    signature = signing.signature(signing.string_to_sign(theirs, canonical), theirs)
    assert ours["authorization"].endswith(f"Signature={signature}")
    assert ours.get("x-amz-security-token") == token


def test_signing_keys_are_the_days_own() -> None:
    signer = Signer(Credentials(access_key="k", secret_key="s"), "sqs", "eu-west-1")
    days = [signer.signed({"host": "h"}, b"", NOW.replace(day=day))["authorization"] for day in range(1, 29)]
    again = [signer.signed({"host": "h"}, b"", NOW.replace(day=day))["authorization"] for day in range(1, 29)]
    assert days == again
    assert len(set(days)) == 28


def test_the_store_sends_what_it_sends_through_botocore() -> None:
    """Operation by operation, byte for byte as JSON: so what is counted for one client holds for the other."""
    with (heard := Service(body=_everything())).running() as ours:
        _work(_store(wire_client(ours)))
        by_wire = list(heard.heard)
        heard.heard.clear()
        config = client_config(Patience(), validate=True)
        session = boto3.Session("AKID", "secret", region_name="eu-west-1")
        _work(_store(session.client("dynamodb", endpoint_url=ours, config=config)))
    assert [_request(each) for each in by_wire] == [_request(each) for each in heard.heard]
    assert len(by_wire) == 11


def test_the_queues_send_what_they_send_through_botocore() -> None:
    with (heard := Service(body=b'{"Successful": [], "Failed": []}')).running() as endpoint:
        _mail(SqsQueues(wire_client(endpoint, SQS), _urls(endpoint)))  # type: ignore[arg-type]  # no part of what the stubs describe
        by_wire = list(heard.heard)
        heard.heard.clear()
        session = boto3.Session("AKID", "secret", region_name="eu-west-1")
        _mail(SqsQueues(session.client("sqs", endpoint_url=endpoint), _urls(endpoint)))
    assert [_request(each) for each in by_wire] == [_request(each) for each in heard.heard]
    assert len(by_wire) == 4


ON_LAMBDA = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}


@pytest.mark.parametrize(
    ("region", "environ", "by_wire"),
    [
        ("eu-west-1", ON_LAMBDA, True),
        ("eu-west-1", {}, False),
        ("eu-west-1", {**ON_LAMBDA, "AWS_SESSION_TOKEN": ""}, False),
        ("eu-west-1", {**ON_LAMBDA, "AWS_USE_FIPS_ENDPOINT": "true"}, False),
        ("us-iso-east-1", ON_LAMBDA, False),
    ],
)
def test_boto3_is_what_is_left_for_special_cases(region, environ, by_wire) -> None:
    made = clients(region, environ).dynamodb(Patience())
    assert isinstance(made, WireClient) is by_wire


@pytest.mark.parametrize(
    ("region", "more", "endpoint"),
    [
        ("eu-west-1", {}, "https://dynamodb.eu-west-1.amazonaws.com"),
        ("cn-north-1", {}, "https://dynamodb.cn-north-1.amazonaws.com.cn"),
        ("eu-west-1", {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}, "http://127.0.0.1:4566"),
        (
            "eu-west-1",
            {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8000", "AWS_ENDPOINT_URL": "x"},
            "http://127.0.0.1:8000",
        ),
    ],
)
def test_endpoints_are_where_botocore_finds_them(region, more, endpoint) -> None:
    made = clients(region, ON_LAMBDA | more)
    made.dynamodb(Patience())
    assert list(made._pools) == [endpoint]
    if not more:
        boto = boto3.client("dynamodb", region_name=region, config=client_config(Patience()))
        assert boto.meta.endpoint_url == endpoint


def test_one_endpoint_shares_its_connections() -> None:
    made = clients("eu-west-1", ON_LAMBDA)
    made.dynamodb(Patience())
    made.dynamodb(Patience(read_seconds=0.2))
    assert len(made._pools) == 1


def test_the_authorities_are_read_once_whatever_the_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reading takes longer than a call: a cold function opens ten connections for its first batch."""
    authority, read = Authority(tmp_path), []
    load = ssl.SSLContext.load_default_certs

    def counted(context: ssl.SSLContext) -> None:
        read.append(context)
        load(context)

    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", counted)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file()))
    service = Service(headers={"Connection": "close"}, certificate=authority.issue("127.0.0.1"))
    with service.running() as endpoint:
        made = clients("eu-west-1", {**ON_LAMBDA, "AWS_ENDPOINT_URL": endpoint})
        for _ in range(3):
            made.dynamodb(Patience()).get_item(TableName="t", Key={})
            made.kms().decrypt(CiphertextBlob=b"x")
    assert len(service.heard) == 6
    assert len(read) == 1
    assert (read[0].verify_mode, read[0].check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("secure", [False, True])
def test_a_connection_that_rested_for_more_than_a_minute_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, secure: bool
) -> None:
    """While a function is frozen its connections are dropped without a word; a write on one of them would be in doubt."""
    authority, clock = Authority(tmp_path), SettableClock("2026-03-02T10:00:00.000Z")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file()))
    service = Service(certificate=authority.issue("127.0.0.1") if secure else None)
    with service.running() as endpoint:
        environ = {**ON_LAMBDA, "AWS_ENDPOINT_URL": endpoint}
        made = Clients(region="eu-west-1", clock=clock, entropy=CountingEntropy(), environ=environ)
        for rest in (0, 59, 61, 1):
            clock.set(clock.now() + timedelta(seconds=rest))
            made.dynamodb(Patience()).put_item(TableName="t", Item={})
    first, second, third, fourth = service.callers
    assert first == second != third == fourth


def test_a_service_that_nobody_vouches_for_is_not_spoken_to(tmp_path: Path) -> None:
    service = Service(certificate=Authority(tmp_path).issue("127.0.0.1"))
    with service.running() as endpoint:
        made = clients("eu-west-1", {**ON_LAMBDA, "AWS_ENDPOINT_URL": endpoint})
        with pytest.raises(BotoCoreError, match="CERTIFICATE_VERIFY_FAILED"):
            made.dynamodb(Patience()).get_item(TableName="t", Key={})
    assert service.heard == []


def test_queue_and_key_calls_are_repeated_while_they_may_pass() -> None:
    clock = SettableClock("2026-03-02T10:00:00.000Z")
    environ = {**ON_LAMBDA, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    made = Clients(region="eu-west-1", clock=clock, entropy=CountingEntropy(), environ=environ)
    with pytest.raises(EndpointConnectionError):
        made.sqs(Patience()).send_message_batch(QueueUrl="q", Entries=[])
    assert len(clock.slept) == 2
    with (service := Service(400, b'{"__type": "AccessDeniedException"}')).running() as endpoint:
        refusing = Clients(
            region="eu-west-1",
            clock=clock,
            entropy=CountingEntropy(),
            environ={**ON_LAMBDA, "AWS_ENDPOINT_URL": endpoint},
        )
        with pytest.raises(ClientError):
            refusing.kms().decrypt(CiphertextBlob=b"x")
    assert len(service.heard) == 1


def clients(region: str, environ: Mapping[str, str]) -> Clients:
    clock = SettableClock("2026-03-02T10:00:00.000Z")
    return Clients(region=region, clock=clock, entropy=CountingEntropy(), environ=environ)


def _store(over: Any) -> DynamoDbStore:
    clock = SettableClock("2026-03-02T10:00:00.000Z")
    return DynamoDbStore(over, table_names("t-"), clock=clock, entropy=CountingEntropy())


def _everything() -> bytes:
    """An answer that every operation can read."""
    return json.dumps({"Responses": {}, "Items": [], "UnprocessedItems": {}}).encode()


def _work(store: DynamoDbStore) -> None:
    key, other = (Key(Table.JOBS, "p", sk) for sk in "ab")
    store.get(key)
    store.batch_get([key, other, Key(Table.CONTROL, "q", "c")])
    list(store.pages(Query(table=Table.TIMERS, pk="p", first="a", last="b", limit=3)))
    list(store.scan(Share(table=Table.JOBS, number=1, of=3)))
    store.write(
        Put(key=key, item={"s": "é", "n": 7, "b": BLOB, "l": [None, True, {"m": "x"}]}, condition=Absent())
    )
    store.write(Put(key=key, item={}))
    store.write(Update(key=key, set={"a": 1}, remove=("b",), add={"c": 2}, condition=equals("d", "e")))
    store.write(Delete(key=key))
    store.transact([Put(key=key, item={"b": b""}), Check(key=other, condition=Absent())])
    store.transact([Delete(key=key)], token="same")
    store.batch_delete([key, other])


def _mail(queues: SqsQueues) -> None:
    queues.send(
        [
            Outgoing(queue=QueueName.BULK, body="é", delay=3, group="team"),
            Outgoing(queue=QueueName.BULK, body="x"),
        ]
    )
    held = Received(queue=QueueName.BULK, body="x", receipt="r", receive_count=1)
    queues.set_visibility(held, 7)
    queues.receive(QueueName.BULK, 10, NOW.resolution)
    queues.delete([held])


def _urls(endpoint: str) -> dict[QueueName, str]:
    return {name: f"{endpoint}/1/{name}" for name in QueueName}


def _request(heard: tuple[dict[str, str], bytes]) -> tuple[str, Any]:
    headers, body = heard
    return headers["x-amz-target"], json.loads(body)
