"""Reads the events that AWS sends to functions, and writes the answers that it expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost.application.ports import QueueName, Received

Event = Mapping[str, Any]


class EventError(ValueError):
    """The event is none that this function was wired for: a fault of the deployment, not of a message."""


def received(event: Event, queues: Mapping[QueueName, str]) -> tuple[Received, ...]:
    """The messages of an SQS event. `queues` are the stage's URLs; each record names its queue by ARN.

    Raises EventError for anything else, and for a queue that is not the stage's.
    """
    names = {url.rstrip("/").rpartition("/")[2]: queue for queue, url in queues.items()}
    try:
        return tuple(_received(record, names) for record in event["Records"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EventError(f"no SQS event of this stage: {type(error).__name__}: {error}") from error


def _received(record: Mapping[str, Any], names: Mapping[str, QueueName]) -> Received:
    return Received(
        queue=names[record["eventSourceARN"].rpartition(":")[2]],
        body=record["body"],
        receipt=record["receiptHandle"],
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
        message_id=record["messageId"],
    )


def failures(messages: Iterable[Received]) -> dict[str, list[dict[str, str]]]:
    """The answer that keeps `messages` in the queue and acknowledges the rest of the batch."""
    return {"batchItemFailures": [{"itemIdentifier": message.message_id} for message in messages]}
