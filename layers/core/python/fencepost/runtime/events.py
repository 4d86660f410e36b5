"""Reads the events that AWS sends to functions, and writes the answers that it expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost.application.ports import QueueName, Received

Event = Mapping[str, Any]


class EventError(ValueError):
    """The event is none that this function was wired for: a fault of the deployment, not of a message."""


def received(event: Event, queues: Mapping[QueueName, str]) -> tuple[Received, ...]:
    """The messages of an SQS event that can be read. `queues` are the stage's URLs; each record names its queue by ARN.

    Raises EventError where none can: for anything else, and for a queue that is not the stage's.
    """
    names = {url.rstrip("/").rpartition("/")[2]: queue for queue, url in queues.items()}
    found, why = list[Received](), "it has no records"
    for record in _records(event):
        try:
            found.append(_received(record, names))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
    if not found:
        raise EventError(f"no SQS event of this stage: {why}")
    return tuple(found)


def unread(event: Event, read: Iterable[Received]) -> list[str]:
    """The ids of the messages of an SQS event that are not among those that were `read`."""
    known = {message.message_id for message in read}
    ids = [record.get("messageId") for record in _records(event) if isinstance(record, Mapping)]
    return [each for each in ids if isinstance(each, str) and each not in known]


def _records(event: Event) -> Iterable[Any]:
    records = event.get("Records")
    return records if isinstance(records, list) else ()


def _received(record: Mapping[str, Any], names: Mapping[str, QueueName]) -> Received:
    return Received(
        queue=names[record["eventSourceARN"].rpartition(":")[2]],
        body=_text(record["body"]),
        receipt=_text(record["receiptHandle"]),
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
        message_id=_text(record["messageId"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def failures(messages: Iterable[Received], more: Iterable[str] = ()) -> dict[str, list[dict[str, str]]]:
    """The answer that keeps `messages`, and those of the ids in `more`, in the queue and acknowledges the rest."""
    ids = [*(message.message_id for message in messages), *more]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in ids]}
