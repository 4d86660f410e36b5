"""The guards around every test: no network but loopback, no account but the invented one."""

from __future__ import annotations

import os
import socket

import boto3
import pytest
import pytest_socket


def test_no_test_reaches_the_network():
    with pytest.raises(pytest_socket.SocketConnectBlockedError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_no_test_has_an_account():
    credentials = boto3.Session().get_credentials()
    assert credentials is not None
    assert credentials.access_key == "testing"
    assert os.environ["AWS_DEFAULT_REGION"] == "us-east-1"


@pytest.mark.engine
def test_the_engine_keeps_what_it_is_given(engine):
    store, name = engine.dynamodb(), engine.prefix() + "things"
    store.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    store.put_item(TableName=name, Item={"id": {"S": "a"}})
    assert store.get_item(TableName=name, Key={"id": {"S": "a"}})["Item"] == {"id": {"S": "a"}}

    queues = engine.sqs()
    url = queues.create_queue(QueueName=engine.prefix() + "line")["QueueUrl"]
    queues.send_message(QueueUrl=url, MessageBody="hello")
    received = queues.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"]
    assert [message["Body"] for message in received] == ["hello"]


@pytest.mark.engine
def test_two_tests_never_share_a_name(engine):
    assert engine.prefix() != engine.prefix()
