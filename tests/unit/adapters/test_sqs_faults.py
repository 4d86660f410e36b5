"""What SQS may answer, or not answer, and what the queues make of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from fencepost.adapters.sqs import SqsQueues, batches
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError, Received
from tests.support.scripted import Failure, Script

URLS = {name: f"https://queues.example/{name}" for name in QueueName}
HELD = Received(queue=QueueName.BULK, body="x", receipt="r", receive_count=1, message_id="m")


def outgoing(number: int, queue: QueueName = QueueName.BULK, **options) -> Outgoing:
    return Outgoing(queue=queue, body=f"{number}", **options)


def accepted(*places: int) -> dict:
    return {"Successful": [{"Id": f"{place}", "MessageId": "m", "MD5OfMessageBody": "d"} for place in places]}


def refused(*places: int) -> dict:
    return {"Failed": [{"Id": f"{place}", "SenderFault": False, "Code": "InternalError"} for place in places]}


def lost() -> Exception:
    return ReadTimeoutError(endpoint_url="https://sqs")


def test_of_a_batch_only_the_accepted_messages_count() -> None:
    script = Script(accepted(0, 2) | refused(1, 3))
    sent = SqsQueues(script.sqs(), URLS).send([outgoing(number) for number in range(4)])
    assert list(sent) == [True, False, True, False]


def test_messages_go_by_tens_within_their_queue() -> None:
    script = Script(
        accepted(*range(0, 20, 2)), accepted(*range(20, 24, 2)), accepted(*range(1, 24, 2)[:10]), {}
    )
    messages = [outgoing(n, QueueName.SCAN if n % 2 else QueueName.BULK) for n in range(24)]
    SqsQueues(script.sqs(), URLS).send(messages)
    sizes = sorted(
        (request.body["QueueUrl"].rpartition("/")[2], len(request.body["Entries"]))
        for request in script.requests
    )
    assert sizes == [("bulk", 2), ("bulk", 10), ("scan", 2), ("scan", 10)]
    assert script.finished()


@pytest.mark.parametrize("fault", [Failure("RequestThrottled"), Failure("InternalError", status=500), lost()])
def test_a_batch_without_a_proper_answer_counts_as_not_accepted_and_the_rest_goes_on(fault) -> None:
    script = Script(fault, accepted(10, 11))
    sent = SqsQueues(script.sqs(), URLS).send([outgoing(number) for number in range(12)])
    assert list(sent) == [False] * 10 + [True] * 2


@pytest.mark.parametrize("code", ["AccessDenied", "AWS.SimpleQueueService.NonExistentQueue"])
def test_what_no_repeat_can_mend_is_said_aloud(code: str) -> None:
    queues = SqsQueues(Script(*[Failure(code)] * 4).sqs(), URLS)
    for ask in (
        lambda: queues.send([outgoing(1)]),
        lambda: queues.receive(QueueName.BULK, 10, timedelta(0)),
        lambda: queues.delete([HELD]),
        lambda: queues.set_visibility(HELD, 5),
    ):
        with pytest.raises(QueueUnavailableError):
            ask()


@pytest.mark.parametrize("code", ["MessageNotInflight", "ReceiptHandleIsInvalid", "InvalidParameterValue"])
def test_holding_what_is_no_longer_in_hand_is_nothing(code: str) -> None:
    script = Script(Failure(code))
    SqsQueues(script.sqs(), URLS).set_visibility(HELD, 5)
    assert script.finished()


def test_the_team_is_the_message_group_and_no_delay_is_not_sent() -> None:
    script = Script(accepted(0, 1))
    SqsQueues(script.sqs(), URLS).send([outgoing(0, delay=900, group="payments"), outgoing(1)])
    assert script.requests[0].body["Entries"] == [
        {"Id": "0", "MessageBody": "0", "DelaySeconds": 900, "MessageGroupId": "payments"},
        {"Id": "1", "MessageBody": "1"},
    ]


def test_a_receive_asks_for_the_receive_count_and_waits_whole_seconds() -> None:
    message = {
        "MessageId": "m-1",
        "ReceiptHandle": "r-1",
        "Body": "hello",
        "Attributes": {"ApproximateReceiveCount": "3"},
    }
    script = Script({"Messages": [message]}, {}, {})
    queues = SqsQueues(script.sqs(), URLS)
    assert queues.receive(QueueName.SCAN, 25, timedelta(seconds=0.4)) == [
        Received(queue=QueueName.SCAN, body="hello", receipt="r-1", receive_count=3, message_id="m-1")
    ]
    assert list(queues.receive(QueueName.SCAN, 1, timedelta(minutes=1))) == []
    asked = [(r.body["MaxNumberOfMessages"], r.body["WaitTimeSeconds"]) for r in script.requests]
    assert asked == [(10, 1), (1, 20)]
    assert script.requests[0].body["MessageSystemAttributeNames"] == ["ApproximateReceiveCount"]


def test_deletions_go_by_tens() -> None:
    script = Script({}, {}, {})
    held = [Received(queue=QueueName.BULK, body="", receipt=f"{n}", receive_count=1) for n in range(25)]
    SqsQueues(script.sqs(), URLS).delete(held)
    assert [len(request.body["Entries"]) for request in script.requests] == [10, 10, 5]


def test_a_batch_stays_within_one_mib() -> None:
    kib = 1024
    sizes = [600 * kib, 400 * kib, 100 * kib, 1024 * kib, 1, 1024 * kib - 1, 2]
    messages = [Outgoing(queue=QueueName.BULK, body="x" * size) for size in sizes]
    made = list(batches(messages))
    assert [[place for place, _ in batch] for batch in made] == [[0, 1], [2], [3], [4, 5], [6]]
