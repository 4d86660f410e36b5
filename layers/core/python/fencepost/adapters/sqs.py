"""The queues in SQS: standard queues, the team as message group so that they are fair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fencepost.adapters.aws import NEVER_SENT, aws_errors, code_of, no_answer, throttled
from fencepost.adapters.queue_settings import (
    BATCH_ENTRIES,
    MAX_MESSAGE_BYTES,
    acceptable,
    check_visibility,
)
from fencepost.application.ports import Outgoing, QueueName, QueueUnavailableError, Received

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

_LONGEST_POLL = 20
_NO_LONGER_HELD = frozenset(
    {
        "AWS.SimpleQueueService.MessageNotInflight",
        "InvalidParameterValue",  # the message is gone; that `seconds` is in range was seen to before
        "MessageNotInflight",
        "ReceiptHandleIsInvalid",
    }
)

Batch = list[tuple[int, Outgoing]]  # messages and their places in what was asked


class SqsQueues:
    """`Queues` and `QueueConsumer` over SQS. The client may retry: a message sent twice is nothing new to a reader."""

    def __init__(self, client: SQSClient, urls: Mapping[QueueName, str]) -> None:
        self._client = client
        self._urls = urls

    def send(self, messages: Sequence[Outgoing]) -> Sequence[bool]:
        """See `Queues.send`. A batch that was throttled or got no answer counts as not accepted.

        QueueUnavailableError is for what no repeat can mend: no such queue, no permission.
        """
        accepted = [False] * len(messages)
        for batch in batches(messages):
            for place in self._send_batch(batch):
                accepted[place] = True
        return accepted

    def set_visibility(self, message: Received, seconds: int) -> None:
        """See `Queues.set_visibility`; nothing happens when the message is no longer in this hand."""
        check_visibility(seconds)
        with _translated():
            try:
                self._client.change_message_visibility(
                    QueueUrl=self._urls[message.queue],
                    ReceiptHandle=message.receipt,
                    VisibilityTimeout=seconds,
                )
            except ClientError as error:
                if code_of(error) not in _NO_LONGER_HELD:
                    raise

    def receive(self, queue: QueueName, limit: int, wait: timedelta) -> Sequence[Received]:
        """See `QueueConsumer.receive`; waits whole seconds, 20 at most."""
        with _translated():
            answer = self._client.receive_message(
                QueueUrl=self._urls[queue],
                MaxNumberOfMessages=min(limit, BATCH_ENTRIES),
                WaitTimeSeconds=min(math.ceil(wait.total_seconds()), _LONGEST_POLL),
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        return [
            Received(
                queue=queue,
                body=each["Body"],
                receipt=each["ReceiptHandle"],
                receive_count=int(each["Attributes"]["ApproximateReceiveCount"]),
                message_id=each["MessageId"],
            )
            for each in answer.get("Messages", ())
        ]

    def delete(self, messages: Sequence[Received]) -> None:
        """See `QueueConsumer.delete`; what could not be deleted comes back, as it may at any time."""
        for queue in dict.fromkeys(message.queue for message in messages):
            receipts = [message.receipt for message in messages if message.queue is queue]
            for start in range(0, len(receipts), BATCH_ENTRIES):
                chunk = receipts[start : start + BATCH_ENTRIES]
                with _translated():
                    self._client.delete_message_batch(
                        QueueUrl=self._urls[queue],
                        Entries=[{"Id": str(n), "ReceiptHandle": each} for n, each in enumerate(chunk)],
                    )

    def _send_batch(self, batch: Batch) -> Sequence[int]:
        """The places of those messages that the queue accepted."""
        url = self._urls[batch[0][1].queue]
        with _translated():
            try:
                answer = self._client.send_message_batch(
                    QueueUrl=url, Entries=[_entry(place, message) for place, message in batch]
                )
            except aws_errors() as error:
                if not _transient(error):
                    raise
                return ()
        return [int(each["Id"]) for each in answer.get("Successful", ())]


def batches(messages: Sequence[Outgoing]) -> Iterator[Batch]:
    """What goes into one request each: one queue, ten messages, one MiB. Unacceptable messages are left out."""
    open_batches: dict[QueueName, tuple[Batch, int]] = {}
    for place, message in enumerate(messages):
        if not acceptable(message):
            continue
        size = len(message.body.encode())
        batch, filled = open_batches.get(message.queue, ([], 0))
        if batch and (len(batch) == BATCH_ENTRIES or filled + size > MAX_MESSAGE_BYTES):
            yield batch
            batch, filled = [], 0
        batch.append((place, message))
        open_batches[message.queue] = (batch, filled + size)
    for batch, _ in open_batches.values():
        yield batch


def _entry(place: int, message: Outgoing) -> SendMessageBatchRequestEntryTypeDef:
    entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(place), "MessageBody": message.body}
    if message.delay:
        entry["DelaySeconds"] = message.delay
    if message.group is not None:
        entry["MessageGroupId"] = message.group
    return entry


def _transient(error: Exception) -> bool:
    return throttled(error) or no_answer(error) or isinstance(error, NEVER_SENT)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except aws_errors() as error:
        raise QueueUnavailableError(str(error)) from error
