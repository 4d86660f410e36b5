"""The stage's own AWS clients, each with the patience that its use allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.targets.credentials import AwsClient

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_sqs import SQSClient

ATTEMPTS = 3  # of calls that may be repeated: a message sent twice, for one, is nothing new to a reader


def dynamodb_client(region: str, patience: Patience) -> DynamoDBClient:
    """Asks once: the store repeats what is safe to repeat."""
    return boto3.client("dynamodb", region_name=region, config=client_config(patience))


def sqs_client(region: str, patience: Patience) -> SQSClient:
    """Repeats by itself."""
    config = client_config(patience, sdk_attempts=ATTEMPTS)
    return boto3.client("sqs", region_name=region, config=config)


def kms_client(region: str) -> KMSClient:
    """Repeats by itself."""
    return boto3.client("kms", region_name=region, config=client_config(Patience(), sdk_attempts=ATTEMPTS))


def sts_client(region: str) -> AwsClient:
    """Repeats by itself; the regional endpoint, so that no other region's trouble is ours."""
    return boto3.client("sts", region_name=region, config=client_config(Patience(), sdk_attempts=ATTEMPTS))
