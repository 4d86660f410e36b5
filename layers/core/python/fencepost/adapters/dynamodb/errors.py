"""What botocore raises, in the words of the port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError

from fencepost.adapters.aws import NEVER_SENT, aws_errors, code_of, no_answer, throttled
from fencepost.adapters.dynamodb.codec import decode_item
from fencepost.application.store import (
    Cancelled,
    Cause,
    InvalidWriteError,
    Item,
    Lost,
    OutcomeUnknownError,
    Reason,
    StoreBusyError,
    StoreError,
)

CONDITION_FAILED = "ConditionalCheckFailedException"
CANCELLED = "TransactionCanceledException"
_CONFLICT = "TransactionConflictException"
_IN_PROGRESS = "TransactionInProgressException"
_INVALID = frozenset(
    {
        "ValidationException",
        "IdempotentParameterMismatchException",
        "ItemCollectionSizeLimitExceededException",
    }
)
_CAUSES = {
    "None": Cause.NONE,
    "ConditionalCheckFailed": Cause.CONDITION,
    "TransactionConflict": Cause.CONFLICT,
    "ProvisionedThroughputExceeded": Cause.THROTTLED,
    "ThrottlingError": Cause.THROTTLED,
    "ValidationError": Cause.INVALID,
    "ItemCollectionSizeLimitExceeded": Cause.INVALID,
}


def untouched(error: Exception) -> bool:
    """Nothing was read or written, and it may be tried again: throttled, in conflict, or never sent."""
    return throttled(error) or _is(error, _CONFLICT) or isinstance(error, NEVER_SENT)


def unsettled(error: Exception) -> bool:
    """No answer, or one that leaves open what was done: a read or a transaction with a token may be repeated."""
    return no_answer(error) or _is(error, _IN_PROGRESS)


def repeatable(error: Exception) -> bool:
    """Safe to repeat for whatever has no effect, or at most one by its token."""
    return untouched(error) or unsettled(error)


def _is(error: Exception, code: str) -> bool:
    return isinstance(error, ClientError) and code_of(error) == code


@contextmanager
def translated(*, reading: bool) -> Iterator[None]:
    """Raises StoreError and nothing else for what botocore raised; a read never has an unknown outcome."""
    try:
        yield
    except aws_errors() as error:
        if untouched(error) or (reading and unsettled(error)):
            raise StoreBusyError(str(error)) from error
        if unsettled(error):
            raise OutcomeUnknownError(str(error)) from error
        if isinstance(error, ParamValidationError):
            raise InvalidWriteError(str(error)) from error
        if isinstance(error, ClientError) and code_of(error) in _INVALID:
            raise InvalidWriteError(str(error)) from error
        raise StoreError(str(error)) from error


def old_item(wire: Mapping[str, Any] | None) -> Item | None:
    """What stood in the way of a condition; None where nothing was there."""
    return decode_item(wire) if wire else None


def lost(error: ClientError) -> Lost:
    """Against what a conditional write lost."""
    response: Mapping[str, Any] = error.response
    return Lost(old_item(response.get("Item")))


def cancelled(error: ClientError) -> Cancelled:
    """The reasons in the order of the request; a code we do not know is never taken for success."""
    response: Mapping[str, Any] = error.response
    return Cancelled(
        tuple(
            Reason(_CAUSES.get(each.get("Code", "None"), Cause.INVALID), old_item(each.get("Item")))
            for each in response["CancellationReasons"]
        )
    )
