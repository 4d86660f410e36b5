"""How our AWS clients wait and retry."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ProxyConnectionError,
)

from fencepost.application.ports import Clock, Entropy

if TYPE_CHECKING:
    from botocore.config import Config

T = TypeVar("T")

LONGEST_REST = timedelta(seconds=60)
"""For how long a connection may lie idle and be used again: AWS drops them after a while, unheard by a frozen process."""

NEVER_SENT = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)
"""No connection came about, so the service saw nothing."""

_REFUSED_HERE = (CredentialRetrievalError, NoCredentialsError, ParamValidationError, PartialCredentialsError)

THROTTLES = frozenset(
    {
        "OverLimit",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a caller waits for an answer, and how often it asks in all."""

    connect_seconds: float = 1.0
    read_seconds: float = 2.5
    attempts: int = 3


def aws_errors() -> tuple[type[Exception], ...]:
    """Everything that a call of a client may raise. That botocore's parser could not read an answer is among it only
    where that parser is in use: it is much to import for a function that does without.
    """
    parsers = sys.modules.get("botocore.parsers")
    broken = () if parsers is None else (parsers.ResponseParserError,)
    return (BotoCoreError, ClientError, *broken)


def client_config(
    patience: Patience, *, sdk_attempts: int = 1, validate: bool = False, connections: int = 32
) -> Config:
    """A client's settings. Validation costs two fifths of a request's CPU: on in tests, off in production."""
    from botocore.config import Config  # noqa: PLC0415 - not every function has a client of boto3

    return Config(
        connect_timeout=patience.connect_seconds,
        read_timeout=patience.read_seconds,
        retries={"mode": "standard", "total_max_attempts": sdk_attempts},
        parameter_validation=validate,
        max_pool_connections=connections,
    )


def code_of(error: ClientError) -> str:
    """The service's name for the error."""
    return error.response.get("Error", {}).get("Code", "")


def server_fault(error: ClientError) -> bool:
    """The service broke while it had the request: what it did with it is unknown."""
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500


def no_answer(error: Exception) -> bool:
    """The request went out, and what came of it is unknown."""
    if isinstance(error, ClientError):
        return server_fault(error)
    return isinstance(error, aws_errors()) and not isinstance(error, NEVER_SENT + _REFUSED_HERE)


def throttled(error: Exception) -> bool:
    """The service refused for its load: nothing was done."""
    return isinstance(error, ClientError) and code_of(error) in THROTTLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrier:
    """Repeats a call with full jitter, on the clock and the dice that it is given."""

    clock: Clock
    entropy: Entropy
    attempts: int
    step: timedelta = timedelta(milliseconds=50)

    def pause(self, round_: int) -> None:
        """Waits between nothing and `step` times two to the power of `round_`."""
        self.clock.sleep(self.step * 2**round_ * self.entropy.fraction())

    def call(self, request: Callable[[], T], transient: Callable[[Exception], bool]) -> T:
        """The answer; the last error where it is not transient or the attempts are spent."""
        for round_ in range(self.attempts - 1):
            try:
                return request()
            except Exception as error:
                if not transient(error):
                    raise
            self.pause(round_)
        return request()
