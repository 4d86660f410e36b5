"""The stage's own AWS clients, each with the patience that its use allows.

Where a function finds its credentials in its environment, as on Lambda, clients are those of `adapters.wire`. Anywhere
else, and where an endpoint of a special kind is asked for, they are boto3's. Callers see no difference.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

import urllib3
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.util.ssl_ import create_urllib3_context

from fencepost.adapters.aws import NEVER_SENT, Patience, Retrier, client_config, no_answer, throttled
from fencepost.adapters.targets.credentials import AwsClient
from fencepost.adapters.wire.pool import warm_pool
from fencepost.adapters.wire.service import DYNAMODB, KMS, SQS, Dialect, WireClient
from fencepost.adapters.wire.signature import Credentials, Signer
from fencepost.application.ports import Clock, Entropy

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_sqs import SQSClient

ATTEMPTS = 3  # of calls that may be repeated: a message sent twice, for one, is nothing new to a reader
CONNECTIONS = 32
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_SPECIAL = (
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_PROFILE",
    "HTTPS_PROXY",
    "https_proxy",
)
_SUFFIXES = {"cn": "amazonaws.com.cn"}


@dataclass(frozen=True, kw_only=True)
class Clients:
    """One per process: what has one endpoint shares its connections."""

    region: str
    clock: Clock
    entropy: Entropy
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _pools: dict[str, HTTPConnectionPool] = field(default_factory=dict)

    def dynamodb(self, patience: Patience) -> DynamoDBClient:
        """Asks once: the store repeats what is safe to repeat."""
        if self._by_wire:
            return cast("DynamoDBClient", self._wire(DYNAMODB, patience))
        return cast("DynamoDBClient", self._boto("dynamodb", patience))

    def sqs(self, patience: Patience) -> SQSClient:
        """Repeats by itself."""
        if self._by_wire:
            return cast("SQSClient", self._repeating(self._wire(SQS, patience)))
        return cast("SQSClient", self._boto("sqs", patience, ATTEMPTS))

    def kms(self) -> KMSClient:
        """Repeats by itself."""
        if self._by_wire:
            return cast("KMSClient", self._repeating(self._wire(KMS, Patience())))
        return cast("KMSClient", self._boto("kms", Patience(), ATTEMPTS))

    def sts(self) -> AwsClient:
        """Repeats by itself; the regional endpoint, so that no other region's trouble is ours."""
        return self._boto("sts", Patience(), ATTEMPTS)

    @property
    def _by_wire(self) -> bool:
        known = all(self.environ.get(name) for name in _KEYS) and "-iso" not in self.region
        return known and not any(self.environ.get(name) for name in _SPECIAL)

    def _wire(self, dialect: Dialect, patience: Patience) -> WireClient:
        key, secret, token = (self.environ[name] for name in _KEYS)
        credentials = Credentials(access_key=key, secret_key=secret, token=token)
        timeout = urllib3.Timeout(connect=patience.connect_seconds, read=patience.read_seconds)
        return WireClient(
            dialect,
            self._pool(self._endpoint(dialect.name)),
            signer=Signer(credentials, dialect.name, self.region),
            now=self.clock.now,
            timeout=timeout,
        )

    def _endpoint(self, service: str) -> str:
        """Where botocore would find it."""
        suffix = _SUFFIXES.get(self.region.partition("-")[0], "amazonaws.com")
        special = self.environ.get(f"AWS_ENDPOINT_URL_{service.upper()}")
        return special or self.environ.get("AWS_ENDPOINT_URL") or f"https://{service}.{self.region}.{suffix}"

    def _pool(self, endpoint: str) -> HTTPConnectionPool:
        if endpoint not in self._pools:
            self._pools[endpoint] = warm_pool(
                endpoint, self.clock.now, size=CONNECTIONS, trust=lambda: self._trust
            )
        return self._pools[endpoint]

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The system's authorities, read once. Left to itself each new connection would read them anew: 30 ms of CPU, and
        a function of 512 MB has a third of a core for ten connections at its first batch.
        """
        context = create_urllib3_context()
        context.load_default_certs()
        return context

    def _repeating(self, client: WireClient) -> Repeating:
        return Repeating(client, Retrier(clock=self.clock, entropy=self.entropy, attempts=ATTEMPTS))

    def _boto(self, service: str, patience: Patience, attempts: int = 1) -> Any:  # noqa: ANN401 - of any service
        import boto3  # noqa: PLC0415 - most functions do without

        config = client_config(patience, sdk_attempts=attempts)
        return boto3.client(cast("Any", service), region_name=self.region, config=config)


class Repeating:
    """A client whose calls may all be repeated, and are while what goes wrong may pass."""

    def __init__(self, client: WireClient, retrier: Retrier) -> None:
        self._client = client
        self._retrier = retrier

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(**parameters: object) -> Any:  # noqa: ANN401 - whatever the operation answers
            return self._retrier.call(partial(method, **parameters), _passing)

        self.__dict__[name] = call
        return call


def _passing(error: Exception) -> bool:
    return throttled(error) or no_answer(error) or isinstance(error, NEVER_SENT)
