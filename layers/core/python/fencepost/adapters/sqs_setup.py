"""Makes a stage's queues, for the engines on one machine; on AWS the infrastructure does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.adapters.queue_settings import QueueSettings
from fencepost.application.ports import QueueName

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType


def create_queues(
    client: SQSClient, prefix: str, settings: Mapping[QueueName, QueueSettings]
) -> Mapping[QueueName, str]:
    """Makes those queues under `prefix` that do not exist yet, dead-letter queues first; returns all their URLs."""
    urls: dict[QueueName, str] = {}
    for name in sorted(QueueName, key=lambda each: settings[each].dead is not None):
        attributes = _attributes(client, settings[name], urls)
        urls[name] = client.create_queue(QueueName=f"{prefix}{name}", Attributes=attributes)["QueueUrl"]
    return urls


def _attributes(
    client: SQSClient, settings: QueueSettings, urls: Mapping[QueueName, str]
) -> dict[QueueAttributeNameType, str]:
    attributes: dict[QueueAttributeNameType, str] = {
        "VisibilityTimeout": str(int(settings.visibility.total_seconds()))
    }
    if settings.dead is not None:
        dead = client.get_queue_attributes(QueueUrl=urls[settings.dead], AttributeNames=["QueueArn"])
        attributes["RedrivePolicy"] = json.dumps(
            {
                "deadLetterTargetArn": dead["Attributes"]["QueueArn"],
                "maxReceiveCount": settings.max_receives,
            }
        )
    return attributes
