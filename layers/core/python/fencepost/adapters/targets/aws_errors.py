"""What an AWS error means for a firing.

throttled, busy, 5xx, no connection   Failed: again by the retry policy
denied, not found                     Failed, and the message says what to grant or create: it may be healed
invalid request                       Refused: the same bytes will never be accepted
no answer in time                     TimedOut: unknown
"""

from __future__ import annotations

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ParamValidationError,
    ReadTimeoutError,
)

from fencepost.adapters.aws import NEVER_SENT, THROTTLES, code_of
from fencepost.domain.outcome import Failed, Outcome, Refused, TimedOut, clip

REFUSALS = frozenset(
    {
        "InvalidArgument",
        "InvalidArn",
        "InvalidExecutionInput",
        "InvalidMessageContents",
        "InvalidName",
        "InvalidParameter",
        "InvalidParameterValue",
        "InvalidParameterValueException",
        "InvalidRequestContentException",
        "MalformedDetail",
        "RequestTooLargeException",
        "SerializationException",
        "UnsupportedMediaTypeException",
        "UnsupportedOperation",
        "ValidationError",
        "ValidationException",
    }
)
_PREFIX = "AWS.SimpleQueueService."


def aws_failure(error: ClientError | BotoCoreError) -> Outcome:
    """The outcome of a call that raised."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return aws_refusal(code_of(error), error.response.get("Error", {}).get("Message", ""), status)
    if isinstance(error, ReadTimeoutError):
        return TimedOut(error="AWS did not answer in time")
    if isinstance(error, NEVER_SENT):
        return Failed(error="AWS could not be reached")
    if isinstance(error, ParamValidationError):
        return Refused(error=clip(str(error)))
    return Failed(error=clip(f"the call to AWS broke: {error}"))


def aws_refusal(code: str, message: str, status: int | None) -> Outcome:
    """The outcome of an answer that names an error code."""
    short = code.removeprefix(_PREFIX)
    if short in THROTTLES:
        return Failed(status=status, error=clip(f"throttled: {short}"))
    told = clip(f"{short}: {message}" if message else short or "AWS refused the call without a reason")
    return Refused(status=status, error=told) if short in REFUSALS else Failed(status=status, error=told)
