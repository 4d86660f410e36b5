"""Clients of a local AWS engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3

from fencepost.adapters.aws import Patience, client_config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

ATTEMPTS = 3
_ANYBODY = "local"


@dataclass(frozen=True, slots=True)
class EngineClients:
    """The two services that a stage's truth lies in. The engine takes any caller's word."""

    dynamodb: DynamoDBClient
    sqs: SQSClient

    @classmethod
    def at(cls, endpoint: str, region: str) -> EngineClients:
        """For the engine that listens at `endpoint`."""
        session = boto3.Session(
            aws_access_key_id=_ANYBODY, aws_secret_access_key=_ANYBODY, region_name=region
        )
        patience = Patience(read_seconds=10.0)  # one process answers everybody, and a long poll lasts
        once, often = client_config(patience), client_config(patience, sdk_attempts=ATTEMPTS)
        return cls(
            dynamodb=session.client("dynamodb", endpoint_url=endpoint, config=once),
            sqs=session.client("sqs", endpoint_url=endpoint, config=often),
        )
